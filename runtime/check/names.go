package check

import "math/bits"

// nameTable finds the index of a name by its signature, in open addressing. It costs the same whatever the order of the
// members and however many names there are: members come in the schema's order, names stand in the alphabet's.
type nameTable struct {
	shift uint
	slots []nameSlot // a power of two, at least twice the names
}

// nameSlot is empty when next is 0.
type nameSlot struct {
	sign   uint64
	length int32
	next   int32 // the index of the name, plus 1
}

const fewNames = 2 // no table for these, so that a rule made for one look at a message stays cheap

func (r *Object) search(name []byte) int {
	for i := range r.Names {
		if r.Names[i] == string(name) {
			return i
		}
	}
	return Other
}

// spread is 2^64 divided by the golden ratio: its upper bits depend on all bytes of a signature.
const spread = 0x9e3779b97f4a7c15

// signed returns the index of the name with that signature, or Other.
func (r *Object) signed(sign uint64, name []byte) int {
	t := r.table.Load()
	if t == nil {
		if len(r.Names) <= fewNames {
			return r.search(name)
		}
		t = r.makeTable()
	}
	mask := len(t.slots) - 1
	for i := int(sign * spread >> (t.shift & 63)); ; i++ {
		s := &t.slots[i&mask]
		if s.next == 0 {
			return Other
		}
		// Below eight bytes the signature is the name.
		if s.sign == sign && int(s.length) == len(name) && (len(name) < 8 || r.Names[s.next-1] == string(name)) {
			return int(s.next - 1)
		}
	}
}

// makeTable may run in several goroutines at once: all make the same table.
func (r *Object) makeTable() *nameTable {
	size := uint(bits.Len(uint(2 * len(r.Names))))
	t := &nameTable{shift: 64 - size, slots: make([]nameSlot, 1<<size)}
	mask := len(t.slots) - 1
	for n, name := range r.Names {
		sign := signature([]byte(name))
		i := int(sign * spread >> t.shift)
		for t.slots[i&mask].next != 0 {
			i++
		}
		t.slots[i&mask] = nameSlot{sign: sign, length: int32(len(name)), next: int32(n + 1)}
	}
	r.table.Store(t)
	return t
}
