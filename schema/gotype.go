package schema

import (
	"maps"
	"slices"
	"strings"
)

// goTypes are the Go types that goType asks for by name, where the type needs none of its own: for values of a type, and of a
// format if there is one.
var goTypes = map[string]struct {
	types  []string
	format string
}{
	"string":        {[]string{"string"}, ""},
	"time.Time":     {[]string{"string"}, "date-time"},
	"check.Date":    {[]string{"string"}, "date"},
	"time.Duration": {[]string{"string"}, "duration"},
	"check.UUID":    {[]string{"string"}, "uuid"},
	"int64":         {[]string{"integer"}, ""},
	"float64":       {[]string{"number"}, ""},
	"json.Number":   {[]string{"integer", "number"}, ""},
}

// IsGoType reports whether goType asks for a Go type that is there already, and does not name a new one.
func IsGoType(name string) bool { _, ok := goTypes[name]; return ok }

// GoTypesOf returns the Go types that values of a type or format can have; none for those that have no choice.
func GoTypesOf(word string) []string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(goTypes)) {
		t := goTypes[name]
		if t.format == word || t.format == "" && word != "" && slices.Contains(t.types, word) && word != "string" {
			all = append(all, name)
		}
	}
	return all
}

// goType checks the type that a schema asks for, or the name that it gives to its own.
func (l *linter) goType(n, v *Node) {
	switch {
	case v.Is(String) && IsGoType(v.Text):
		l.goTypeFits(n, v)
	case v.Is(String) && strings.ContainsRune(v.Text, '.'):
		l.ds.Report(v, "go-type", "write one of "+strings.Join(slices.Sorted(maps.Keys(goTypes)), ", ")+", or a name for the type that is made",
			"%s is no Go type that a schema can have", quote(v.Text))
	default:
		l.ds.GoName(v)
	}
}

func (l *linter) goTypeFits(n, v *Node) {
	t := goTypes[v.Text]
	fits := len(typesOf(n)) > 0 && n.Get("enum") == nil && n.Get("const") == nil
	for _, word := range typesOf(n) {
		fits = fits && (word == "null" || slices.Contains(t.types, word))
	}
	want := "type: " + strings.Join(t.types, " or ")
	if t.format != "" {
		want += ", format: " + t.format
		format := n.Get("format")
		fits = fits && format.Is(String) && format.Text == t.format
	}
	if !fits {
		l.ds.Report(v, "go-type", "write goType where these stand, or leave it out", "%s is the Go type of {%s} without enum or const", v.Text, want)
	}
}

// typesOf is the value of type as a list.
func typesOf(n *Node) []string {
	t := n.Get("type")
	if t.Is(String) {
		return []string{t.Text}
	}
	var all []string
	for _, word := range t.items() {
		all = append(all, word.Text)
	}
	return all
}
