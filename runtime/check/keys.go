package check

import (
	"bytes"
	"encoding/binary"
	"hash/maphash"
)

// keySet finds repeated keys among those that no rule names. Up to fewKeys of an object are compared one by one; the
// rest are found by a hash, which is seeded, so that chosen keys can not make it slow (VAL07). Only the keys of open
// objects are kept, so that they are few compared with the text.
type keySet struct {
	list  []keyRef // the first keys of the open objects, innermost last; after fewKeys of one object, a keyRef whose start is where its others begin in many
	seed  maphash.Seed
	many  []hashedKey // the other keys of the open objects, innermost last
	table []int32     // their indexes plus one, by hash; open addressing, a power of two
}

// keyRef is one of the first keys of an object.
type keyRef struct {
	sign uint64
	span
}

// hashedKey is one of the other keys of an object: 8 bytes, because a text may have millions.
type hashedKey struct {
	hash  uint32
	start int32 // of the key's text; its complement (^), which is negative, if the text has escapes
}

const fewKeys = 16 // measured: comparing 16 signatures costs less than hashing one key and storing it

// hash returns the hash of b. The seed is made on first use: few texts need it.
func (k *keySet) hash(b []byte) uint64 {
	if k.seed == (maphash.Seed{}) {
		k.seed = maphash.MakeSeed()
	}
	return maphash.Bytes(k.seed, b)
}

// unknownKey records the current key of f, which no rule names, and reports it if the object has it already. A bit of f.unknown
// says whether any earlier key may be the same.
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

// isRepeated reports whether one of the first keys is the same as the current one.
func (d *Decoder) isRepeated(f *frame, sign uint64) bool {
	few := d.keys.list[f.keys:]
	for i := range few[:min(len(few), fewKeys)] {
		if few[i].sign == sign && (sign&long == 0 || d.sameKey(few[i].span, d.value(f.key))) {
			return true
		}
	}
	return false
}

func (d *Decoder) sameKey(s span, value []byte) bool { return bytes.Equal(d.value(s), value) }

// oneOfManyKeys is unknownKey for an object that has fewKeys keys in the list already.
func (d *Decoder) oneOfManyKeys(f *frame) {
	k := &d.keys
	if len(k.list)-int(f.keys) == fewKeys {
		k.list = append(k.list, keyRef{span: span{start: int32(len(k.many))}})
	}
	name := d.value(f.key)
	key := hashedKey{hash: uint32(k.hash(name)), start: f.key.start}
	if f.key.escaped {
		key.start = ^key.start
	}
	if !d.insertKey(key, int(k.list[int(f.keys)+fewKeys].start), name) {
		d.repeatedKey(f)
	}
}

// insertKey inserts a key, or returns false if the object, whose keys begin at first in keySet.many, has it.
func (d *Decoder) insertKey(key hashedKey, first int, name []byte) bool {
	k := &d.keys
	if 4*len(k.many) >= 3*len(k.table) {
		d.countScratch(len(k.table) * (sizeOf[int32]() + sizeOf[hashedKey]()))
		k.grow()
	}
	mask := uint32(len(k.table) - 1)
	i := key.hash & mask
	for ; k.table[i] != 0; i = (i + 1) & mask {
		at := int(k.table[i]) - 1
		if other := k.many[at]; at >= first && other.hash == key.hash && d.isKey(other, name) {
			return false
		}
	}
	k.many = append(k.many, key)
	k.table[i] = int32(len(k.many))
	return true
}

// isKey reports whether the key has this name.
func (d *Decoder) isKey(k hashedKey, name []byte) bool {
	s := span{start: max(k.start, ^k.start), escaped: k.start < 0}
	s.end = int32(quoteAfter(d.full, int(s.start)))
	return d.sameKey(s, name)
}

func (k *keySet) grow() {
	k.table = make([]int32, max(64, 2*len(k.table)))
	mask := uint32(len(k.table) - 1)
	for at, key := range k.many {
		i := key.hash & mask
		for k.table[i] != 0 {
			i = (i + 1) & mask
		}
		k.table[i] = int32(at) + 1
	}
}

// forget drops the keys of f, which is the innermost object.
func (k *keySet) forget(f *frame) {
	if others := int(f.keys) + fewKeys; len(k.list) > others {
		k.truncate(int(k.list[others].start))
	}
	k.list = k.list[:f.keys]
}

// truncate forgets all but the first n hashed keys. They leave the table in reverse order, so that it becomes
// what it was before.
func (k *keySet) truncate(n int) {
	mask := uint32(len(k.table) - 1)
	for len(k.many) > n {
		last := len(k.many)
		i := k.many[last-1].hash & mask
		for k.table[i] != int32(last) {
			i = (i + 1) & mask
		}
		k.table[i] = 0
		k.many = k.many[:last-1]
	}
}

// long is the bit that a signature has if several keys may share it: those of eight bytes or more.
const long = 1 << 63

// signature tells keys apart: all of fewer than eight bytes, and most others.
func signature(key []byte) uint64 {
	if len(key) >= 8 {
		return longSignature(key)
	}
	var w [8]byte
	return shortSignature(&w, copy(w[:], key))
}

// shortSignature returns the signature of the first n bytes of w, fewer than eight.
func shortSignature(w *[8]byte, n int) uint64 {
	return binary.LittleEndian.Uint64(w[:])&(1<<(8*n&63)-1) | uint64(n)<<56
}

func longSignature(key []byte) uint64 {
	return binary.LittleEndian.Uint64(key) ^ binary.LittleEndian.Uint64(key[len(key)-8:])<<1 ^ uint64(len(key))<<56 | long
}
