package typing

import (
	"slices"

	"github.com/mcpkiln/mcpkiln/generator/internal/naming"
	"github.com/mcpkiln/mcpkiln/schema"
)

// chosen are the type names that the manifest gives with goType. They are taken before all that are derived from schemas.
type chosen struct {
	docs map[*schema.Document]bool
	at   map[string]*schema.Node // the value of goType, by name
	used map[*schema.Node]bool
}

// Choose takes the type names that a document chooses. Package lower calls it before any type is named: a name that is already taken is one that
// every generated package has.
func (t *Types) Choose(doc *schema.Document) {
	if t.chosen.docs[doc] {
		return
	}
	t.chosen.docs[doc] = true
	for _, n := range doc.GoTypes() {
		switch other := t.chosen.at[n.Text]; {
		case other != nil:
			t.findings.Report(n, "same-go-name", "choose another goType, or give the schema a name in schemas and refer to it",
				"%s is the goType of another schema, too (%s)", n.Text, other.Pos)
		case t.Names.Taken(n.Text):
			t.findings.Report(n, "same-go-name", "choose another goType", "the generated package always has a %s", n.Text)
		default:
			t.chosen.at[n.Text] = n
			t.Names.Take(n.Text)
		}
	}
}

// warnOfUnused warns of chosen names that no type has.
func (t *Types) warnOfUnused() {
	for name, n := range t.chosen.at {
		if !t.chosen.used[n] {
			t.findings.Warn(n, "unused-go-type", "", "no Go type is made of this schema, so that nothing is called %s", name)
		}
	}
}

// firstChoice returns the first schema of c that chooses a type name, or nil.
func firstChoice(c allOf) *schema.Node {
	if i := slices.IndexFunc(c, func(n *schema.Node) bool { return chosenName(n) != nil }); i >= 0 {
		return c[i]
	}
	return nil
}

// chosenName returns the type name that goType in a schema chooses, or nil.
func chosenName(n *schema.Node) *schema.Node {
	if t := n.Get("goType"); t.Is(schema.String) && !schema.IsGoType(t.Text) {
		return t
	}
	return nil
}

// typeName returns the name for a type: the one that its schema (c.by) chooses, else hint, else the longer name c.other, else one with a suffix made
// of c.site.
func (t *Types) typeName(hint string, c *claim) string {
	own := chosenName(c.by)
	if own != nil && t.chosen.at[own.Text] == own && !t.chosen.used[own] {
		t.chosen.used[own] = true
		return own.Text
	}
	if at := t.chosen.at[hint]; at != nil && own == nil {
		t.findings.Report(at, "same-go-name", "choose another goType", "another type is called %s, too", hint)
	}
	if c.other != "" && t.Names.Taken(hint) {
		hint = c.other
	}
	return t.Names.TakeFor(hint, c.site)
}

// fieldNames returns the Go names of properties: those that their schemas choose, else those derived from their keys.
func (l *lowering) fieldNames(props []property) []string {
	keys := make([]string, len(props))
	for i := range props {
		keys[i] = props[i].key
	}
	names := naming.Distinct(keys, fieldName)
	for i := range props {
		if n := goName(props[i].schema); n != nil {
			names[i] = n.Text
		}
	}
	for i := range props {
		if n := goName(props[i].schema); n != nil {
			l.reportSameField(n, names, i, props)
		}
	}
	return names
}

// isMethod reports whether generated types may have a method of that name; a field can not have the same name.
func isMethod(name string) bool { return name == "MarshalJSON" || name == "UnmarshalJSON" }

// fieldName is GoName for a field.
func fieldName(key string) string {
	name := naming.GoName(key)
	if isMethod(name) {
		name += "Value"
	}
	return name
}

// reportSameField reports a chosen name, that of property i, if another field or a method has it, too.
func (l *lowering) reportSameField(n *schema.Node, names []string, i int, props []property) {
	if isMethod(n.Text) {
		l.Types.findings.Report(n, "same-go-name", "choose another goName", "%s is a method that the type may have", n.Text)
	}
	for j, name := range names {
		if j != i && name == names[i] {
			l.Types.findings.Report(n, "same-go-name", "choose another goName, or give the other one a goName",
				"property %q would be %s in Go, too", props[j].key, name)
		}
	}
}

// goName returns the value of goName in a property, or nil.
func goName(c allOf) *schema.Node {
	for _, s := range c {
		if n := s.Get("goName"); n.Is(schema.String) {
			return n
		}
	}
	return nil
}
