package check

import (
	"bytes"
	"encoding/binary"
	"hash/maphash"
)

// keySet finds repeated keys among those that no rule names. Up to fewKeys of an object are compared one by one; the
// rest go into one hash table for the whole text. It is seeded, so that chosen keys can not make it slow (VAL07).
type keySet struct {
	list  []keyRef // keys of the open objects, innermost last
	seed  maphash.Seed
	table []keyRef // open addressing; a power of two
	used  int
}

// keyRef is one key: its text and the object it belongs to (by the offset of the bracket, which is unique).
type keyRef struct {
	sign uint64 // its signature, or the hash
	span
	filled bool
	object int32
}

const fewKeys = 16 // measured: comparing 16 signatures costs less than hashing one key and storing it

func (k *keySet) reset() {
	k.list = k.list[:0]
	if k.used > 0 {
		clear(k.table)
		k.used = 0
	}
}

// hash is seeded when it is first asked for: few texts need it.
func (k *keySet) hash(b []byte) uint64 {
	if k.seed == (maphash.Seed{}) {
		k.seed = maphash.MakeSeed()
	}
	return maphash.Bytes(k.seed, b)
}

// unknownKey records the current key of f and reports it if the object has it already. One bit tells whether any key
// before may be the same.
func (d *Decoder) unknownKey(f *frame, sign uint64) {
	if d.scanned {
		return
	}
	k := &d.keys
	bit := uint64(1) << (sign * spread >> 58)
	if f.unknown&bit != 0 && d.isRepeated(f, sign) {
		d.repeatedKey(f)
		return
	}
	f.unknown |= bit
	if n := len(k.list); n-int(f.keys) >= fewKeys {
		d.oneOfManyKeys(f)
	} else if n < cap(k.list) {
		k.list = k.list[:n+1]
		k.list[n] = keyRef{sign: sign, span: f.key}
	} else {
		k.list = append(k.list, keyRef{sign: sign, span: f.key})
	}
}

// isRepeated looks at the list only.
func (d *Decoder) isRepeated(f *frame, sign uint64) bool {
	few := d.keys.list[f.keys:]
	for i := range few {
		if few[i].sign == sign && (sign&long == 0 || d.sameKey(few[i].span, d.value(f.key))) {
			return true
		}
	}
	return false
}

func (d *Decoder) sameKey(s span, value []byte) bool { return bytes.Equal(d.value(s), value) }

// oneOfManyKeys is unknownKey where the list of the object is full.
func (d *Decoder) oneOfManyKeys(f *frame) {
	name := d.value(f.key)
	hash := d.keys.hash(name) ^ uint64(uint32(f.start))*spread
	if !d.insertKey(keyRef{sign: hash, span: f.key, object: f.start, filled: true}, name) {
		d.repeatedKey(f)
	}
}

// insertKey is false when the table has the key.
func (d *Decoder) insertKey(ref keyRef, value []byte) bool {
	k := &d.keys
	if 2*k.used >= len(k.table) {
		k.grow()
	}
	mask := uint64(len(k.table) - 1)
	for i := ref.sign & mask; ; i = (i + 1) & mask {
		e := &k.table[i]
		if !e.filled {
			*e = ref
			k.used++
			return true
		}
		if e.sign == ref.sign && e.object == ref.object && d.sameKey(e.span, value) {
			// A second look at the same text (a trial, a discriminator) finds the key itself.
			return e.span.start == ref.span.start
		}
	}
}

func (k *keySet) grow() {
	old := k.table
	k.table = make([]keyRef, max(64, 2*len(old)))
	mask := uint64(len(k.table) - 1)
	for _, e := range old {
		if !e.filled {
			continue
		}
		i := e.sign & mask
		for k.table[i].filled {
			i = (i + 1) & mask
		}
		k.table[i] = e
	}
}

// long marks the signatures that several keys may share.
const long = 1 << 63

// signature tells keys apart: below eight bytes all, above most.
func signature(key []byte) uint64 {
	if len(key) >= 8 {
		return longSignature(key)
	}
	var w [8]byte
	return shortSignature(&w, copy(w[:], key))
}

// shortSignature is that of the first n bytes of w, fewer than eight.
func shortSignature(w *[8]byte, n int) uint64 {
	return binary.LittleEndian.Uint64(w[:])&(1<<(8*n&63)-1) | uint64(n)<<56
}

func longSignature(key []byte) uint64 {
	return binary.LittleEndian.Uint64(key) ^ binary.LittleEndian.Uint64(key[len(key)-8:])<<1 ^ uint64(len(key))<<56 | long
}
