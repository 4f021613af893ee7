package check

import (
	"slices"
	"strings"
)

// Violation is one rule of a schema that a value breaks (VAL02).
type Violation struct {
	Instance string // JSON Pointer of the value; "" is the root
	Schema   string // URI fragment of the keyword: "#/properties/symbol/maxLength"
	Keyword  string
	Found    string // the value, shortened and quoted; never one that Hide names
	Allowed  string // in words, made from the schema alone: it shows nothing of the value
	Because  string // in words, why the rule applies here, if a condition is the reason; may be empty
	offset   int    // where the value begins, in bytes
}

// Error returns one line that a model can act on. It shows paths, names, patterns and enums in full, up to maxShownExactly in all.
func (v Violation) Error() string {
	s := v.line()
	if v.Because != "" {
		s += ", because " + v.Because
	}
	return s
}

// escaped writes line breaks and tabs in a path as escapes, so that the path still leads to the member; in other texts, printable makes each a space.
var escaped = strings.NewReplacer("\n", `\n`, "\r", `\r`, "\t", `\t`)

func (v Violation) line() string {
	at := printableUpTo(escaped.Replace(v.Instance), maxShownExactly-len(v.Allowed)-len(v.Because))
	if at == "" {
		at = "(root)"
	}
	if v.Keyword != "required" || v.Found != nothing {
		at += ": " + v.Keyword
	}
	if v.Found != nothing {
		return at + ": found " + v.Found + ", allowed: " + v.Allowed
	}
	at += ": is required and missing"
	if v.Allowed != anyValue {
		at += ", allowed: " + v.Allowed
	}
	return at
}

const (
	nothing  = "nothing" // Found where a member is missing
	anyValue = "a value" // Allowed there
	unwanted = "a property with this name"
)

// Violations are sorted by their instances; items by their indexes. Texts that mean the same have the same violations (LET14).
type Violations []Violation

// Error lists all violations, one per line.
func (v Violations) Error() string {
	lines := make([]string, len(v))
	for i := range v {
		lines[i] = v[i].Error()
	}
	return strings.Join(lines, "\n")
}

// Sort sorts violations, for those that another validator found. Violations of one instance keep their order.
func (v Violations) Sort() {
	slices.SortStableFunc(v, func(a, b Violation) int { return comparePointers(a.Instance, b.Instance) })
}
