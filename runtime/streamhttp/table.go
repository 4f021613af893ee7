package streamhttp

import (
	"iter"
	"maps"

	"github.com/mcpkiln/mcpkiln/runtime/rpc"
)

// table is a map of a session. Most sessions have few streams at a time, and most of their time none: a Go map, once it was used, keeps room for at least
// eight entries. The zero table is empty.
type table[K comparable, V any] struct {
	few  []entry[K, V] // all entries, until there are more than fewEntries
	many map[K]V       // all entries from then on: a session that had many may have many again
}

type entry[K comparable, V any] struct {
	key   K
	value V
}

// fewEntries is the most entries for which a scan is no slower than hashing.
const fewEntries = 8

// keptEntries is the capacity that an empty table keeps: sessions whose requests overlap now and then would allocate it again and again.
const keptEntries = 4

func (t *table[K, V]) size() int { return len(t.few) + len(t.many) }

// get returns the value of key, the zero value if there is none.
func (t *table[K, V]) get(key K) (v V) {
	if t.many != nil {
		return t.many[key]
	}
	if i := t.index(key); i >= 0 {
		v = t.few[i].value
	}
	return v
}

func (t *table[K, V]) index(key K) int {
	for i := range t.few {
		if t.few[i].key == key {
			return i
		}
	}
	return -1
}

func (t *table[K, V]) set(key K, v V) {
	if t.many != nil {
		t.many[key] = v
		return
	}
	if i := t.index(key); i >= 0 {
		t.few[i].value = v
		return
	}
	if len(t.few) < fewEntries {
		t.few = append(t.few, entry[K, V]{key, v})
		return
	}
	t.many = maps.Collect(t.all)
	t.many[key] = v
	t.few = nil
}

func (t *table[K, V]) delete(key K) {
	if t.many != nil {
		delete(t.many, key)
		return
	}
	i := t.index(key)
	if i < 0 {
		return
	}
	last := len(t.few) - 1
	t.few[i] = t.few[last]
	clear(t.few[last:])
	if t.few = t.few[:last]; last == 0 && cap(t.few) > keptEntries {
		t.few = nil
	}
}

// all yields every entry, in no order. The table must not change meanwhile.
func (t *table[K, V]) all(yield func(K, V) bool) {
	for k, v := range t.many {
		if !yield(k, v) {
			return
		}
	}
	for i := range t.few {
		if !yield(t.few[i].key, t.few[i].value) {
			return
		}
	}
}

func (t *table[K, V]) values() iter.Seq[V] {
	return func(yield func(V) bool) {
		t.all(func(_ K, v V) bool { return yield(v) })
	}
}

// byID is a table whose keys are ids, whatever their spelling.
type byID[V any] struct{ entries table[rpc.ID, V] }

func (t *byID[V]) size() int          { return t.entries.size() }
func (t *byID[V]) get(id rpc.ID) V    { return t.entries.get(id.Plain()) }
func (t *byID[V]) set(id rpc.ID, v V) { t.entries.set(id.Plain(), v) }
func (t *byID[V]) delete(id rpc.ID)   { t.entries.delete(id.Plain()) }

// deleteFunc deletes the entries for which del returns true.
func (t *byID[V]) deleteFunc(del func(V) bool) {
	var gone []rpc.ID
	for id, v := range t.entries.all {
		if del(v) {
			gone = append(gone, id)
		}
	}
	for _, id := range gone {
		t.entries.delete(id)
	}
}
