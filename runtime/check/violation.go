package check

import "strings"

// Violation is one rule of a schema that a value breaks (VAL02).
type Violation struct {
	Instance string // JSON Pointer of the value; "" is the root
	Schema   string // URI fragment of the keyword: "#/properties/symbol/maxLength"
	Keyword  string
	Found    string // shortened and quoted
	Allowed  string // in words
	Offset   int    // where the value begins, in bytes
}

// Error is one line that a model can act on.
func (v Violation) Error() string {
	at := safe(v.Instance)
	if at == "" {
		at = "(root)"
	}
	return at + ": " + v.Keyword + ": found " + v.Found + ", allowed: " + v.Allowed
}

// Violations are sorted by their place in the text.
type Violations []Violation

// Error lists all, one a line.
func (v Violations) Error() string {
	lines := make([]string, len(v))
	for i := range v {
		lines[i] = v[i].Error()
	}
	return strings.Join(lines, "\n")
}
