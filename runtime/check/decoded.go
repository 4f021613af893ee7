package check

import "reflect"

// A decoded value can take a hundred times the bytes of its text: {} in a list is a struct. Strings are bounded by the text; all else is
// counted when it is allocated: elements of slices and maps, values behind pointers. Values that a trial throws away
// are not counted any more (VAL07). The account is also charged for the decoder's own tables that grow with the text.

// Account is charged for the memory that values take beyond their text. It is asked for what goes beyond the first 4 KiB of a text, in steps of
// at most 64 KiB unless one allocation is larger. Its error ends decoding, and Finish returns it. What it granted stays charged after Put.
type Account interface {
	TakeDecoded(bytes int) error
}

const (
	freeDecoded = 4 << 10
	stepDecoded = 64 << 10
)

// Charge charges a for what is decoded from here on, until Put or Reset.
func (d *Decoder) Charge(a Account) {
	d.account, d.granted = a, min(freeDecoded, d.limits.Decoded)
}

// countMemory counts n more bytes of the decoded value, before they are allocated. It is small enough to be inlined.
func (d *Decoder) countMemory(n int) {
	if d.decoded += n; d.decoded > d.granted {
		d.countMore()
	}
}

func (d *Decoder) countMore() {
	switch {
	case d.err != nil:
	case d.decoded > d.limits.Decoded || d.account == nil:
		d.refuse(TooLarge, d.pos, d.limits.Decoded)
	default:
		step := max(d.decoded-d.granted, min(d.granted, stepDecoded, d.limits.Decoded-d.granted))
		if err := d.account.TakeDecoded(step); err != nil {
			d.fail(err)
			return
		}
		d.granted += step
	}
}

// countScratch charges for n more bytes that the decoder itself takes while it reads. No limit refuses them, because the text bounds them.
func (d *Decoder) countScratch(n int) {
	if d.account == nil || d.err != nil || n < stepDecoded {
		return
	}
	if err := d.account.TakeDecoded(n); err != nil {
		d.fail(err)
	}
}

// CountAny counts the memory of a text as an any, as encoding/json and the like decode it: for validators that are not generated.
func (d *Decoder) CountAny(text []byte) {
	const (
		each   = 64  // an item or member: its place in a slice that has grown, and its value
		object = 384 // a map with its first group of entries
	)
	n := len(text)
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			i = quoteAfter(text, i+1)
		case ',', '[':
			n += each
		case '{':
			n += object
		}
	}
	d.countMemory(n)
}

func sizeOf[T any]() int { return int(reflect.TypeFor[T]().Size()) }

// The memory of a map besides its keys' texts: it keeps entries in groups, and values of more than 128 bytes by themselves.
const (
	mapHeader = 48
	mapGroup  = 8
	mapKey    = 16 + 1 // the header of a string, and a byte that says whether the entry is used
	mapValue  = 128
)

// countEntry counts one more entry of a map that has n. A map allocates its first group as a whole; later half of its entries may be free.
func countEntry[T any](d *Decoder, n int) {
	size := sizeOf[T]()
	if size > mapValue {
		d.countMemory(size)
		size = 8
	}
	switch {
	case n == 0:
		d.countMemory(mapGroup * (mapKey + size))
	case n%mapGroup == 0:
		d.countMemory(2 * mapGroup * (mapKey + size))
	}
}
