package typing

import "github.com/mcpkiln/mcpkiln/schema"

// follow follows references, also those in an allOf, anyOf or oneOf of one schema, as long as only annotations are
// beside them and no schema chooses a type name. It returns the target of the last reference, and whether there was any.
func (r *reader) follow(n *schema.Node) (*schema.Node, bool) {
	seen := map[*schema.Node]bool{}
	target, found := n, false
	for !seen[n] {
		if chosenName(n) != nil {
			return n, true
		}
		next, byRef := r.step(n)
		if next == nil {
			return target, found
		}
		seen[n] = true
		if n = next; byRef {
			target, found = n, true
		}
	}
	return n, false // in a circle: shape reports it
}

// step returns the schema that n leads to: the target of its reference (byRef), or the only schema of its allOf, anyOf or oneOf; nil if n says more.
func (r *reader) step(n *schema.Node) (next *schema.Node, byRef bool) {
	if ref := n.Get("$ref"); ref != nil && r.dialect(n) == schema.Draft7 {
		return r.referred(n, ref), true // keywords beside it are ignored
	}
	for i := range n.Members {
		m := &n.Members[i]
		k, known := r.keywords[m.Key]
		switch {
		case (m.Key == "$ref" || m.Key == "$dynamicRef" && k.appliesIn(r.dialect(n))) && next == nil:
			if next, byRef = r.referred(n, m.Value), true; next == nil {
				return nil, false
			}
		case r.only(m) != nil && next == nil:
			next = r.only(m)
		case !known || k.noRule || Annotations[m.Key]:
		default:
			return nil, false
		}
	}
	return next, byRef
}

// referred returns the target of the reference in n, or nil for one that leads into the meta-schema.
func (r *reader) referred(n, ref *schema.Node) *schema.Node {
	target, _ := r.targetOf(ref)
	if target != nil && r.meta(target) && !r.meta(n) {
		return nil
	}
	return target
}

// only returns the only schema of an allOf, anyOf or oneOf that values can satisfy; nil if there are more.
func (r *reader) only(m *schema.Member) *schema.Node {
	var only *schema.Node
	switch m.Key {
	case "allOf", "anyOf", "oneOf":
		for _, n := range m.Value.Items {
			if m.Key != "allOf" && r.allowsNothing(n) {
				continue
			}
			if only != nil {
				return nil
			}
			only = n
		}
	}
	return only
}

// Annotations are the annotations that have an effect on generated code.
var Annotations = map[string]bool{"title": true, "description": true, "deprecated": true, "default": true}
