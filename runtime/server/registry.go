package server

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

// registry holds the tools, prompts or resources that clients list page by page, and use by their names. It changes while it is read.
type registry[T any] struct {
	mu    sync.Mutex // guards changes
	last  uint64     // number of the newest entry
	table atomic.Pointer[table[T]]
}

// table is what a registry has between two changes.
type table[T any] struct {
	entries []*entry[T] // by number
	named   map[string]*entry[T]
	pages   []atomic.Pointer[[]listPage] // of each revision, made when a client first asks
}

// entry has a number that is never reused: a cursor has the number of the last entry that the client got, and stays valid whatever is added
// or removed.
type entry[T any] struct {
	number  uint64
	key     string
	value   *T
	answers answerSizes
}

type listPage struct {
	after  uint64 // number of the entry before it, 0 for the first
	result []byte
}

func newTable[T any](entries []*entry[T], revisions int) *table[T] {
	t := &table[T]{entries: entries, named: make(map[string]*entry[T], len(entries)), pages: make([]atomic.Pointer[[]listPage], revisions)}
	for _, e := range entries {
		t.named[e.key] = e
	}
	return t
}

// open fills an empty registry. Two entries with the same key are an error.
func (r *registry[T]) open(of []T, key func(*T) string, revisions int) error {
	var entries []*entry[T]
	seen := map[string]bool{}
	for i := range of {
		k := key(&of[i])
		if seen[k] {
			return &ExistsError{k}
		}
		seen[k] = true
		r.last++
		entries = append(entries, &entry[T]{number: r.last, key: k, value: &of[i]})
	}
	r.table.Store(newTable(entries, revisions))
	return nil
}

// ExistsError says that a registry has the name or URI already.
type ExistsError struct{ Name string }

// Error implements error.
func (e *ExistsError) Error() string { return fmt.Sprintf("server: there is %q already", e.Name) }

func (r *registry[T]) get(key string) *T {
	if e := r.table.Load().named[key]; e != nil {
		return e.value
	}
	return nil
}

// add adds an entry at the end. may, if it is not nil, decides whether it may be added to the others.
func (r *registry[T]) add(key string, of *T, may func(others []*entry[T]) error) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	t := r.table.Load()
	if t.named[key] != nil {
		return &ExistsError{key}
	}
	if may != nil {
		if err := may(t.entries); err != nil {
			return err
		}
	}
	r.last++
	r.table.Store(newTable(append(slices.Clip(t.entries), &entry[T]{number: r.last, key: key, value: of}), len(t.pages)))
	return nil
}

// remove removes an entry and returns its value, nil if there is none.
func (r *registry[T]) remove(key string) *T {
	r.mu.Lock()
	defer r.mu.Unlock()
	t := r.table.Load()
	removed := t.named[key]
	if removed == nil {
		return nil
	}
	rest := slices.DeleteFunc(slices.Clone(t.entries), func(e *entry[T]) bool { return e.key == key })
	r.table.Store(newTable(rest, len(t.pages)))
	return removed.value
}

// dropPages discards the encoded pages, after something that they show has changed.
func (r *registry[T]) dropPages() {
	r.mu.Lock()
	defer r.mu.Unlock()
	t := r.table.Load()
	r.table.Store(newTable(t.entries, len(t.pages)))
}

// listing says how the entries of a registry are listed.
type listing[T any] struct {
	kind      string // begins cursors
	size      int    // entries of a page
	onward    string // cursor of the last page, with which files follow (tree.go); "" for the end
	perCaller bool   // the list is for this caller only
	// appendEntry appends the entry to the items, or leaves it out. Pages begin and end at the same entries whichever are left out, so that a
	// cursor stays valid when that changes (LET06): a page has fewer entries then.
	appendEntry func(items []byte, of *T) []byte
	wrap        func(items []byte, next string) []byte
}

// page returns the revision's page after an entry, nil if it was not made yet.
func (t *table[T]) page(rev *revision, after uint64) []byte {
	if pages := t.pages[rev.index].Load(); pages != nil {
		for i := range *pages {
			if p := &(*pages)[i]; p.after == after {
				return p.result
			}
		}
	}
	return nil
}

// list makes all pages of a revision, and returns the one after an entry; of a list for one caller, it makes only that page.
func (t *table[T]) list(rev *revision, after uint64, l *listing[T]) []byte {
	if l.perCaller {
		page, _ := t.pageAfter(after, l)
		return page
	}
	if t.pages[rev.index].Load() == nil {
		made := t.allPages(l)
		t.pages[rev.index].Store(&made)
	}
	if page := t.page(rev, after); page != nil {
		return page
	}
	page, _ := t.pageAfter(after, l) // entries were added or removed since the client began
	return page
}

func (t *table[T]) allPages(l *listing[T]) (pages []listPage) {
	for after, more := uint64(0), true; more; {
		p := listPage{after: after}
		p.result, after = t.pageAfter(after, l)
		more = after != 0
		pages = append(pages, p)
	}
	return pages
}

// pageAfter makes the page after an entry. It returns the number of its last entry, 0 at the end.
func (t *table[T]) pageAfter(after uint64, l *listing[T]) (result []byte, last uint64) {
	from, _ := slices.BinarySearchFunc(t.entries, after, func(e *entry[T], n uint64) int {
		if e.number <= n {
			return -1
		}
		return 1
	})
	to := min(from+l.size, len(t.entries))
	items := []byte{'['}
	for _, e := range t.entries[from:to] {
		items = l.appendEntry(items, e.value)
	}
	more := l.onward
	if to < len(t.entries) {
		last = t.entries[to-1].number
		more = cursorOf(l.kind, strconv.FormatUint(last, 10))
	}
	return l.wrap(append(items, ']'), more), last
}

// cursorOf returns the cursor of a place in a list. It is opaque to clients: base64 keeps them from relying on its content.
func cursorOf(kind, place string) string {
	return base64.RawURLEncoding.EncodeToString([]byte(kind + ":" + place))
}

func placeIn(cursor, kind string) (place string, ok bool) {
	text, err := base64.RawURLEncoding.DecodeString(cursor)
	place, ok = strings.CutPrefix(string(text), kind+":")
	return place, ok && err == nil
}

// numberIn returns the number of an entry in the cursor of a request, 0 without a cursor. An empty cursor is invalid, as any text is that can not be
// a cursor of the list; with a number that no page has ended with, the list goes on behind it.
func numberIn(p *wire.Params, kind string) (n uint64, ok bool) {
	if !p.HasCursor {
		return 0, true
	}
	place, ok := placeIn(p.Cursor, kind)
	n, err := strconv.ParseUint(place, 10, 64)
	return n, ok && err == nil
}

// tool returns the tool of a name, nil if there is none or it is switched off.
func (s *Server) tool(name string) *Tool {
	if off := s.off.Load(); off != nil && (*off)[name] {
		return nil
	}
	return s.tools.get(name)
}

// shows reports whether the filter shows the entry of that name to the caller.
func (r *request) shows(f filter, name string) bool { return f == nil || r.shown(f)(name) }

// offers reports whether calls of the tool can be made in the revision.
func (rev *revision) offers(t *Tool) bool { return t.Task.Support != TaskRequired || rev.tasks }
