package lower

import "github.com/mcpkiln/mcpkiln/schema"

// follow goes along references and allOf of one schema, as long as only annotations stand beside them, and no schema wants a
// type of its own.
func (r *reader) follow(n *schema.Node) (*schema.Node, bool) {
	seen := map[*schema.Node]bool{}
	for !seen[n] {
		seen[n] = true
		if goType(n) != nil {
			return n, true
		}
		next := r.step(n)
		if next == nil {
			return n, len(seen) > 1
		}
		n = next
	}
	return n, false // in a circle: shape reports it
}

func (r *reader) step(n *schema.Node) *schema.Node {
	var next *schema.Node
	if ref := n.Get("$ref"); ref != nil && r.dialect(n) == schema.Draft7 {
		if next, _ = r.follows(ref); next != nil && r.meta(next) && !r.meta(n) {
			return nil
		}
		return next // what stands beside it means nothing
	}
	for i := range n.Members {
		m := &n.Members[i]
		k, known := r.keywords[m.Key]
		switch {
		case (m.Key == "$ref" || m.Key == "$dynamicRef" && k.means(r.dialect(n))) && next == nil:
			if next, _ = r.follows(m.Value); next != nil && r.meta(next) && !r.meta(n) {
				return nil
			}
		case r.only(m) != nil && next == nil:
			next = r.only(m)
		case !known || k.note || remarks[m.Key]:
		default:
			return nil
		}
	}
	return next
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

// remarks are the keywords that are read and still say nothing about which values are allowed.
var remarks = map[string]bool{"title": true, "description": true, "deprecated": true, "default": true}
