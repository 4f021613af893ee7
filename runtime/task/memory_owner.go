package task

import (
	"context"
	"hash/maphash"
	"slices"
	"sort"
	"sync"
	"time"
)

// ownerShard holds the owners that have tasks.
type ownerShard struct {
	mu     sync.Mutex
	owners map[string]*owner
}

// owner is the ordered list of one owner's tasks.
type owner struct {
	name  string
	tasks int     // under the lock of the ownerShard
	own   account // of tasks without a quota key

	mu     sync.Mutex
	last   uint64 // the newest task's seq
	chunks []chunk
}

// chunk has some of an owner's tasks, in order of seq; never empty. A list of short chunks makes appending, removing anywhere
// and seeking a cursor cheap without a tree: at 100,000 tasks, some 400 chunks.
type chunk []place

// place repeats the record's seq, so that seek reads no records: at 100,000 tasks each of them is a cache miss.
type place struct {
	seq uint64
	*record
}

const chunkSize = 256

func (m *Memory) ownerShard(name string) *ownerShard {
	return &m.owners[maphash.String(m.seed, name)%shards]
}

// admit counts one more task, if the quota allows it.
func (m *Memory) admit(r *record, q Quota) error {
	name := r.state.Task.Owner
	s := m.ownerShard(name)
	s.mu.Lock()
	defer s.mu.Unlock()
	o := s.owners[name]
	if o == nil {
		o = &owner{name: name, own: account{all: &m.size}}
	}
	r.owner, r.account = o, &o.own
	if q.Key != "" {
		r.account = m.keyed.use(q.Key, &m.size)
	}
	if err := r.account.admit(r.size, q); err != nil {
		m.keyed.unuse(r.account)
		return err
	}
	o.tasks++
	s.owners[name] = o
	return nil
}

// dismiss takes back what admit counted of a task, which was over or not, and forgets an owner that has nothing left.
func (m *Memory) dismiss(r *record, over bool) {
	r.account.dismiss(r.size, !over)
	m.keyed.unuse(r.account)
	o := r.owner
	s := m.ownerShard(o.name)
	s.mu.Lock()
	defer s.mu.Unlock()
	if o.tasks--; o.tasks == 0 {
		delete(s.owners, o.name)
	}
}

func (m *Memory) owner(name string) *owner {
	s := m.ownerShard(name)
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.owners[name]
}

// append adds r at the end of the list. The caller holds o.mu.
func (o *owner) append(r *record) {
	o.last++
	r.seq = o.last
	n := len(o.chunks)
	if n == 0 || len(o.chunks[n-1]) == chunkSize {
		o.chunks = append(o.chunks, make(chunk, 0, 8))
		n++
	}
	o.chunks[n-1] = append(o.chunks[n-1], place{r.seq, r})
}

// seek returns the place of the first task whose seq is at least seq: the chunk and the index in it.
func (o *owner) seek(seq uint64) (c, i int) {
	c = sort.Search(len(o.chunks), func(c int) bool { return o.chunks[c][len(o.chunks[c])-1].seq >= seq })
	if c < len(o.chunks) {
		i = sort.Search(len(o.chunks[c]), func(i int) bool { return o.chunks[c][i].seq >= seq })
	}
	return c, i
}

// remove takes a task out. The caller holds o.mu.
func (o *owner) remove(seq uint64) {
	c, i := o.seek(seq)
	o.chunks[c] = slices.Delete(o.chunks[c], i, i+1)
	switch next := c + 1; {
	case len(o.chunks[c]) == 0:
		o.chunks = slices.Delete(o.chunks, c, next)
	case next < len(o.chunks)-1 && len(o.chunks[c])+len(o.chunks[next]) <= chunkSize/2:
		// Sparse neighbours become one, so that a page never walks many nearly empty chunks. The last one is left alone:
		// it is still growing.
		o.chunks[c] = append(o.chunks[c], o.chunks[next]...)
		o.chunks = slices.Delete(o.chunks, next, next+1)
	}
}

// after returns up to n tasks that come after seq.
func (o *owner) after(seq uint64, n int) []place {
	o.mu.Lock()
	defer o.mu.Unlock()
	found := make([]place, 0, min(n, len(o.chunks)*chunkSize))
	for c, i := o.seek(seq + 1); c < len(o.chunks) && len(found) < n; c, i = c+1, 0 {
		rest := o.chunks[c][i:]
		found = append(found, rest[:min(len(rest), n-len(found))]...)
	}
	return found
}

// List implements Requestors. A page may hold fewer tasks than the limit when some expire at that moment, or their status
// messages are long.
func (m *Memory) List(_ context.Context, name, cursor string, limit int) (Page, error) {
	seq, err := m.cursors.Open(name, cursor)
	if err != nil {
		return Page{}, err
	}
	o := m.owner(name)
	if o == nil || limit <= 0 {
		return Page{}, nil
	}
	found := o.after(seq, limit+1)
	more := len(found) > limit
	if more {
		found = found[:limit]
	}
	tasks, n := listed(found, time.Now())
	p := Page{Tasks: tasks}
	if more || n < len(found) {
		p.Next = m.cursors.Make(name, found[n-1].seq)
	}
	return p, nil
}

// pageBytes is after how many bytes of status messages a page ends, whatever its limit (TSK28).
const pageBytes = 1 << 20

// listed returns the tasks of the first n records, as many as make a page, without expired ones and without what lists leave out.
func listed(records []place, now time.Time) (tasks []Task, n int) {
	tasks = make([]Task, 0, len(records))
	bytes := 0
	for ; n < len(records) && bytes < pageBytes; n++ {
		r := records[n]
		r.mu.Lock()
		if !r.expired(now) {
			tasks = append(tasks, Task{})
			t := &tasks[len(tasks)-1]
			r.copyTo(t)
			bytes += len(t.StatusMessage)
		}
		r.mu.Unlock()
	}
	for i := range tasks {
		tasks[i].Args, tasks[i].Result, tasks[i].Error = nil, nil, nil
	}
	return tasks, n
}
