package schema

import (
	"encoding/binary"
	"slices"
	"strings"
)

// Pack writes trees of nodes so that Unpack reads them many times faster than Parse reads text: each text is written once, and the sizes of all
// slices come before their elements. Names and positions of the files are kept.
//
//	texts: count, length of each, all of them in a row
//	files: count, then for each its name, the size of its tree, and the tree from its root on
//
// Numbers are varints; a text is written as its index in texts. Pointers follow from the tree. Definitions are trees of their own, each with its
// size, so that Document can leave out those that nobody asks for.
func Pack(roots ...*Node) []byte {
	p := packer{numbers: map[string]int{}}
	for _, root := range roots {
		p.file(root)
	}
	var b []byte
	b = binary.AppendUvarint(b, uint64(len(p.texts)))
	for _, t := range p.texts {
		b = binary.AppendUvarint(b, uint64(len(t)))
	}
	b = append(b, strings.Join(p.texts, "")...)
	b = binary.AppendUvarint(b, uint64(len(roots)))
	return append(b, p.out...)
}

// packer collects what Pack writes.
type packer struct {
	numbers     map[string]int // of the texts
	texts       []string
	out         []byte
	line        int32    // of the last position
	definitions [2]*Node // the objects that hold the definitions of the file
}

func (p *packer) number(i int) { p.out = binary.AppendUvarint(p.out, uint64(i)) }

func (p *packer) text(s string) {
	n, known := p.numbers[s]
	if !known {
		n = len(p.texts)
		p.numbers[s], p.texts = n, append(p.texts, s)
	}
	p.number(n)
}

// position writes a line as its distance from the last one, which is small: nodes come in the order of the text, except for those that a YAML alias
// names. The lowest bit is the sign.
func (p *packer) position(pos Position) {
	distance := pos.Line - p.line
	p.number(int(uint32(distance<<1 ^ distance>>31)))
	p.number(int(pos.Column))
	p.line = pos.Line
}

func (p *packer) file(root *Node) {
	p.text(root.Pos.File)
	for i, key := range definitionKeys {
		p.definitions[i] = root.Get(key)
	}
	p.sized(root)
}

// sized writes a tree after its size.
func (p *packer) sized(root *Node) {
	size := p.size(root)
	outer, line := p.out, p.line
	p.out, p.line = nil, 0
	p.tree(root)
	tree := p.out
	size.bytes = len(tree)
	p.out, p.line = outer, line
	for _, n := range []int{size.nodes, size.members, size.items, size.pointers, size.bytes} {
		p.number(n)
	}
	p.out = append(p.out, tree...)
}

func (p *packer) size(root *Node) (s treeSize) {
	root.Walk(func(n *Node) bool {
		if n != root {
			s.nodes, s.pointers = s.nodes+1, s.pointers+len(n.Pointer)
		}
		s.members, s.items = s.members+len(n.Members), s.items+len(n.Items)
		if !p.divides(n) {
			return true
		}
		for i := range n.Members {
			s.nodes, s.pointers = s.nodes+1, s.pointers+len(n.Members[i].Value.Pointer)
		}
		return false
	})
	return s
}

// divides reports whether the values of n are trees of their own.
func (p *packer) divides(n *Node) bool {
	return n.Kind == Object && slices.Contains(p.definitions[:], n)
}

// tree writes a node and what is below it.
func (p *packer) tree(n *Node) {
	head := int(n.Kind)
	if n.Plain {
		head |= packedPlain
	}
	if n.Date {
		head |= packedDate
	}
	value := p.tree
	if p.divides(n) {
		head |= packedApart
		value = p.sized
	}
	p.number(head)
	p.position(n.Pos)
	switch n.Kind {
	case Object:
		p.number(len(n.Members))
		for _, m := range n.Members {
			p.text(m.Key)
			p.position(m.KeyPos)
			value(m.Value)
		}
	case Array:
		p.number(len(n.Items))
		for _, item := range n.Items {
			p.tree(item)
		}
	default:
		p.text(n.Text)
	}
}

// The bits of the first number of a packed node: its kind and three flags.
const (
	packedKind  = 1<<3 - 1
	packedPlain = 1 << 3
	packedDate  = 1 << 4
	packedApart = 1 << 5 // its values are trees of their own
)
