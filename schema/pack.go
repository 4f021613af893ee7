package schema

import (
	"encoding/binary"
	"errors"
	"strconv"
	"strings"
)

// Pack writes trees of nodes so that Unpack reads them many times faster than Parse reads text: each text is written once, and the sizes of all
// slices come before their elements. Names and positions of the files are kept.
//
//	texts: count, length of each, all of them in a row
//	files: count, then for each its name, the size of its tree, and the tree from its root on
//
// Numbers are varints; a text is written as its index in texts. Pointers follow from the tree.
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
	numbers map[string]int // of the texts
	texts   []string
	out     []byte
	line    int32 // of the last position
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
	var size treeSize
	root.Walk(func(n *Node) bool {
		size.nodes, size.members, size.items, size.pointers = size.nodes+1, size.members+len(n.Members), size.items+len(n.Items), size.pointers+len(n.Pointer)
		return true
	})
	outer := p.out
	p.out, p.line = nil, 0
	p.tree(root)
	size.bytes = len(p.out)
	tree := p.out
	p.out = outer
	for _, n := range []int{size.nodes, size.members, size.items, size.pointers, size.bytes} {
		p.number(n)
	}
	p.out = append(p.out, tree...)
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
	p.number(head)
	p.position(n.Pos)
	switch n.Kind {
	case Object:
		p.number(len(n.Members))
		for _, m := range n.Members {
			p.text(m.Key)
			p.position(m.KeyPos)
			p.tree(m.Value)
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

// The bits of the first number of a packed node: its kind and two flags.
const (
	packedKind  = 1<<3 - 1
	packedPlain = 1 << 3
	packedDate  = 1 << 4
)

// treeSize is how many nodes, members and so on Unpack allocates for one tree, and how many bytes the tree has when packed.
type treeSize struct{ nodes, members, items, pointers, bytes int }

// Packed holds what Pack wrote.
type Packed struct {
	texts []string
	files map[string]packedFile
}

type packedFile struct {
	size treeSize
	tree string
}

var errNotPacked = errors.New("schema: this is not what Pack writes")

// OpenPacked reads the texts and the list of files that Pack wrote.
func OpenPacked(data string) (*Packed, error) {
	r := packedReader{rest: data}
	p := &Packed{texts: make([]string, r.count())}
	lengths := make([]int, len(p.texts))
	for i := range lengths {
		lengths[i] = r.number()
	}
	for i, n := range lengths {
		p.texts[i] = r.take(n)
	}
	n := r.count()
	p.files = make(map[string]packedFile, n)
	for range n {
		name := r.text(p.texts)
		var f packedFile
		for _, to := range []*int{&f.size.nodes, &f.size.members, &f.size.items, &f.size.pointers, &f.size.bytes} {
			*to = r.number()
		}
		f.tree = r.take(f.size.bytes)
		p.files[name] = f
	}
	if r.broken || r.rest != "" {
		return nil, errNotPacked
	}
	return p, nil
}

// Unpack returns the tree of one file, a new one for each call; nil if there is no such file. It panics if the tree was not written by Pack.
func (p *Packed) Unpack(file string) *Node {
	f, ok := p.files[file]
	if !ok {
		return nil
	}
	u := unpacker{packedReader: packedReader{rest: f.tree}, texts: p.texts, file: file, nodes: make([]Node, f.size.nodes), members: make([]Member, f.size.members), items: make([]*Node, f.size.items)}
	u.pointers.Grow(f.size.pointers)
	root := u.tree("")
	if u.broken || u.rest != "" || len(u.nodes)+len(u.members)+len(u.items) > 0 {
		panic(errNotPacked)
	}
	return root
}

// packedReader reads numbers and texts. After an error broken is set, and it reads zeros.
type packedReader struct {
	rest   string
	broken bool
}

func (r *packedReader) number() int {
	n, shift := 0, 0
	for i := range len(r.rest) {
		c := r.rest[i]
		n |= int(c&0x7f) << shift
		if c < 0x80 {
			r.rest = r.rest[i+1:]
			return n
		}
		if shift += 7; shift > 28 {
			break
		}
	}
	r.rest, r.broken = "", true
	return 0
}

// count reads a number of elements that take at least a byte each.
func (r *packedReader) count() int {
	n := r.number()
	if n > len(r.rest) {
		r.rest, r.broken = "", true
		return 0
	}
	return n
}

func (r *packedReader) take(n int) string {
	if n > len(r.rest) {
		r.rest, r.broken = "", true
		return ""
	}
	taken := r.rest[:n]
	r.rest = r.rest[n:]
	return taken
}

func (r *packedReader) text(texts []string) string {
	if n := r.number(); n < len(texts) {
		return texts[n]
	}
	r.rest, r.broken = "", true
	return ""
}

// unpacker makes the nodes of one file.
type unpacker struct {
	packedReader
	texts    []string
	file     string
	line     int32
	nodes    []Node // the nodes that are not used yet; members and items likewise
	members  []Member
	items    []*Node
	pointers strings.Builder // all pointers, one after the other
}

func (u *unpacker) position() Position {
	distance := uint32(u.number())
	u.line += int32(distance>>1) ^ -int32(distance&1)
	return Position{File: u.file, Line: u.line, Column: int32(u.number())}
}

func (u *unpacker) tree(pointer string) *Node {
	n := &u.nodes[0]
	u.nodes = u.nodes[1:]
	head := u.number()
	n.Kind, n.Plain, n.Date, n.Pos, n.Pointer = Kind(head&packedKind), head&packedPlain != 0, head&packedDate != 0, u.position(), pointer
	switch n.Kind {
	case Object:
		size := u.number()
		if size > 0 {
			n.Members, u.members = u.members[:size:size], u.members[size:]
		}
		for i := range n.Members {
			m := &n.Members[i]
			m.Key = u.text(u.texts)
			m.KeyPos = u.position()
			m.Value = u.tree(u.pointer(pointer, EscapeToken(m.Key)))
		}
	case Array:
		size := u.number()
		if size > 0 {
			n.Items, u.items = u.items[:size:size], u.items[size:]
		}
		for i := range n.Items {
			n.Items[i] = u.tree(u.pointer(pointer, strconv.Itoa(i)))
		}
	default:
		n.Text = u.text(u.texts)
	}
	return n
}

// pointer is the pointer of a token below the pointer above.
func (u *unpacker) pointer(above, token string) string {
	from := u.pointers.Len()
	u.pointers.WriteString(above)
	u.pointers.WriteByte('/')
	u.pointers.WriteString(token)
	return u.pointers.String()[from:]
}
