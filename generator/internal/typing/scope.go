package typing

import (
	"slices"
	"strings"

	"github.com/mcpkiln/mcpkiln/schema"
)

// The target of a $dynamicRef depends on the way to the $dynamicRef (doc.go): the target is in the outermost schema resource on that way that has the
// anchor. All ways are known here, so each resource is copied once for each way that makes a difference, and in a copy every
// reference has one target. Copies keep positions and pointers. Documents in which no anchor is in two resources
// are not copied.

// scopes holds the copies.
type scopes struct {
	types     *Types
	ambiguous map[*schema.Document]map[string]bool // anchors that more than one resource has
	copies    map[string]*scoped                   // by resource and way
	of        map[*schema.Node]origin              // of copied nodes
}

// origin is where a copied node comes from.
type origin struct {
	node *schema.Node
	in   *scoped
}

// scoped is a copy of a resource.
type scoped struct {
	way   []*schema.Node // resources with ambiguous anchors, outermost first
	nodes map[*schema.Node]*schema.Node
}

// enter returns the copy of n, the schema at which validation of a value begins.
func (r *reader) enter(n *schema.Node) *schema.Node {
	if len(r.ambiguousAnchors()) == 0 {
		return n
	}
	return r.copyOf(n, nil)
}

// ambiguousAnchors returns the anchors of the document that a $dynamicRef may find in more than one resource.
func (r *reader) ambiguousAnchors() map[string]bool {
	ambiguous, ok := r.scopes.ambiguous[r.doc]
	if ok {
		return ambiguous
	}
	ambiguous = map[string]bool{}
	last := map[string]*schema.Node{}
	visit := func(n *schema.Node) bool {
		if a := n.Get("$dynamicAnchor"); a.Is(schema.String) {
			home := r.resource(n)
			ambiguous[a.Text] = ambiguous[a.Text] || last[a.Text] != nil && last[a.Text] != home
			last[a.Text] = home
		}
		return true
	}
	r.doc.Root.Walk(visit)
	if r.doc.Meta != nil {
		r.doc.Meta.Root.Walk(visit)
	}
	for name, isAmbiguous := range ambiguous {
		if !isAmbiguous {
			delete(ambiguous, name)
		}
	}
	r.scopes.ambiguous[r.doc] = ambiguous
	return ambiguous
}

// resource returns the schema with an $id that n is in, or the root.
func (r *reader) resource(n *schema.Node) *schema.Node {
	home, d := r.doc.Resolve("#", n)
	if d != nil {
		return r.doc.Root
	}
	return home
}

// anchored returns the schema that a resource has under a dynamic anchor, or nil.
func (r *reader) anchored(resource *schema.Node, name string) *schema.Node {
	n, d := r.doc.Resolve("#"+name, resource)
	if d != nil || !n.Get("$dynamicAnchor").Is(schema.String) || n.Get("$dynamicAnchor").Text != name {
		return nil
	}
	return n
}

// targetOf returns the target of a $ref or $dynamicRef: in a copy, if ref is in one.
func (r *reader) targetOf(ref *schema.Node) (*schema.Node, *schema.Diagnostic) {
	from, copied := r.scopes.of[ref]
	if !copied {
		return r.doc.Resolve(ref.Text, ref)
	}
	target, d := r.doc.Resolve(ref.Text, from.node)
	if d != nil {
		return nil, d
	}
	if strings.HasSuffix(ref.Pointer, "/$dynamicRef") {
		target = r.outermost(target, ref.Text, from.in.way)
	}
	return r.copyOf(target, from.in.way), nil
}

// outermost returns the schema that the first resource on the way has for the dynamic anchor that target has.
func (r *reader) outermost(target *schema.Node, ref string, way []*schema.Node) *schema.Node {
	_, name, _ := strings.Cut(ref, "#")
	if a := target.Get("$dynamicAnchor"); !a.Is(schema.String) || a.Text != name {
		return target
	}
	for _, resource := range way {
		if n := r.anchored(resource, name); n != nil {
			return n
		}
	}
	return target
}

// copyOf returns the copy of n for that way.
func (r *reader) copyOf(n *schema.Node, way []*schema.Node) *schema.Node {
	return r.copyResource(r.resource(n), way).nodes[n]
}

func (r *reader) copyResource(home *schema.Node, way []*schema.Node) *scoped {
	way = r.extendWay(way, home)
	key := r.scopes.types.id(home)
	for _, n := range way {
		key += " " + r.scopes.types.id(n)
	}
	s := r.scopes.copies[key]
	if s == nil {
		s = &scoped{way: way, nodes: map[*schema.Node]*schema.Node{}}
		r.scopes.copies[key] = s
		r.copyNode(s, home, home)
	}
	return s
}

// extendWay appends home to the way if it has an anchor that no resource before it has.
func (r *reader) extendWay(way []*schema.Node, home *schema.Node) []*schema.Node {
	for name := range r.ambiguousAnchors() {
		has := func(n *schema.Node) bool { return r.anchored(n, name) != nil }
		if has(home) && !slices.ContainsFunc(way, has) {
			return append(slices.Clip(way), home)
		}
	}
	return way
}

// copyNode copies n, which belongs to home. Resources below it are copied for the way through home.
func (r *reader) copyNode(s *scoped, home, n *schema.Node) *schema.Node {
	if n != home && n.Kind == schema.Object && n.Get("$id").Is(schema.String) && r.resource(n) == n {
		inner := r.copyResource(n, s.way)
		for from, to := range inner.nodes {
			s.nodes[from] = to
		}
		return inner.nodes[n]
	}
	c := *n
	s.nodes[n] = &c
	r.scopes.of[&c] = origin{n, s}
	c.Members = slices.Clone(n.Members)
	for i := range c.Members {
		c.Members[i].Value = r.copyNode(s, home, c.Members[i].Value)
	}
	c.Items = slices.Clone(n.Items)
	for i := range c.Items {
		c.Items[i] = r.copyNode(s, home, c.Items[i])
	}
	return &c
}
