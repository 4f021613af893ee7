package check

import "slices"

// Array begins an array and reports whether it has an item. A value that is no array is a violation and is skipped.
func (d *Decoder) Array(r *Array) bool {
	if r == nil {
		r = &anyArray
	}
	if d.peek() != '[' {
		d.wrongType("an array", r.At)
		return false
	}
	f := d.open(nil, r)
	if f == nil {
		return false
	}
	f.base = int32(len(d.items))
	if d.peek() == ']' {
		d.pos++
		d.endArray(f)
		return false
	}
	f.count = 1
	if r.Unique {
		d.beginItem()
	}
	return true
}

var anyArray = Array{}

// Item moves to the next item of the array that Array began, and reports whether there is one.
func (d *Decoder) Item() bool {
	c := d.peek()
	if c != ',' && c != ']' {
		d.unexpected("',' or ']'")
		return false
	}
	f := &d.frames[len(d.frames)-1]
	if f.array.Unique {
		d.endItem()
	}
	d.pos++
	if c == ']' {
		d.endArray(f)
		return false
	}
	f.count++
	if f.array.Unique {
		d.peek()
		d.beginItem()
	}
	return true
}

func (d *Decoder) endArray(f *frame) {
	r := f.array
	if r.Min != 0 && int(f.count) < bound(r.Min) {
		d.size(f, "minItems", "at least ", bound(r.Min), "item")
	}
	if r.Max != 0 && int(f.count) > bound(r.Max) {
		d.size(f, "maxItems", "at most ", bound(r.Max), "item")
	}
	if r.Unique {
		d.checkUnique(f)
	}
	if d.outline.records {
		d.recordPart(f, d.pos)
	}
	if d.broken > 0 {
		d.noteBroken(f)
	}
	d.closeFrame(f)
}

// few returns a list for the first items.
func few[T any](d *Decoder) []T {
	d.countMemory(fewItems * sizeOf[T]())
	return make([]T, 0, fewItems)
}

// fewItems is the first capacity of a slice: growing from 1 costs two more allocations for a list of three. No more, so
// that what a hostile text of empty lists costs stays in proportion to it.
const fewItems = 4

// room returns list with capacity for one more item. It is small enough to be inlined.
func room[T any](d *Decoder, list []T) []T {
	if len(list) < cap(list) {
		return list
	}
	return grow(d, list)
}

// grow doubles the capacity of a full list. A list that is a notable part of the text becomes large enough for as many items as
// the rest may have, estimated from those so far, at most fourfold: measured on 200 kB of records, half the memory that doubling takes.
// A hostile text of many short lists costs what doubling costs. Near Limits.Decoded a list grows by a quarter. After a
// violation the list is not used: it is emptied.
func grow[T any](d *Decoder, list []T) []T {
	n := len(list)
	if d.err != nil || d.broken > 0 && n > 0 {
		return list[:0]
	}
	if n == 0 {
		return few[T](d)
	}
	size, more := sizeOf[T](), n
	taken, left := d.pos-int(d.frames[len(d.frames)-1].start), len(d.data)-d.pos
	if taken >= left/64 {
		each := taken/n + 1
		more = min(max(left/each+2, n/4+1), 3*n)
	}
	if size > 0 && more > (d.limits.Decoded-d.decoded)/size {
		more = n/4 + 1
	}
	if d.countMemory(more * size); d.err != nil {
		return list[:0]
	}
	list = slices.Grow(list, more)
	d.countMemory((cap(list) - n - more) * size)
	return list
}

// List takes an array of which every item is a T. The result is never nil, so that [] stays [].
func List[T any](d *Decoder, r *Array, decode func(*Decoder, *T)) []T {
	ok := d.Array(r)
	if !ok {
		return []T{}
	}
	list, unread := few[T](d), d.unread
	for ; ok; ok = d.Item() {
		var zero T
		list = append(room(d, list), zero)
		d.unread = d.broken > 0 || unread
		decode(d, &list[len(list)-1])
	}
	d.unread = unread
	return list
}

// Strings takes an array of strings. The result is nil only if the array is unread.
func (d *Decoder) Strings(a *Array, r *String) []string {
	ok := d.Array(a)
	if !ok {
		return []string{}
	}
	if d.unread {
		for ; ok; ok = d.Item() {
			d.String(r)
		}
		return nil
	}
	list := few[string](d)
	for ; ok; ok = d.Item() {
		list = append(room(d, list), d.String(r))
	}
	return list
}

// Enums takes an array of enum values. The result is never nil.
func Enums[S ~string](d *Decoder, a *Array, r *Enum) []S {
	ok := d.Array(a)
	if !ok {
		return []S{}
	}
	list := few[S](d)
	for ; ok; ok = d.Item() {
		list = append(room(d, list), S(d.Enum(r)))
	}
	return list
}

// Ints takes an array of integers. The result is never nil.
func (d *Decoder) Ints(a *Array, r *Int) []int64 {
	ok := d.Array(a)
	if !ok {
		return []int64{}
	}
	list := few[int64](d)
	for ; ok; ok = d.Item() {
		list = append(room(d, list), d.Int(r))
	}
	return list
}

// Floats takes an array of numbers. The result is never nil.
func (d *Decoder) Floats(a *Array, r *Number) []float64 {
	ok := d.Array(a)
	if !ok {
		return []float64{}
	}
	list := few[float64](d)
	for ; ok; ok = d.Item() {
		list = append(room(d, list), d.Float(r))
	}
	return list
}

// Bools takes an array of booleans. The result is never nil.
func (d *Decoder) Bools(a *Array) []bool {
	ok := d.Array(a)
	if !ok {
		return []bool{}
	}
	list := few[bool](d)
	for ; ok; ok = d.Item() {
		list = append(room(d, list), d.Bool(nil))
	}
	return list
}

// Add takes an item and appends it to *list.
func Add[T any](d *Decoder, list *[]T, decode func(*Decoder, *T)) {
	var zero T
	*list = append(room(d, *list), zero)
	decode(d, &(*list)[len(*list)-1])
}

// Raws takes an array of any values, as they are written. The result is never nil.
func (d *Decoder) Raws(a *Array) []Raw {
	ok := d.Array(a)
	if !ok {
		return []Raw{}
	}
	list := few[Raw](d)
	for ; ok; ok = d.Item() {
		list = append(room(d, list), d.Raw(nil))
	}
	return list
}

// Each takes an array and validates every item.
func (d *Decoder) Each(r *Array, check func(*Decoder)) {
	for ok := d.Array(r); ok; ok = d.Item() {
		check(d)
	}
}
