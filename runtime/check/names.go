package check

import (
	"encoding/binary"
	"math/bits"
	"sync/atomic"
)

// nameTable finds the index of a name: Next tries the names that are expected, then the signature is looked up (open addressing).
type nameTable struct {
	after []followers // by index + 1; [0]: what begins an object
	names []name
	shift uint       // makes a slot's index of a hash with 64 bits
	slots []nameSlot // a power of two, at least twice the names
	rule  *Object

	required     uint64   // of the first 64 names: a bit each
	requiredMore []uint64 // of the others, 64 a word; empty where none of them is required
}

// followers are the first two names that texts had after a name, and so the names that are expected there; nil: not known yet.
type followers struct{ first, second atomic.Pointer[name] }

// name is a name with its quotes and colon, as texts have it, in words of eight bytes: the first two and the last one.
type name struct {
	words      [3]uint64
	masks      [2]uint64 // of the first two words
	last       int32     // where the last word begins, 0 when there are only two
	reads      int32     // how many bytes of text a comparison reads, at least 16
	bit        uint64    // in a word of seen bits
	index      int32
	length     int32 // without quotes and colon
	null       bool  // the member accepts null
	expectable bool  // it has no escapes and no more than three words, and its bit is in frame.seen
}

type nameSlot struct {
	sign  uint64
	index int32 // Other: empty
}

// noSign is the signature of no key: without the bit long, the upper byte of a signature is the length of a key, below 8. Here it is 0x7f.
const noSign = long - 1

// names returns the table, which is made on first use, maybe by several goroutines at once: all make an equal one.
func (r *Object) names() *nameTable {
	if t := r.table.Load(); t != nil {
		return t
	}
	return r.makeNames()
}

func (r *Object) makeNames() *nameTable {
	size := uint(bits.Len(uint(2 * len(r.Names))))
	t := &nameTable{
		after: make([]followers, len(r.Names)+1),
		names: make([]name, len(r.Names)),
		shift: 64 - size,
		slots: make([]nameSlot, 1<<size),
		rule:  r,
	}
	for i := range t.slots {
		t.slots[i] = nameSlot{sign: noSign, index: Other}
	}
	for i, n := range r.Names {
		t.insert(n, i)
		t.names[i].set(n, i)
	}
	for _, n := range r.Nullable {
		t.names[t.find([]byte(n))].null = true
	}
	for _, n := range r.Required {
		t.require(t.find([]byte(n)))
	}
	r.table.Store(t)
	return t
}

func (t *nameTable) require(i int) {
	if i < 64 {
		t.required |= 1 << i
		return
	}
	for len(t.requiredMore) < i/64 {
		t.requiredMore = append(t.requiredMore, 0)
	}
	t.requiredMore[i/64-1] |= 1 << (i & 63)
}

func (t *nameTable) insert(name string, index int) {
	sign := signature([]byte(name))
	mask := len(t.slots) - 1
	i := int(sign * spread >> t.shift)
	for t.slots[i&mask].index != Other {
		i++
	}
	t.slots[i&mask] = nameSlot{sign: sign, index: int32(index)}
}

func (n *name) set(text string, index int) {
	n.index, n.length = int32(index), int32(len(text))
	n.bit = 1 << (index & 63)
	written := `"` + text + `":`
	if n.expectable = index < 64 && len(written) <= 24 && plainEnd([]byte(text), 0) == len(text); !n.expectable {
		return
	}
	n.word(0, written)
	n.word(1, written[min(8, len(written)):])
	if n.reads = 16; len(written) > 16 {
		n.last, n.reads = int32(len(written)-8), int32(len(written))
		n.words[2] = binary.LittleEndian.Uint64([]byte(written[n.last:]))
	}
}

func (n *name) word(w int, text string) {
	for i := range min(8, len(text)) {
		n.words[w] |= uint64(text[i]) << (8 * i)
		n.masks[w] |= 0xff << (8 * i)
	}
}

// begins reports whether the text at i, of at least n.reads bytes, begins with the name. It is small enough to be inlined.
func (n *name) begins(data []byte, i int) bool {
	text := data[i : i+16 : i+16]
	if (binary.LittleEndian.Uint64(text[:8])^n.words[0])&n.masks[0]|(binary.LittleEndian.Uint64(text[8:])^n.words[1])&n.masks[1] != 0 {
		return false
	}
	return n.last == 0 || n.ends(data, i)
}

// ends is like begins, for the last word of a name that has more than two.
func (n *name) ends(data []byte, i int) bool {
	return binary.LittleEndian.Uint64(data[i+int(n.last):]) == n.words[2]
}

// spread is 2^64 divided by the golden ratio: its upper bits depend on all bytes of a signature.
const spread = 0x9e3779b97f4a7c15

// expected returns the name that is expected after the one with that index, nil if none is.
func (t *nameTable) expected(after int32) *name {
	if i := int(after) + 1; uint(i) < uint(len(t.after)) {
		return t.after[i].first.Load()
	}
	return nil
}

// otherwise returns the name that is expected where the first one does not come: in texts of another order, or where a member is missing.
func (t *nameTable) otherwise(after int32) *name {
	if i := int(after) + 1; uint(i) < uint(len(t.after)) {
		return t.after[i].second.Load()
	}
	return nil
}

// expect records that the name with index i follows the one with index after. Only the first two followers are recorded, so that clients with
// different orders do not write to the table all the time.
func (t *nameTable) expect(after int32, i int) {
	n := &t.names[i]
	if after == Other || !n.expectable {
		return
	}
	switch next := &t.after[after+1]; {
	case next.first.Load() == nil:
		next.first.Store(n)
	case next.second.Load() == nil && next.first.Load() != n:
		next.second.Store(n)
	}
}

// index is lookup for the current key, with that signature; t is f.names. It repeats the code of lookup because the key's text, which may have to be
// unescaped, is needed only if the key is long.
func (d *Decoder) index(f *frame, t *nameTable, sign uint64) int {
	mask := len(t.slots) - 1
	for i := int(sign * spread >> (t.shift & 63)); ; i++ {
		s := &t.slots[i&mask]
		if s.sign == sign && (sign&long == 0 || f.names.rule.Names[s.index] == string(d.value(f.key))) {
			return int(s.index)
		}
		if s.index == Other {
			return Other
		}
	}
}

// find returns the index of a key that has no escapes, or Other.
func (t *nameTable) find(key []byte) int {
	return t.lookup(signature(key), key)
}

// lookup is like find, for a key with that signature. Masking shift tells the compiler that it is less than 64, which saves a check. It is 64 only in
// an empty table, where any slot is right.
func (t *nameTable) lookup(sign uint64, key []byte) int {
	mask := len(t.slots) - 1
	for i := int(sign * spread >> (t.shift & 63)); ; i++ {
		s := &t.slots[i&mask]
		if s.sign == sign && (sign&long == 0 || t.rule.Names[s.index] == string(key)) {
			return int(s.index)
		}
		if s.index == Other {
			return Other
		}
	}
}
