package schema

import (
	"bytes"

	"github.com/mcpkiln/mcpkiln/runtime/check/lazyregexp"
)

// conflict matches the line with which git begins a conflict.
var conflict = lazyregexp.New(`(?m)^<<<<<<<( |\r?$)`)

// HasConflict reports whether a merge left conflict markers in a text.
func HasConflict(data []byte) bool { return conflict().Match(data) }

// conflictIn reports the first merge conflict in a text that can not be read, in place of the syntax errors that follow from it.
func conflictIn(file string, data []byte) (ds Diagnostics) {
	line := 1 + int32(bytes.Count(data[:conflict().FindIndex(data)[0]], []byte("\n")))
	ds.ReportAt(Position{file, line, 1}, "", "syntax", "keep what is right of both sides, and remove the lines <<<<<<<, ======= and >>>>>>>",
		"a merge left a conflict here")
	return ds
}
