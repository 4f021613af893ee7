package schema

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Position is a place in a source file. Line and Column count from 1, Column in bytes; zero means unknown.
type Position struct {
	File         string
	Line, Column int32 // from 1; 0 is not known
}

// String returns file:line:col, without the parts that are not known.
func (p Position) String() string {
	switch {
	case p.Line == 0:
		return p.File
	case p.Column == 0:
		return fmt.Sprintf("%s:%d", p.File, p.Line)
	default:
		return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column)
	}
}

func (p Position) compare(q Position) int {
	return cmp.Or(cmp.Compare(p.File, q.File), cmp.Compare(p.Line, q.Line), cmp.Compare(p.Column, q.Column))
}

// Upgrade is the command that fetches the newest mcpkiln for a project, where it is a tool of the module, as in the scaffold.
const Upgrade = "go get -tool github.com/mcpkiln/mcpkiln/cmd/mcpkiln@latest"

// Severity reports whether a Diagnostic stops generation.
type Severity uint8

// An Error stops generation, a Warning is only shown.
const (
	Error Severity = iota
	Warning
)

// String returns "error" or "warning".
func (s Severity) String() string {
	if s == Warning {
		return "warning"
	}
	return "error"
}

// Diagnostic is one finding about a source file. Code is stable and in kebab case; Hint says what to do about it.
type Diagnostic struct {
	Pos      Position
	Pointer  string
	Code     string
	Severity Severity
	Message  string
	Hint     string
}

// String returns file:line:col: severity[code]: message, and the hint after it.
func (d Diagnostic) String() string {
	var b strings.Builder
	if d.Pos.File != "" || d.Pos.Line > 0 {
		fmt.Fprintf(&b, "%s: ", d.Pos)
	}
	fmt.Fprintf(&b, "%s[%s]: %s", d.Severity, d.Code, d.Message)
	if d.Hint != "" {
		fmt.Fprintf(&b, "; %s", d.Hint)
	}
	return b.String()
}

// Error makes a single Diagnostic usable as an error.
func (d Diagnostic) Error() string { return d.String() }

// Diagnostics are all findings of one run.
type Diagnostics []Diagnostic

// Report adds an error at n with a formatted message and a hint, which may be empty. It adds none if n is Unread: that has been reported.
func (ds *Diagnostics) Report(n *Node, code, hint, format string, args ...any) {
	if n.Unread {
		return
	}
	ds.report(Error, n.Pos, n.Pointer, code, hint, fmt.Sprintf(format, args...))
}

// ReportAt is Report for a place that is not a value, such as a key.
func (ds *Diagnostics) ReportAt(pos Position, pointer, code, hint, format string, args ...any) {
	ds.report(Error, pos, pointer, code, hint, fmt.Sprintf(format, args...))
}

// Warn adds a warning at n.
func (ds *Diagnostics) Warn(n *Node, code, hint, format string, args ...any) {
	if n.Unread {
		return
	}
	ds.report(Warning, n.Pos, n.Pointer, code, hint, fmt.Sprintf(format, args...))
}

func (ds *Diagnostics) report(s Severity, pos Position, pointer, code, hint, message string) {
	*ds = append(*ds, Diagnostic{Pos: pos, Pointer: pointer, Code: code, Severity: s, Message: message, Hint: hint})
}

// Sort orders by position, then code and message, and drops duplicates.
func (ds *Diagnostics) Sort() {
	slices.SortStableFunc(*ds, func(a, b Diagnostic) int {
		return cmp.Or(a.Pos.compare(b.Pos), cmp.Compare(a.Severity, b.Severity), cmp.Compare(a.Code, b.Code),
			cmp.Compare(a.Message, b.Message), cmp.Compare(a.Pointer, b.Pointer))
	})
	*ds = slices.CompactFunc(*ds, func(a, b Diagnostic) bool {
		return a.Pos == b.Pos && a.Code == b.Code && a.Message == b.Message
	})
}

// HasErrors reports whether one of ds is an Error.
func (ds Diagnostics) HasErrors() bool {
	return slices.ContainsFunc(ds, func(d Diagnostic) bool { return d.Severity == Error })
}

// Error returns all findings, one to a line.
func (ds Diagnostics) Error() string {
	lines := make([]string, len(ds))
	for i, d := range ds {
		lines[i] = d.String()
	}
	return strings.Join(lines, "\n")
}

// Err returns ds as an error if it has errors, else nil, also if it has warnings.
func (ds Diagnostics) Err() error {
	if ds.HasErrors() {
		return ds
	}
	return nil
}
