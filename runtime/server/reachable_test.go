package server

import (
	"reflect"
	"slices"
	"strings"
	"sync"
)

// reachable is how many bytes the strings and byte slices have that are kept in memory by roots: each text once, and memory that
// slices share once. It does not see what functions hold, nor buffers for reuse.
func reachable(roots ...any) int64 {
	w := walk{seen: map[place]bool{}, texts: map[string]bool{}}
	for _, r := range roots {
		w.value(reflect.ValueOf(r))
	}
	total := w.spanned()
	for text := range w.texts {
		total += int64(len(text))
	}
	return total
}

type walk struct {
	seen  map[place]bool
	texts map[string]bool
	spans []span
}

type place struct {
	at uintptr
	of reflect.Type
}

type span struct{ from, to uintptr }

// spanned is how many bytes the slices have together.
func (w *walk) spanned() (total int64) {
	slices.SortFunc(w.spans, func(a, b span) int { return int(int64(a.from) - int64(b.from)) })
	end := uintptr(0)
	for _, s := range w.spans {
		if s.to > end {
			total += int64(s.to - max(s.from, end))
			end = s.to
		}
	}
	return total
}

// foreign are types of the test's own side.
func foreign(t reflect.Type) bool {
	return t == reflect.TypeFor[sync.Pool]() || t == reflect.TypeFor[inbox]() || t == reflect.TypeFor[client]() || strings.HasPrefix(t.PkgPath(), "testing")
}

func (w *walk) value(v reflect.Value) {
	if !v.IsValid() || foreign(v.Type()) {
		return
	}
	switch v.Kind() {
	case reflect.String:
		w.texts[v.String()] = true
	case reflect.Interface:
		w.value(v.Elem())
	case reflect.Pointer:
		w.pointer(v)
	case reflect.Struct:
		for i := range v.NumField() {
			w.value(v.Field(i))
		}
	case reflect.Array:
		w.items(v)
	case reflect.Slice:
		w.slice(v)
	case reflect.Map:
		for i := v.MapRange(); i.Next(); {
			w.value(i.Key())
			w.value(i.Value())
		}
	}
}

func (w *walk) pointer(v reflect.Value) {
	at := place{v.Pointer(), v.Type()}
	if v.IsNil() || w.seen[at] {
		return
	}
	w.seen[at] = true
	w.value(v.Elem())
}

func (w *walk) slice(v reflect.Value) {
	if v.Type().Elem().Kind() == reflect.Uint8 {
		w.spans = append(w.spans, span{v.Pointer(), v.Pointer() + uintptr(v.Cap())})
		return
	}
	w.items(v)
}

func (w *walk) items(v reflect.Value) {
	for i := range v.Len() {
		w.value(v.Index(i))
	}
}
