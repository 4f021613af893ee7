package revision

import (
	"slices"
	"strings"

	"github.com/mcpkiln/mcpkiln/schema"
)

// Schema is a node of a schema document, with the document that its references are resolved in.
type Schema struct {
	*schema.Node
	Document *schema.Document
}

// Place is the place of a value in a message, where a path ends.
type Place struct {
	// Schemas are the schemas that may apply there, references followed: one, or several in a union or an allOf.
	Schemas []Schema
	// Required says that every valid message has the value: each step is required in each alternative.
	Required bool
}

// Definition returns the schema that a definition reference names: a definition of one of the documents, the first
// that has it, and below it a path ("GetTaskRequest/params"). ok is false if there is none.
func (r *Revision) Definition(reference string) (place Place, ok bool) {
	name, path, _ := strings.Cut(reference, "/")
	for i := range r.Documents {
		d := r.Documents[i].Document
		if n := d.Definition(name); n != nil {
			return walk(Place{[]Schema{{n, d}}, true}, splitPath(path))
		}
	}
	return Place{}, false
}

// walk follows steps through properties; "*" is the items of an array.
func walk(from Place, steps []string) (to Place, ok bool) {
	to = from
	for _, step := range steps {
		if to, ok = to.step(step); !ok {
			return to, false
		}
	}
	return to, len(to.Schemas) > 0
}

func (p Place) step(key string) (Place, bool) {
	var next Place
	required := false
	for _, s := range p.Schemas {
		found, always := member(s, key, 0)
		next.Schemas = append(next.Schemas, found...)
		required = required || always
	}
	next.Required = p.Required && required
	return next, len(next.Schemas) > 0
}

// maxHops limits chains of references that lead back to themselves without passing a property.
const maxHops = 32

// member returns the schemas in s for a member of its value, and whether the member is required.
func member(s Schema, key string, hops int) (found []Schema, required bool) {
	if s.Node == nil || hops > maxHops {
		return nil, false
	}
	if key == "*" {
		if items := s.Get("items"); items != nil {
			found = append(found, Schema{items, s.Document})
		}
	} else if n := s.Get("properties").Get(key); n != nil {
		found = append(found, Schema{n, s.Document})
	}
	required = lists(s.Get("required"), key)
	for _, all := range conjuncts(s) {
		f, r := member(all, key, hops+1)
		found, required = append(found, f...), required || r
	}
	for _, alternatives := range unions(s) {
		every := true
		for _, a := range alternatives {
			f, r := member(a, key, hops+1)
			found, every = append(found, f...), every && r
		}
		required = required || every
	}
	return found, required
}

// conjuncts are the schemas that apply to a value together with s: the target of its $ref and the members of allOf.
func conjuncts(s Schema) []Schema {
	var all []Schema
	if ref := s.Get("$ref"); ref.Is(schema.String) {
		if target, d := s.Document.Resolve(ref.Text, ref); d == nil {
			all = append(all, Schema{target, s.Document})
		}
	}
	return append(all, members(s, "allOf")...)
}

// unions are the lists of alternatives of s.
func unions(s Schema) [][]Schema {
	var all [][]Schema
	for _, keyword := range []string{"anyOf", "oneOf"} {
		if alternatives := members(s, keyword); alternatives != nil {
			all = append(all, alternatives)
		}
	}
	return all
}

func members(s Schema, keyword string) []Schema {
	n := s.Get(keyword)
	if n == nil {
		return nil
	}
	var all []Schema
	for _, item := range n.Items {
		all = append(all, Schema{item, s.Document})
	}
	return all
}

func lists(list *schema.Node, key string) bool {
	return list != nil && slices.ContainsFunc(list.Items, func(n *schema.Node) bool { return n.Text == key })
}

func elements(n *schema.Node) []*schema.Node {
	if n == nil {
		return nil
	}
	return n.Items
}
