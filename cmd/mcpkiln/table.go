package main

import (
	"bytes"
	"io"
	"text/tabwriter"

	"github.com/mcpkiln/mcpkiln/runtime/check/lazyregexp"
)

// table prints rows, whose cells end with tabs, with their columns aligned.
type table struct {
	*tabwriter.Writer
	rows bytes.Buffer
	out  io.Writer
}

func newTable(out io.Writer) *table {
	t := &table{out: out}
	t.Writer = tabwriter.NewWriter(&t.rows, 0, 0, 2, ' ', 0)
	return t
}

// trailing matches spaces at the ends of lines, which tabwriter leaves before empty cells.
var trailing = lazyregexp.New(`(?m) +$`)

// Flush prints the table.
func (t *table) Flush() error {
	if err := t.Writer.Flush(); err != nil {
		return err
	}
	_, err := t.out.Write(trailing().ReplaceAll(t.rows.Bytes(), nil))
	return err
}
