package check

import "math/bits"

// nameTable finds the index of a name by its signature, in open addressing. It costs the same whatever the order of the
// members and however many names there are: members come in the schema's order, names stand in the alphabet's.
type nameTable struct {
	shift uint
	slots []nameSlot // a power of two, at least twice the names
}

type nameSlot struct {
	sign  uint64
	index int32 // Other: empty
}

const noSign = long - 1 // of no key: shorter ones have their length in the upper byte

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

// index returns the index of the current key, which has that signature, or Other.
func (d *Decoder) index(f *frame, sign uint64) int {
	r := f.object
	t := r.table.Load()
	if t == nil {
		if len(r.Names) <= fewNames {
			return r.search(d.value(f.key))
		}
		t = r.makeTable()
	}
	mask := len(t.slots) - 1
	for i := int(sign * spread >> (t.shift & 63)); ; i++ {
		s := &t.slots[i&mask]
		if s.sign == sign && (sign&long == 0 || r.Names[s.index] == string(d.value(f.key))) {
			return int(s.index)
		}
		if s.index == Other {
			return Other
		}
	}
}

// makeTable may run in several goroutines at once: all make the same table.
func (r *Object) makeTable() *nameTable {
	size := uint(bits.Len(uint(2 * len(r.Names))))
	t := &nameTable{shift: 64 - size, slots: make([]nameSlot, 1<<size)}
	mask := len(t.slots) - 1
	for i := range t.slots {
		t.slots[i] = nameSlot{sign: noSign, index: Other}
	}
	for n, name := range r.Names {
		sign := signature([]byte(name))
		i := int(sign * spread >> t.shift)
		for t.slots[i&mask].index != Other {
			i++
		}
		t.slots[i&mask] = nameSlot{sign: sign, index: int32(n)}
	}
	r.table.Store(t)
	return t
}
