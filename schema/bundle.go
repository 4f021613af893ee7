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
	d.unpack()
	root := b.copy(d.Root, d, "")
	var moved []Member
	for i := 0; i < len(b.queue); i++ {
		s := b.queue[i]
		n := b.copy(s.Root, s, b.reference(b.names[s]))
		moved = append(moved, Member{Key: b.names[s], KeyPos: s.Root.Pos, Value: n.without("$schema")})
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
// the reference that replaces "#" in it.
func (b *bundler) copy(n *Node, home *Document, self string) *Node {
	return EachSchema(n, func(n *Node) *Node {
		return n.withoutOwn().withRefs(n, func(v *Node) *Node { return b.ref(v, home, self) })
	})
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
	return v.withText(text)
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
