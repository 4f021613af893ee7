package schema

import (
	"errors"
	"strconv"
	"strings"
	"sync"
)

// treeSize is how many nodes below its root, members and so on one tree has, and how many bytes when packed.
type treeSize struct{ nodes, members, items, pointers, bytes int }

// Packed holds what Pack wrote.
type Packed struct {
	texts []string
	files map[string]string // each tree after its size
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
	p.files = make(map[string]string, n)
	for range n {
		name := r.text(p.texts)
		p.files[name] = r.sized()
	}
	if r.broken || r.rest != "" {
		return nil, errNotPacked
	}
	return p, nil
}

// Unpack returns the tree of one file, a new one for each call; nil if there is no such file. It panics if the tree was not written by Pack.
func (p *Packed) Unpack(file string) *Node {
	root := p.root(file)
	for _, key := range definitionKeys {
		for _, m := range root.Get(key).members() {
			if m.Value.Kind == packedNode {
				p.unpack(m.Value)
			}
		}
	}
	return root
}

// Document returns the schema in one file, a new one for each call; nil if there is no such file. A definition is unpacked when a method of the
// Document first needs it. What is below Root is whole only after Definitions: before, Walk and JSON panic. Nothing in the definitions may name a
// schema by $id or an anchor, be x-sensitive, or refer to the meta-schema.
func (p *Packed) Document(file string) *Document {
	root := p.root(file)
	if root == nil {
		return nil
	}
	d, _ := NewDocument(root.without(definitionKeys[:]...), nil)
	d.Root, d.ids.resources[0].node = root, root
	d.packed = &packedDefinitions{from: p}
	return d
}

// root returns the tree of one file, with its definitions still packed.
func (p *Packed) root(file string) *Node {
	tree, ok := p.files[file]
	if !ok {
		return nil
	}
	root := &Node{Kind: packedNode, Pos: Position{File: file}, Text: tree}
	p.unpack(root)
	return root
}

// unpack unpacks all definitions that are still packed, for those who look at the whole tree.
func (d *Document) unpack() {
	if d.packed != nil {
		d.Definitions()
	}
}

// packedDefinitions unpacks the definitions of one document.
type packedDefinitions struct {
	mu   sync.Mutex
	from *Packed
}

// unpack unpacks a definition that is still packed. p and n may be nil.
func (p *packedDefinitions) unpack(n *Node) {
	if p == nil || n == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if n.Kind == packedNode {
		p.from.unpack(n)
	}
}

// packedNode is the kind of a node whose tree is still packed: its Text is that tree after its size, and only its place is known.
const packedNode Kind = packedKind

// mustBeUnpacked panics where somebody would take a definition that is still packed for an empty one.
func (n *Node) mustBeUnpacked() {
	if n.Kind == packedNode {
		panic("schema: " + n.Pointer + " is still packed: call Document.Definitions first")
	}
}

// unpack replaces a node that is still packed by its tree.
func (p *Packed) unpack(n *Node) {
	u := unpacker{packedReader: packedReader{rest: n.Text}, texts: p.texts, file: n.Pos.File}
	size := u.size()
	u.nodes, u.members, u.items = make([]Node, size.nodes), make([]Member, size.members), make([]*Node, size.items)
	u.pointers.Grow(size.pointers)
	n.Text = ""
	u.tree(n)
	if u.broken || u.rest != "" || len(u.nodes)+len(u.members)+len(u.items) > 0 {
		panic(errNotPacked)
	}
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

func (r *packedReader) size() (s treeSize) {
	for _, to := range [...]*int{&s.nodes, &s.members, &s.items, &s.pointers, &s.bytes} {
		*to = r.number()
	}
	return s
}

// sized takes a tree and the size before it.
func (r *packedReader) sized() string {
	whole := r.rest
	r.take(r.size().bytes)
	return whole[:len(whole)-len(r.rest)]
}

// unpacker makes the nodes of one tree.
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

// tree reads n, whose pointer is known, and what is below it.
func (u *unpacker) tree(n *Node) {
	head := u.number()
	n.Kind, n.Plain, n.Date, n.Pos = Kind(head&packedKind), head&packedPlain != 0, head&packedDate != 0, u.position()
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
			m.Value = u.below(n, EscapeToken(m.Key))
			if head&packedApart != 0 {
				m.Value.Kind, m.Value.Pos.File, m.Value.Text = packedNode, u.file, u.sized()
			} else {
				u.tree(m.Value)
			}
		}
	case Array:
		size := u.number()
		if size > 0 {
			n.Items, u.items = u.items[:size:size], u.items[size:]
		}
		for i := range n.Items {
			n.Items[i] = u.below(n, strconv.Itoa(i))
			u.tree(n.Items[i])
		}
	default:
		n.Text = u.text(u.texts)
	}
}

// below returns the next node, with the pointer of a token below n.
func (u *unpacker) below(above *Node, token string) *Node {
	from := u.pointers.Len()
	u.pointers.WriteString(above.Pointer)
	u.pointers.WriteByte('/')
	u.pointers.WriteString(token)
	n := &u.nodes[0]
	u.nodes = u.nodes[1:]
	n.Pointer = u.pointers.String()[from:]
	return n
}
