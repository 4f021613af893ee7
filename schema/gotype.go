package schema

import (
	"go/token"
	"maps"
	"slices"
	"strings"
)

// goTypes are the Go types that goType asks for by name, where the type needs none of its own: for values of a type, and of a
// format if there is one.
var goTypes = map[string]readyType{
	"string":        {[]string{"string"}, ""},
	"time.Time":     {[]string{"string"}, "date-time"},
	"check.Date":    {[]string{"string"}, "date"},
	"time.Duration": {[]string{"string"}, "duration"},
	"check.UUID":    {[]string{"string"}, "uuid"},
	"int64":         {[]string{"integer"}, ""},
	"float64":       {[]string{"number"}, ""},
	"json.Number":   {[]string{"integer", "number"}, ""},
}

// readyType is what the schemas of a Go type have in common.
type readyType struct {
	types  []string
	format string
}

// hint says what a schema n lacks that asks for the Go type name.
func (t readyType) hint(n *Node, name string) string {
	if t.format == "" || n.Get("enum") != nil || n.Get("const") != nil || !slices.Equal(typesOf(n), t.types) {
		return "write goType where these stand, or leave it out"
	}
	format := textOf(n.Get("format"))
	if format == "" {
		return "add format: " + t.format
	}
	if ready := GoTypesOf(format); len(ready) > 0 {
		return "for format " + format + " write " + ready[0]
	}
	return "write format: " + t.format + ", or leave goType out"
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
		l.ds.Report(v, "go-type", "write one of "+goTypeNames()+", or a name for the type that is made",
			"%s is no Go type that a schema can have", quote(v.Text))
	default:
		l.typeName(n, v)
	}
}

// typeName checks the name of a new type. A word that is none may be meant for a Go type.
func (l *linter) typeName(n, v *Node) {
	if v.Is(String) && token.IsIdentifier(v.Text) && !token.IsExported(v.Text) {
		l.ds.Report(v, "go-type", "write one of "+goTypeNames()+", or begin with a capital letter to name the type that is made",
			"%s is no Go type that a schema can have", quote(v.Text))
		return
	}
	l.ds.GoName(v)
	for _, ready := range GoTypesOf(textOf(n.Get("format"))) {
		if _, name, _ := strings.Cut(ready, "."); name == v.Text {
			l.ds.Warn(v, "go-type", "write "+ready+" for the Go type of this format", "%s names a new type of kind string", quote(v.Text))
		}
	}
}

// goTypeNames lists the Go types that goType can ask for.
func goTypeNames() string { return strings.Join(slices.Sorted(maps.Keys(goTypes)), ", ") }

// textOf is the text of a string, "" for anything else.
func textOf(n *Node) string {
	if n.Is(String) {
		return n.Text
	}
	return ""
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
		l.ds.Report(v, "go-type", t.hint(n, v.Text), "%s is the Go type of {%s} without enum or const", v.Text, want)
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
