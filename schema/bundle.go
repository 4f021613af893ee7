package schema

import (
	"slices"
	"strconv"
	"strings"
)

// Bundle returns the root of d with each shared schema that it reaches moved into its own $defs (definitions in
// draft-07) and the references to them changed, and without the keywords of the generator (IsOwn). Nothing else changes: keys keep
// their order, unknown annotations stay, and a document that has none of these is returned as it is. References that lead nowhere stay as they are.
func (d *Document) Bundle() *Node {
	b := &bundler{doc: d, names: map[*Document]string{}, key: "$defs"}
	if d.Dialect == Draft7 {
		b.key = "definitions"
	}
	root := b.copy(d.Root, d, "")
	var moved []Member
	for i := 0; i < len(b.queue); i++ {
		s := b.queue[i]
		n := b.copy(s.Root, s, b.reference(b.names[s]))
		moved = append(moved, Member{Key: b.names[s], KeyPos: s.Root.Pos, Value: withoutMember(n, "$schema")})
	}
	if len(moved) == 0 {
		return root
	}
	return appendDefinitions(root, b.key, moved)
}

type bundler struct {
	doc   *Document
	key   string
	names map[*Document]string // of the shared schemas that are reached
	queue []*Document
}

// copy returns n with its references rewritten, or n itself if none had to be. home is the document of n, and self
// what "#" of it becomes.
func (b *bundler) copy(n *Node, home *Document, self string) *Node {
	if n.Kind != Object {
		return n
	}
	c := n.withoutOwn()
	for i := range c.Members {
		m := &c.Members[i]
		v := m.Value
		if isReference(m.Key) && v.Kind == String {
			v = b.ref(v, home, self)
		} else {
			v = b.value(v, keywords[m.Key], home, self)
		}
		if v != m.Value {
			c = c.ownedBy(n)
			c.Members[i].Value = v
		}
	}
	return c
}

// value copies the schemas in the value of a keyword.
func (b *bundler) value(v *Node, f form, home *Document, self string) *Node {
	switch f {
	case formSchema:
		return b.copy(v, home, self)
	case formItems, formSchemas, formSchemaMap, formPatternMap, formDependencies:
	default:
		return v
	}
	if f == formItems && v.Kind == Object {
		return b.copy(v, home, self)
	}
	c := v
	for i := range v.Members {
		if s := b.copy(v.Members[i].Value, home, self); s != v.Members[i].Value {
			c = c.ownedBy(v)
			c.Members[i].Value = s
		}
	}
	for i, item := range v.Items {
		if s := b.copy(item, home, self); s != item {
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

func (b *bundler) ref(v *Node, home *Document, self string) *Node {
	res, fragment, ok := home.ids.find(v.Text, v.Pointer)
	if !ok || fragment != "" && fragment[0] != '/' {
		return v
	}
	text := v.Text
	if res.node.Lookup(fragment) != nil {
		if self == "" || v.Text[0] != '#' || res.node != home.Root || res.uri != "" {
			return v
		}
		text = self + text[1:]
	} else if name, _, ok := sharedName(fragment); ok && home.Shared.Get(name) != nil {
		_, raw, _ := strings.Cut(v.Text, "#")
		_, rest, _ := sharedName(raw)
		text = b.reference(b.name(name, home.Shared.Get(name))) + rest
	}
	if text == v.Text {
		return v
	}
	c := *v
	c.Text = text
	return &c
}

func (b *bundler) reference(name string) string {
	return "#" + escapeFragment("/"+b.key+"/"+EscapeToken(name))
}

// name returns the key that a shared schema gets in $defs: its own name, or with a number if that is taken.
func (b *bundler) name(name string, s *Document) string {
	if taken, ok := b.names[s]; ok {
		return taken
	}
	free := name
	for i := 2; b.doc.Root.Get(b.key).Get(free) != nil || b.taken(free); i++ {
		free = name + strconv.Itoa(i)
	}
	b.names[s] = free
	b.queue = append(b.queue, s)
	return free
}

func (b *bundler) taken(name string) bool {
	return slices.ContainsFunc(b.queue, func(s *Document) bool { return b.names[s] == name })
}

func withoutMember(n *Node, key string) *Node {
	if n.Get(key) == nil {
		return n
	}
	c := *n
	c.Members = slices.DeleteFunc(slices.Clone(n.Members), func(m Member) bool { return m.Key == key })
	return &c
}

func appendDefinitions(root *Node, key string, moved []Member) *Node {
	c := *root
	c.Members = slices.Clone(root.Members)
	for i := range c.Members {
		if c.Members[i].Key == key {
			defs := *c.Members[i].Value
			defs.Members = append(slices.Clone(defs.Members), moved...)
			c.Members[i].Value = &defs
			return &c
		}
	}
	defs := &Node{Kind: Object, Pos: root.Pos, Pointer: root.Pointer + "/" + key, Members: moved}
	c.Members = append(c.Members, Member{Key: key, KeyPos: root.Pos, Value: defs})
	return &c
}
