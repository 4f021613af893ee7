package schema

import (
	"slices"
	"strings"
)

// EachSchema returns n after applying edit to it and to each schema below it, or n itself if that changed nothing. edit returns its argument
// or a changed copy.
func EachSchema(n *Node, edit func(*Node) *Node) *Node {
	if n.Kind != Object {
		return n
	}
	c := edit(n)
	for i := range c.Members {
		m := c.Members[i]
		if v := eachSchemaIn(m.Value, keywords[m.Key], edit); v != m.Value {
			c = c.ownedBy(n)
			c.Members[i].Value = v
		}
	}
	return c
}

// eachSchemaIn applies EachSchema to the schemas in the value of a keyword.
func eachSchemaIn(v *Node, f form, edit func(*Node) *Node) *Node {
	switch f {
	case formSchema:
		return EachSchema(v, edit)
	case formItems, formSchemas, formSchemaMap, formPatternMap, formDependencies:
	default:
		return v
	}
	if f == formItems && v.Kind == Object {
		return EachSchema(v, edit)
	}
	c := v
	for i := range v.Members {
		if s := EachSchema(v.Members[i].Value, edit); s != v.Members[i].Value {
			c = c.ownedBy(v)
			c.Members[i].Value = s
		}
	}
	for i, item := range v.Items {
		if s := EachSchema(item, edit); s != item {
			c = c.ownedBy(v)
			c.Items[i] = s
		}
	}
	return c
}

// ownedBy returns n if it is a copy of original already, else a copy that may be changed.
func (n *Node) ownedBy(original *Node) *Node {
	if n != original {
		return n
	}
	c := *n
	c.Members, c.Items = slices.Clone(n.Members), slices.Clone(n.Items)
	return &c
}

// withRefs returns n with each of its references changed by change, and without those for which change returns nil. original is the node that n may
// be a copy of.
func (n *Node) withRefs(original *Node, change func(*Node) *Node) *Node {
	var gone []string
	for i, m := range n.Members {
		if !isReference(m.Key) || m.Value.Kind != String {
			continue
		}
		switch v := change(m.Value); v {
		case m.Value:
		case nil:
			gone = append(gone, m.Key)
		default:
			n = n.ownedBy(original)
			n.Members[i].Value = v
		}
	}
	return n.without(gone...)
}

// without returns n without the members of these keys, or n itself if it has none.
func (n *Node) without(keys ...string) *Node {
	gone := func(m Member) bool { return slices.Contains(keys, m.Key) }
	if !slices.ContainsFunc(n.Members, gone) {
		return n
	}
	c := *n
	c.Members = slices.DeleteFunc(slices.Clone(n.Members), gone)
	return &c
}

// withText returns n with another text, or n itself if it has that.
func (n *Node) withText(text string) *Node {
	if text == n.Text {
		return n
	}
	c := *n
	c.Text = text
	return &c
}

// moved returns a copy of n and all below it, in whose pointers to replaces from. It keeps the positions.
func (n *Node) moved(from, to string) *Node {
	c := *n
	c.Pointer = to + strings.TrimPrefix(n.Pointer, from)
	c.Members, c.Items = slices.Clone(n.Members), slices.Clone(n.Items)
	for i := range c.Members {
		c.Members[i].Value = c.Members[i].Value.moved(from, to)
	}
	for i := range c.Items {
		c.Items[i] = c.Items[i].moved(from, to)
	}
	return &c
}
