package typing

import "github.com/mcpkiln/mcpkiln/schema"

// follow goes along references of one schema, also those in an allOf, anyOf or oneOf of one, as long as only annotations stand
// beside them, and no schema wants a type of its own. It returns what the last one leads to.
func (r *reader) follow(n *schema.Node) (*schema.Node, bool) {
	seen := map[*schema.Node]bool{}
	target, found := n, false
	for !seen[n] {
		seen[n] = true
		if goType(n) != nil {
			return n, true
		}
		next, byRef := r.step(n)
		if next == nil {
			return target, found
		}
		if n = next; byRef {
			target, found = n, true
		}
	}
	return n, false // in a circle: shape reports it
}

func (r *reader) step(n *schema.Node) (next *schema.Node, byRef bool) {
	if ref := n.Get("$ref"); ref != nil && r.dialect(n) == schema.Draft7 {
		return r.referred(n, ref), true // what stands beside it means nothing
	}
	for i := range n.Members {
		m := &n.Members[i]
		k, known := r.keywords[m.Key]
		switch {
		case (m.Key == "$ref" || m.Key == "$dynamicRef" && k.means(r.dialect(n))) && next == nil:
			if next, byRef = r.referred(n, m.Value), true; next == nil {
				return nil, false
			}
		case r.only(m) != nil && next == nil:
			next = r.only(m)
		case !known || k.note || Remarks[m.Key]:
		default:
			return nil, false
		}
	}
	return next, byRef
}

// referred returns what the reference in n leads to, unless that is of the meta-schema.
func (r *reader) referred(n, ref *schema.Node) *schema.Node {
	target, _ := r.follows(ref)
	if target != nil && r.meta(target) && !r.meta(n) {
		return nil
	}
	return target
}

// only returns the one schema that an allOf, anyOf or oneOf leaves; nil if there are more.
func (r *reader) only(m *schema.Member) *schema.Node {
	var only *schema.Node
	switch m.Key {
	case "allOf", "anyOf", "oneOf":
		for _, n := range m.Value.Items {
			if m.Key != "allOf" && r.void(n) {
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

// Remarks are the keywords that are read and still say nothing about which values are allowed.
var Remarks = map[string]bool{"title": true, "description": true, "deprecated": true, "default": true}
