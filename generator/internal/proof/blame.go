package proof

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strconv"
)

var (
	placeOfError = regexp.MustCompile(`(?m)^\./(\w+\.gen\.go):(\d+):`)
	named        = regexp.MustCompile(`\b(?:decode|append|check)?[sS](\d+)T`)
)

// CompileError says that generated code does not compile.
type CompileError struct {
	Guilty []int // schemas that the compiler's errors are about, ascending; nil if that is not known
	Output []byte
	batch  *Batch
}

func (e *CompileError) Error() string {
	text := fmt.Appendf(nil, "generated code does not compile:\n%s", e.Output)
	for _, i := range e.Guilty {
		text = fmt.Appendf(text, "S%dT is of %s\n", i, e.batch.schemas[i].text())
	}
	return string(text)
}

// blame finds the schemas that the compiler's errors are about: every declaration has the number of its schema in it.
func (b *Batch) blame(files map[string][]byte, output []byte) *CompileError {
	e := &CompileError{Output: output, batch: b}
	for _, m := range placeOfError.FindAllSubmatch(output, -1) {
		line, err := strconv.Atoi(string(m[2]))
		if err != nil {
			continue
		}
		if i, ok := numberAbove(bytes.Split(files[string(m[1])], []byte("\n")), line); ok && i < len(b.schemas) {
			e.Guilty = append(e.Guilty, i)
		}
	}
	slices.Sort(e.Guilty)
	e.Guilty = slices.Compact(e.Guilty)
	return e
}

// numberAbove returns the number in the nearest name at or above the line (from 1).
func numberAbove(lines [][]byte, line int) (int, bool) {
	for i := min(line, len(lines)) - 1; i >= 0; i-- {
		if m := named.FindSubmatch(lines[i]); m != nil {
			n, err := strconv.Atoi(string(m[1]))
			return n, err == nil
		}
	}
	return 0, false
}

func (s Schema) text() []byte {
	if s.Node != nil {
		return s.Node.JSON()
	}
	return s.Document.Root.JSON()
}
