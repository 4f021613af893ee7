package schema

import "go/token"

// IsOwn reports whether word is a keyword of the generator itself: goName is the Go name of a property's field, goType
// the Go type of a schema. They assert nothing and are not advertised (VAL08).
func IsOwn(word string) bool { f := keywords[word]; return f == formGoName || f == formGoType }

// GoName reports n if it is no exported Go identifier.
func (ds *Diagnostics) GoName(n *Node) {
	switch {
	case n.Kind != String:
		ds.Report(n, "go-name", "", "a Go name is a string, not %s", describe(n))
	case !token.IsIdentifier(n.Text) || !token.IsExported(n.Text):
		ds.Report(n, "go-name", "begin with a capital letter, and use letters, digits and _", "%s is no exported Go name", quote(n.Text))
	}
}

// goName checks the names that a schema gives its field and its type.
func (l *linter) goName(n *Node, f form, v *Node) {
	if f == formGoName && l.notes[n]&noteField == 0 {
		l.ds.Report(v, "go-name", "write goType, which names the type", "goName names the field of a property or of an item in a tuple, and this schema is neither")
		return
	}
	if f == formGoType {
		l.goType(n, v)
		return
	}
	l.ds.GoName(v)
}

// isField records the schemas below n that become fields in Go: its properties, and the items of a tuple.
func (l *linter) isField(n *Node) {
	for _, m := range n.Get("properties").members() {
		l.notes[m.Value] |= noteField | noteProperty
	}
	for _, keyword := range [...]string{"prefixItems", "items"} {
		for _, item := range n.Get(keyword).items() {
			l.notes[item] |= noteField
		}
	}
}

// withoutOwn returns n without the keywords of the generator.
func (n *Node) withoutOwn() *Node {
	return n.without("goName", "goType")
}

// GoTypes returns the names that goType gives to types of the document, in source order.
func (d *Document) GoTypes() []*Node { return d.ids.goTypes }
