package check

import (
	"bytes"
	"slices"
	"strconv"
	"sync"
)

// canonicalSet has the indexes of Values.JSON by canonical form, and where there are many, also by text. It is made for the first value that
// differs from each of the first fewValues texts.
type canonicalSet struct {
	once        sync.Once
	byCanonical map[string]int
	byText      map[string]int // nil if there are no more than fewValues
}

func (r *Values) canonicalSet() *canonicalSet {
	s := &r.canonical
	s.once.Do(func() {
		s.byCanonical = make(map[string]int, len(r.JSON))
		if len(r.JSON) > fewValues {
			s.byText = make(map[string]int, len(r.JSON))
		}
		for i, v := range slices.Backward(r.JSON) {
			c, _, _ := appendCanonical(nil, []byte(v), 0)
			s.byCanonical[string(c)] = i
			if s.byText != nil {
				s.byText[v] = i
			}
		}
	})
	return s
}

func (r *Values) at() string {
	if r == nil {
		return ""
	}
	return r.At
}

// checkValues looks for the value from start to pos among those of r, and returns its index in r.JSON; -1 after a violation.
func (d *Decoder) checkValues(r *Values, start int) int {
	raw := d.full[start:d.pos]
	for i, v := range r.JSON[:min(len(r.JSON), fewValues)] {
		if v == string(raw) {
			return i
		}
	}
	set := r.canonicalSet()
	if i, ok := set.byText[string(raw)]; ok {
		return i
	}
	c, _, ok := appendCanonical(nil, raw, 0)
	if !ok {
		d.refuse(NumberTooLarge, start, maxExponent)
		return -1
	}
	if i, ok := set.byCanonical[string(c)]; ok {
		return i
	}
	if d.countUndescribed() {
		return -1
	}
	allowed := join(len(r.JSON), ", ", func(i int) string { return printableUpTo(r.JSON[i], maxShownExactly) })
	if len(r.JSON) > 1 {
		allowed = "one of " + allowed
	}
	if !slices.Contains(r.JSON, "null") {
		allowed += d.orNull(start)
	}
	d.violated(start, r.At, enumOrConst(r.Const), allowed)
	return -1
}

// item is where an item of an array with uniqueItems is in the text.
type item struct {
	start, end int32
	index      int32
	hash       uint64 // seeded, of the canonical form
}

func (d *Decoder) beginItem() {
	d.peek()
	if n := len(d.items); n == cap(d.items) {
		d.items = slices.Grow(d.items, n/4+fewItems)
		d.countMemory((cap(d.items) - n) * sizeOf[item]())
	}
	d.items = append(d.items, item{start: int32(d.pos)})
}

func (d *Decoder) endItem() {
	if d.err == nil {
		d.items[len(d.items)-1].end = int32(d.pos)
	}
}

// checkUnique reports items that are equal. It compares their hashes, and those with equal hashes by their canonical form.
func (d *Decoder) checkUnique(f *frame) {
	if d.err != nil {
		return
	}
	items := d.items[f.base:]
	d.items = d.items[:f.base]
	if d.surelyUnique(items) {
		return
	}
	var scratch []byte
	for i := range items {
		it := &items[i]
		var ok bool
		if scratch, _, ok = appendCanonical(scratch[:0], d.full[it.start:], 0); !ok {
			d.refuse(NumberTooLarge, int(it.start), maxExponent)
			return
		}
		it.index, it.hash = int32(i), d.keys.hash(scratch)
	}
	slices.SortFunc(items, func(a, b item) int {
		if a.hash != b.hash {
			if a.hash < b.hash {
				return -1
			}
			return 1
		}
		return int(a.index - b.index)
	})
	first, same := -1, 0 // where in items the first item is, by the order of the text, that equals one before it, and that one
	for i := range items {
		if first >= 0 && items[i].index > items[first].index {
			continue
		}
		for j := i - 1; j >= 0 && items[j].hash == items[i].hash; j-- {
			if d.sameItem(items[j], items[i]) {
				first, same = i, j
				break
			}
		}
	}
	if first < 0 {
		return
	}
	one, other := items[same], items[first]
	d.report(problem{
		level: len(d.frames) - 1, at: f.array.At, keyword: "uniqueItems", offset: int(f.start), allowed: "items that all differ",
		found: "items " + strconv.Itoa(int(one.index)) + " and " + strconv.Itoa(int(other.index)) + " equal to " + d.show(d.full[other.start:other.end]),
	})
}

// surelyUnique reports whether the items are a few strings without escapes that all differ. Comparing them in pairs costs less than one canonical form.
func (d *Decoder) surelyUnique(items []item) bool {
	if len(items) > 16 {
		return false
	}
	for i, a := range items {
		text := d.full[a.start:a.end]
		if text[0] != '"' || text[len(text)-1] != '"' || bytes.IndexByte(text, '\\') >= 0 {
			return false
		}
		for _, b := range items[:i] {
			if string(d.full[b.start:b.end]) == string(text) {
				return false
			}
		}
	}
	return true
}

func (d *Decoder) sameItem(a, b item) bool {
	x, _, _ := appendCanonical(nil, d.full[a.start:], 0)
	y, _, _ := appendCanonical(nil, d.full[b.start:], 0)
	return bytes.Equal(x, y)
}
