package check_test

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/mcpkiln/mcpkiln/runtime/check"
)

// wide is what {} becomes: 512 bytes.
type wide struct{ fields [64]int64 }

func decodeWide(d *check.Decoder, v *wide) {
	for f := d.Object(nil); f >= 0; f = d.Next() {
		d.Skip()
	}
	v.fields[0] = 1
}

func decodeWides(d *check.Decoder, v *[]wide)      { *v = check.List(d, nil, decodeWide) }
func decodeWidePointer(d *check.Decoder, v **wide) { *v = check.New(d, decodeWide) }

var (
	eitherWide = check.Union{Keyword: "anyOf", Forms: []check.Form{{Kinds: check.KindObject}, {Kinds: check.KindObject}}}
	rows       = check.Union{Keyword: "anyOf", Forms: []check.Form{{Kinds: check.KindArray}, {Kinds: check.KindArray}}}
	uniqueRows = check.Array{Unique: true}
)

func decodeEither(d *check.Decoder, v *any) {
	*v = check.Pick(d, &eitherWide, func(d *check.Decoder, form int) any {
		if form == 0 {
			n := new(int64)
			*n = d.Int(nil)
			return n
		}
		return check.New(d, decodeWide)
	})
}

// hostile are lists and objects of which a few bytes decode to many: item n times.
var hostile = map[string]struct {
	item   string // %d is its number
	object bool
	n      int
	decode func(d *check.Decoder, v *any)
}{
	"structs":            {"{}", false, 200_000, func(d *check.Decoder, v *any) { *v = check.List(d, nil, decodeWide) }},
	"pointers":           {"{}", false, 200_000, func(d *check.Decoder, v *any) { *v = check.List(d, nil, decodeWidePointer) }},
	"forms of a union":   {"{}", false, 200_000, func(d *check.Decoder, v *any) { *v = check.List(d, nil, decodeEither) }},
	"short lists":        {"[{}]", false, 100_000, func(d *check.Decoder, v *any) { *v = check.List(d, nil, decodeWides) }},
	"short lists of int": {"[0]", false, 1_500_000, func(d *check.Decoder, v *any) { *v = check.List(d, nil, decodeGridRow) }},
	"entries of a map":   {`"%d":{}`, true, 200_000, func(d *check.Decoder, v *any) { *v = check.Map(d, nil, decodeWide) }},
	"small maps": {`{"a":0}`, false, 400_000, func(d *check.Decoder, v *any) {
		*v = check.List(d, nil, func(d *check.Decoder, v *map[string]float64) { *v = check.Map(d, nil, decodeBasketPrice) })
	}},
	"empty maps": {`{}`, false, 1_500_000, func(d *check.Decoder, v *any) {
		*v = check.List(d, nil, func(d *check.Decoder, v *map[string]float64) { *v = check.Map(d, nil, decodeBasketPrice) })
	}},
	"other properties": {`"%d":{}`, true, 200_000, func(d *check.Decoder, v *any) {
		var m map[string]wide
		for f := d.Object(nil); f >= 0; f = d.Next() {
			check.AddMember(d, &m, decodeWide)
		}
		*v = m
	}},
	"other properties as they are": {`"%d":0`, true, 1_200_000, func(d *check.Decoder, v *any) {
		var m map[string]check.Raw
		for f := d.Object(nil); f >= 0; f = d.Next() {
			d.Keep(&m)
		}
		*v = m
	}},
	"the rest of a tuple": {"{}", false, 200_000, func(d *check.Decoder, v *any) {
		var rest []wide
		for ok := d.Array(nil); ok; ok = d.Item() {
			check.Add(d, &rest, decodeWide)
		}
		*v = rest
	}},
	"strings":      {`""`, false, 5_000_000, func(d *check.Decoder, v *any) { *v = d.Strings(nil, nil) }},
	"any values":   {`0`, false, 3_500_000, func(d *check.Decoder, v *any) { *v = d.Raws(nil) }},
	"unique items": {`0`, false, 3_500_000, func(d *check.Decoder, v *any) { *v = d.Ints(&uniqueRows, nil) }},
}

func text(item string, object bool, n int) []byte {
	var b strings.Builder
	b.WriteByte("[{"[btoi(object)])
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		if object {
			fmt.Fprintf(&b, item, i)
		} else {
			b.WriteString(item)
		}
	}
	b.WriteByte("]}"[btoi(object)])
	return []byte(b.String())
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// What a text decodes to has a bound of its own, whatever it is made of. While a list grows it is there twice, and what it was before
// is garbage, so more is allocated than counts: each growth by a quarter at least.
func TestVAL07WhatATextDecodesToIsBounded(t *testing.T) {
	const limit = 64 << 20
	for name, h := range hostile {
		t.Run(name, func(t *testing.T) {
			data := text(h.item, h.object, h.n)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			err := check.Decode(data, check.Limits{}, h.decode, new(any))
			runtime.ReadMemStats(&after)
			var refused *check.LimitError
			if !errors.As(err, &refused) || refused.Max != limit || !strings.Contains(err.Error(), "the limit of 67108864 decoded bytes") {
				t.Errorf("%d bytes of text: %v", len(data), err)
			}
			if n := after.TotalAlloc - before.TotalAlloc; n > 5*limit {
				t.Errorf("%d bytes of text took %d", len(data), n)
			}
		})
	}
}

// A checker keeps nothing, and nor does a form that does not fit, so neither counts.
func TestVAL07WhatIsNotKeptDoesNotCount(t *testing.T) {
	data := text("{}", false, 70_000) // half of the limit
	for name, decode := range map[string]func(*check.Decoder, *any){
		"checked": func(d *check.Decoder, _ *any) {
			for ok := d.Array(nil); ok; ok = d.Item() {
				d.Also(func(d *check.Decoder) { d.Skip() })
				d.Skip()
			}
		},
		"tried": func(d *check.Decoder, v *any) {
			*v = check.Pick(d, &rows, func(d *check.Decoder, form int) any {
				list := check.List(d, nil, decodeWide)
				if form == 0 {
					d.String(nil) // nothing comes
				}
				return list
			})
		},
		"told by conditions": func(d *check.Decoder, v *any) {
			for range 4 {
				d.Fits(func(d *check.Decoder) { check.List(d, nil, decodeWide) })
			}
			*v = check.List(d, nil, decodeWide)
		},
	} {
		err := check.Decode(data, check.Limits{}, decode, new(any))
		if refused := (*check.LimitError)(nil); errors.As(err, &refused) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// purse is an account with so many bytes.
type purse struct{ left, asked, most int }

var errEmpty = errors.New("empty")

func (p *purse) TakeDecoded(n int) error {
	p.asked++
	p.most = max(p.most, n)
	if p.left -= n; p.left < 0 {
		return errEmpty
	}
	return nil
}

func charged(p *purse, data []byte, decode func(*check.Decoder, *any)) error {
	d := check.Get(data, check.Limits{})
	defer d.Put()
	d.Charge(p)
	decode(d, new(any))
	return d.Finish()
}

func TestTSK28AnAccountPaysForWhatIsDecoded(t *testing.T) {
	pointers := hostile["pointers"].decode
	small, large := &purse{left: 1 << 20}, &purse{left: 10 << 20}
	if err := charged(small, text("{}", false, 6), pointers); err != nil || small.asked > 0 {
		t.Errorf("a small value asks %d times: %v", small.asked, err)
	}
	if err := charged(large, text("{}", false, 10_000), pointers); err != nil || large.most > 64<<10 {
		t.Errorf("asks for %d bytes at once: %v", large.most, err)
	}
	if taken := 10<<20 - large.left; taken < 5_000_000 || taken > 5_500_000 {
		t.Errorf("10,000 values of 512 bytes and their pointers count %d", taken)
	}
	for name, h := range hostile {
		p := &purse{left: 1 << 20}
		if err := charged(p, text(h.item, h.object, h.n/16), h.decode); err != errEmpty {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// What the decoder itself keeps of a text while it reads it is paid for, too: keys of large objects, and what was judged.
func TestTSK28AnAccountPaysForTablesOfTheText(t *testing.T) {
	var keys strings.Builder
	keys.WriteString(`{"":{}`)
	for i := range 100_000 {
		fmt.Fprintf(&keys, `,"%d":{}`, i)
	}
	keys.WriteByte('}')
	skip := func(d *check.Decoder, _ *any) { d.Skip() }
	var once check.Once
	judged := func(d *check.Decoder, _ *any) {
		d.Group(&check.Union{Keyword: "anyOf", Forms: make([]check.Form, 2)}, skipMembers(&once), skipMembers(&once))
		d.Skip()
	}
	for name, read := range map[string]func(*check.Decoder, *any){"keys": skip, "verdicts": judged} {
		p := &purse{left: 1 << 30}
		if err := charged(p, []byte(keys.String()), read); err != nil || 1<<30-p.left < 1<<20 {
			t.Errorf("%s: %d bytes are paid for: %v", name, 1<<30-p.left, err)
		}
		if err := charged(&purse{left: 1 << 18}, []byte(keys.String()), read); err != errEmpty {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// skipMembers holds every member to one schema.
func skipMembers(once *check.Once) func(*check.Decoder) {
	return func(d *check.Decoder) {
		d.EachMember(nil, func(d *check.Decoder) { d.Once(once, (*check.Decoder).Skip) })
	}
}
