package schema

import (
	"net/url"
	"strings"

	"github.com/mcpkiln/mcpkiln/runtime/check/keyword"
)

// index finds the schemas that $id and $anchor name in one document. It uses maps, since a document may have thousands (VAL07).
type index struct {
	resources []resource // the root first; each later one lies below one before it
	byURI     map[string]int
	byPointer map[string]int // without the root
	anchors   map[anchor]*Node
	goTypes   []*Node // the names that goType gives to types, in source order
	schemas   int     // how many schemas the document has
}

// resource is a schema with a base URI for the references below it: the root, and every schema with an $id.
type resource struct {
	node *Node
	uri  string
}

type anchor struct {
	resource *Node
	name     string
}

// newIndex reads the document at root, whose URI is base.
func newIndex(root *Node, base string, dialect Dialect, ds *Diagnostics) index {
	x := index{resources: []resource{{root, base}}, byURI: map[string]int{base: 0}, byPointer: map[string]int{}, anchors: map[anchor]*Node{}}
	var walk func(n *Node, base int)
	walk = func(n *Node, base int) {
		if n.Kind != Object {
			return
		}
		x.schemas++
		base = x.enter(n, base, dialect, ds)
		for _, key := range [...]string{"$anchor", "$dynamicAnchor"} {
			if a := n.Get(key); a.Is(String) {
				x.name(base, a.Text, n, a, ds)
			}
		}
		if t := n.Get("goType"); t.Is(String) && !IsGoType(t.Text) {
			x.goTypes = append(x.goTypes, t)
		}
		subschemas(n, func(s *Node) { walk(s, base) })
	}
	walk(root, 0)
	return x
}

// enter records the $id of n and returns the resource that n belongs to. In draft-07 a $id of "#name" is an anchor,
// and one beside a $ref is ignored.
func (x *index) enter(n *Node, base int, dialect Dialect, ds *Diagnostics) int {
	id := n.Get("$id")
	if !id.Is(String) || dialect == Draft7 && n.Get("$ref") != nil {
		return base
	}
	if name, ok := strings.CutPrefix(id.Text, "#"); ok && name != "" {
		x.name(base, name, n, id, ds)
		return base
	}
	uri := keyword.ResolveURI(x.resources[base].uri, trimEmptyFragment(id.Text))
	if n == x.resources[0].node {
		delete(x.byURI, x.resources[0].uri)
		x.resources[0].uri, x.byURI[uri] = uri, 0
		return 0
	}
	if i, taken := x.byURI[uri]; taken {
		duplicateID(ds, id, x.resources[i].node)
		return i
	}
	i := len(x.resources)
	x.resources = append(x.resources, resource{n, uri})
	x.byURI[uri], x.byPointer[n.Pointer] = i, i
	return i
}

// duplicateID reports that the schema first has this $id, too: a reference to it would be ambiguous.
func duplicateID(ds *Diagnostics, id, first *Node) {
	ds.Report(id, "duplicate-id", "give each its own", "%s has this $id, too", first.Pos)
}

func (x *index) name(base int, name string, n, at *Node, ds *Diagnostics) {
	key := anchor{x.resources[base].node, name}
	if first := x.anchors[key]; first != nil && first != n {
		ds.Report(at, "duplicate-anchor", "", "anchor %s is already given at line %d", quote(name), first.Pos.Line)
		return
	}
	x.anchors[key] = n
}

// enclosing returns the resource that the node at pointer is in.
func (x *index) enclosing(pointer string) resource {
	for len(pointer) > len(x.resources[0].node.Pointer) {
		if i, ok := x.byPointer[pointer]; ok {
			return x.resources[i]
		}
		pointer = pointer[:strings.LastIndexByte(pointer, '/')]
	}
	return x.resources[0]
}

// below reports whether pointer is root or leads to a value in it.
func below(pointer, root string) bool {
	rest, ok := strings.CutPrefix(pointer, root)
	return ok && (rest == "" || rest[0] == '/')
}

// find returns the resource that ref names and its fragment, decoded.
func (x *index) find(ref, from string) (res resource, fragment string, ok bool) {
	uri, fragment, _ := strings.Cut(ref, "#")
	res = x.enclosing(from)
	if uri != "" {
		i, known := x.byURI[keyword.ResolveURI(res.uri, uri)]
		if !known {
			return res, fragment, false
		}
		res = x.resources[i]
	}
	if decoded, err := url.PathUnescape(fragment); err == nil {
		fragment = decoded
	}
	return res, fragment, true
}

// Resolve returns the target of ref. at is the value of the $ref, or nil for the root of d: it decides what "#" means, also
// if it is in a shared schema. The Diagnostic is at that value: the reference leads nowhere,
// out of the document (VAL06), or to a value that is no schema.
func (d *Document) Resolve(ref string, at *Node) (*Node, *Diagnostic) {
	if at == nil {
		at = d.Root
	}
	home := d.home(at)
	res, fragment, ok := home.ids.find(ref, at.Pointer)
	if !ok && home.Meta != nil && isMetaRef(ref, home.Dialect) {
		_, fragment, _ = strings.Cut(ref, "#")
		home = home.Meta
		res, fragment, ok = home.ids.find("#"+fragment, "")
	}
	if other := Draft2020 + Draft7 - home.Dialect; !ok && isMetaRef(ref, other) {
		return nil, refDiagnostic(at, "remote-ref", "say $schema: "+other.String()+", or refer to "+home.Dialect.String(),
			"%s is the meta-schema of another draft than the document's", quote(ref))
	}
	if !ok {
		return nil, refDiagnostic(at, remoteRef.code, remoteRef.hint, "%s %s", quote(ref), remoteRef.text)
	}
	target := home.target(res, fragment)
	if why := home.noSchema(target, fragment); why != (refusal{}) {
		return nil, refDiagnostic(at, why.code, why.hint, "%s %s", quote(ref), why.text)
	}
	return target, nil
}

// refusal is the reason why a reference leads to no schema; zero if it leads to one.
type refusal struct{ code, hint, text string }

var remoteRef = refusal{"remote-ref", "copy that schema into $defs, or into a file below the manifest's folder", "leads out of the document"}

// noSchema is the reason why a reference with that fragment leads to no schema in d; n is what it leads to, nil for nothing.
func (d *Document) noSchema(n *Node, fragment string) refusal {
	switch {
	case n == nil && fragment != "" && fragment[0] != '/':
		return refusal{"dangling-ref", DidYouMean("#"+fragment, d.candidates()), "names no anchor"}
	case n == nil:
		return refusal{"dangling-ref", d.nearReference(fragment), "leads nowhere"}
	case n.Kind != Object && n.Kind != Bool:
		return refusal{"not-a-schema", "", "leads to " + describe(n) + ", not to a schema"}
	}
	return refusal{}
}

// nearReference is the hint for a reference that leads nowhere: a reference of similar spelling, a schema of that name elsewhere,
// or where a definition can stand.
func (d *Document) nearReference(fragment string) string {
	all := d.candidates()
	if hint := DidYouMean("#"+fragment, all); hint != "" {
		return hint
	}
	name := fragment[strings.LastIndexByte(fragment, '/'):]
	for _, c := range all {
		if strings.HasSuffix(c, name) {
			return `did you mean "` + c + `"?`
		}
	}
	return "definitions stand in $defs of the same schema, or in schemas of the manifest"
}

func (d *Document) target(res resource, fragment string) *Node {
	if fragment != "" && fragment[0] != '/' {
		return d.ids.anchors[anchor{res.node, fragment}]
	}
	lookup := res.node.Lookup
	if res.node == d.Root {
		lookup = d.Lookup
	}
	if n := lookup(fragment); n != nil {
		return n
	}
	name, rest, ok := sharedName(fragment)
	if s := d.Shared.Get(name); ok && s != nil {
		return s.Root.Lookup(rest)
	}
	return nil
}

// sharedName splits "/schemas/NAME/rest".
func sharedName(fragment string) (name, rest string, ok bool) {
	path, ok := strings.CutPrefix(fragment, "/schemas/")
	name, _, _ = strings.Cut(path, "/")
	return UnescapeToken(name), path[len(name):], ok
}

// home returns the document that n is in: d, one of its shared schemas, or a meta-schema.
func (d *Document) home(n *Node) *Document {
	if n.Pos.File == d.Dialect.String() {
		return d.metaOf()
	}
	if d.Shared == nil || below(n.Pointer, d.Root.Pointer) {
		return d
	}
	for _, s := range d.Shared.Schemas {
		if below(n.Pointer, s.Doc.Root.Pointer) {
			return s.Doc
		}
	}
	return d
}

// metaOf returns the meta-schema that d is, or that d or one of its shared schemas refers to.
func (d *Document) metaOf() *Document {
	if d.Root.Pos.File == d.Dialect.String() {
		return d
	}
	if d.Meta != nil || d.Shared == nil {
		return d.Meta
	}
	for _, s := range d.Shared.Schemas {
		if s.Doc.Meta != nil {
			return s.Doc.Meta
		}
	}
	return nil
}

// candidates are references that have a target, for hints.
func (d *Document) candidates() []string {
	var all []string
	for _, key := range definitionKeys {
		for _, m := range d.Root.Get(key).members() {
			all = append(all, "#/"+key+"/"+EscapeToken(m.Key))
		}
	}
	for a := range d.ids.anchors {
		all = append(all, "#"+a.name)
	}
	if d.Shared != nil {
		for _, s := range d.Shared.Schemas {
			all = append(all, "#/schemas/"+EscapeToken(s.Name))
		}
	}
	return all
}

func refDiagnostic(at *Node, code, hint, format string, args ...any) *Diagnostic {
	var ds Diagnostics
	keyword := keyOfReference(at)
	if !isReference(keyword) {
		keyword = "$ref"
	}
	ds.Report(at, code, hint, keyword+" "+format, args...)
	return &ds[0]
}

// isReference reports whether a keyword names another schema.
func isReference(keyword string) bool {
	return keyword == "$ref" || keyword == "$dynamicRef" || keyword == "$recursiveRef"
}

func trimEmptyFragment(uri string) string { return strings.TrimSuffix(uri, "#") }
