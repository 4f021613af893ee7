package inflight

// table finds entries by key: buckets of entries that are linked through themselves. Against a Go map it needs one hash
// instead of three, no memory per entry, and it shrinks again (CAN03).
type table struct {
	buckets []*Entry // a power of two, at least twice count, or none
	count   int
}

const minBuckets = 8

func (t *table) bucket(hash uint64) **Entry { return &t.buckets[hash&uint64(len(t.buckets)-1)] }

func (t *table) find(hash uint64, key *Key) *Entry {
	if t.count == 0 {
		return nil
	}
	for e := *t.bucket(hash); e != nil; e = e.next {
		if e.hash == hash && e.key.same(key) {
			return e
		}
	}
	return nil
}

// insert adds an entry whose key is not in the table.
func (t *table) insert(e *Entry) {
	if 2*t.count >= len(t.buckets) {
		t.resize(max(minBuckets, 2*len(t.buckets)))
	}
	t.link(e)
	t.count++
}

func (t *table) link(e *Entry) {
	b := t.bucket(e.hash)
	e.next, *b = *b, e
}

// remove takes out an entry that is in the table.
func (t *table) remove(e *Entry) {
	p := t.bucket(e.hash)
	for *p != e {
		p = &(*p).next
	}
	*p, e.next = e.next, nil
	t.count--
	if n := len(t.buckets); n > minBuckets && t.count < n/16 {
		t.resize(n / 2)
	}
}

func (t *table) resize(n int) {
	old := t.buckets
	t.buckets = make([]*Entry, n)
	for _, e := range old {
		for e != nil {
			next := e.next
			t.link(e)
			e = next
		}
	}
}

// all yields every entry. The table must not change meanwhile.
func (t *table) all(yield func(*Entry) bool) {
	for _, e := range t.buckets {
		for ; e != nil; e = e.next {
			if !yield(e) {
				return
			}
		}
	}
}
