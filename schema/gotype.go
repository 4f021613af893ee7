package schema

import (
	"go/token"
	"maps"
	"slices"
	"strings"

	"github.com/mcpkiln/mcpkiln/runtime/check/format"
)

// goTypes are the existing Go types that goType can name, with the types and the format of schemas that may do so.
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

// readyType is the types and the format of the schemas that an existing Go type is for.
type readyType struct {
	types  []string
	format string
}

// fits reports whether the Go type is for values of the schema n.
func (t readyType) fits(n *Node) bool {
	types := typesOf(n)
	other := func(word string) bool { return word != "null" && !slices.Contains(t.types, word) }
	return len(types) > 0 && n.Get("enum") == nil && n.Get("const") == nil && !slices.ContainsFunc(types, other) &&
		(t.format == "" || textOf(n.Get("format")) == t.format)
}

// hint says what to change so that the schema n can have the Go type name.
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

// IsGoType reports whether goType names an existing Go type, not a new one.
func IsGoType(name string) bool { _, ok := goTypes[name]; return ok }

// GoTypesOf returns the Go types to choose from for a type or format; none if there is no choice.
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

// goType checks the existing Go type that a schema names, or the name of a new one.
func (l *linter) goType(n, v *Node) {
	switch {
	case v.Is(String) && IsGoType(v.Text):
		l.goTypeFits(n, v)
	case v.Is(String) && strings.ContainsRune(v.Text, '.'):
		l.ds.Report(v, "go-type", goTypeHint(n)+", or write a name for the type that is made",
			"%s is no Go type that a schema can have", quote(v.Text))
	default:
		l.typeName(n, v)
	}
}

// typeName checks the name of a new type. Another word may be a misspelt Go type.
func (l *linter) typeName(n, v *Node) {
	if v.Is(String) && token.IsIdentifier(v.Text) && !token.IsExported(v.Text) {
		l.ds.Report(v, "go-type", goTypeHint(n)+", or begin with a capital letter to name the type that is made",
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

// goTypeHint names the Go types that the schema n can have.
func goTypeHint(n *Node) string {
	names := slices.DeleteFunc(slices.Sorted(maps.Keys(goTypes)), func(name string) bool { return !goTypes[name].fits(n) })
	if len(names) == 0 {
		return "leave goType out"
	}
	return "write " + strings.Join(names, " or ")
}

// textOf is the text of a string, "" for anything else.
func textOf(n *Node) string {
	if n.Is(String) {
		return n.Text
	}
	return ""
}

func (l *linter) goTypeFits(n, v *Node) {
	t := goTypes[v.Text]
	want := "type: " + strings.Join(t.types, " or ")
	if t.format != "" {
		want += ", format: " + t.format
	}
	if !t.fits(n) {
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

// GoTypeHolds reports whether a Go type can represent a text of its format: time.Duration has no years and months.
func GoTypeHolds(name, text string) (ok bool) {
	switch name {
	case "time.Duration":
		_, ok = format.ParseDuration(text)
	case "time.Time":
		_, ok = format.ParseDateTime(text)
	default:
		ok = true
	}
	return ok
}
