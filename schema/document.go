package schema

import (
	"slices"
	"strings"
)

// Dialect is the JSON Schema draft that a document is written in.
type Dialect uint8

// The dialects that documents may name in $schema.
const (
	Draft2020 Dialect = iota // 2020-12, also without $schema
	Draft7
)

// The addresses of the dialects' meta-schemas, as written in $schema.
const (
	draft2020URL = "https://json-schema.org/draft/2020-12/schema"
	draft7URL    = "http://json-schema.org/draft-07/schema"
)

// String returns the address that $schema names.
func (d Dialect) String() string {
	if d == Draft7 {
		return draft7URL
	}
	return draft2020URL
}

// Document is one JSON Schema with everything that its references can reach: nothing is read from elsewhere
// (VAL06). A Document is not changed after NewDocument and may be used by several goroutines.
type Document struct {
	Root    *Node
	Dialect Dialect
	Shared  *Library // schemas that "#/schemas/NAME" reaches, or nil

	// Meta is the dialect's meta-schema if a $ref leads there, else nil. The file in the positions of its nodes is the
	// URI of the dialect.
	Meta *Document

	ids       index
	packed    *packedDefinitions // the definitions that are not unpacked yet, or nil
	refused   *refusals
	sensitive bool // somewhere in it a key is x-sensitive
}

// Library holds the named schemas that several documents share. Each is a document of its own: "#" in it is itself.
type Library struct {
	Schemas   []Named
	byName    map[string]*Document
	sensitive bool // one of them is
}

// Named is a schema and the name it was given.
type Named struct {
	Name string
	Doc  *Document
}

// NewDocument prepares the schema at root. shared may be nil. The Document is usable for lookups even if there are
// diagnostics; Lint checks references and keywords.
func NewDocument(root *Node, shared *Library) (*Document, Diagnostics) {
	return documentOf(root, shared, Draft2020)
}

// documentOf is NewDocument for a schema of this dialect, unless its $schema names another.
func documentOf(root *Node, shared *Library, dialect Dialect) (*Document, Diagnostics) {
	var ds Diagnostics
	d := &Document{Root: root, Shared: shared, refused: &refusals{reasons: map[sample]string{}}, sensitive: root.hasKey(sensitiveKeyword)}
	d.Dialect = dialectOf(root, dialect, &ds)
	d.ids = newIndex(root, "", d.Dialect, &ds)
	if refersToMeta(root, d.Dialect) {
		d.Meta = metaSchema(d.Dialect)
	}
	return d, ds
}

// NewLibrary makes a document of each member of node, an object of schemas keyed by name.
func NewLibrary(node *Node) (*Library, Diagnostics) {
	var all Diagnostics
	l := &Library{byName: map[string]*Document{}}
	for i := range node.Members {
		all = append(all, l.add(node.Members[i].Key, node.Members[i].Value, Draft2020)...)
	}
	return l, all
}

// add makes a document of root under a name.
func (l *Library) add(name string, root *Node, dialect Dialect) Diagnostics {
	d, ds := documentOf(root, l, dialect)
	l.Schemas = append(l.Schemas, Named{name, d})
	l.byName[name] = d
	l.sensitive = l.sensitive || d.sensitive
	return ds
}

// Get returns the schema of that name, or nil. A nil l is allowed.
func (l *Library) Get(name string) *Document {
	if l == nil {
		return nil
	}
	return l.byName[name]
}

// definitionKeys are the keywords that hold definitions.
var definitionKeys = [...]string{"$defs", "definitions"}

// Definitions returns the members of definitions and of $defs, in source order.
func (d *Document) Definitions() []Member {
	var all []Member
	for _, m := range d.Root.members() {
		if slices.Contains(definitionKeys[:], m.Key) {
			all = append(all, m.Value.Members...)
		}
	}
	for _, m := range all {
		d.packed.unpack(m.Value)
	}
	return all
}

// Definition returns the schema called name in definitions or $defs, or nil.
func (d *Document) Definition(name string) *Node {
	for _, key := range definitionKeys {
		if n := d.Root.Get(key).Get(name); n != nil {
			d.packed.unpack(n)
			return n
		}
	}
	return nil
}

// DialectHint is an addition to hints about keywords that mean something else in the other draft; "" if the document
// names its draft.
func (d *Document) DialectHint() string {
	if d.Root.Get("$schema") != nil {
		return ""
	}
	return "; the schema names no draft, so 2020-12 counts: if it is of draft-07, say $schema: " + draft7URL + "#"
}

// Lookup follows a JSON Pointer from the root of the document.
func (d *Document) Lookup(pointer string) *Node {
	if d.packed == nil {
		return d.Root.Lookup(pointer)
	}
	for _, key := range definitionKeys {
		if path, ok := strings.CutPrefix(pointer, "/"+key+"/"); ok {
			name, _, _ := strings.Cut(path, "/")
			n := d.Root.Get(key).Get(UnescapeToken(name))
			d.packed.unpack(n)
			return n.Lookup(path[len(name):])
		}
	}
	return d.Root.Lookup(pointer)
}

func dialectOf(root *Node, inherited Dialect, ds *Diagnostics) Dialect {
	n := root.Get("$schema")
	if n == nil {
		return inherited
	}
	if n.Kind == String {
		switch trimEmptyFragment(n.Text) {
		case draft2020URL:
			return Draft2020
		case draft7URL, "https://json-schema.org/draft-07/schema":
			return Draft7
		}
	}
	ds.Report(n, "unknown-dialect", "use "+draft2020URL+" or "+draft7URL+"#", "%s is no JSON Schema dialect that mcpkiln reads", describe(n))
	return inherited
}
