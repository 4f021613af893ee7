package task

import (
	"context"
	"hash/maphash"
	"sync"
	"sync/atomic"
	"time"
)

const shards = 64 // a power of two

// Memory is a Store in this process: tasks survive connections, not the process. Ids, owners and states have locks of
// their own, so calls contend only over the same task, or when they create tasks of the same owner. The zero value is not
// usable; see NewMemory.
//
// Locks are taken in the order owner, shard, record, and no two of one kind at once.
type Memory struct {
	seed    maphash.Seed
	cursors Cursors
	ids     [shards]shard
	owners  [shards]ownerShard
	keyed   accounts
	size    size      // of everybody's tasks
	spare   sync.Pool // of *State, of tasks that are over, to be used again: half of what the life of a task in memory allocates
}

// shard holds the records whose ids hash to it, and their order of expiry.
type shard struct {
	mu      sync.RWMutex
	records map[string]*record
	expiry  expiryHeap
	removal atomic.Pointer[chan struct{}] // closed when a task that is over is removed; nil: nobody waits for it
}

// record is one task. All transitions happen in change. What every read looks at comes first, in one cache line: at
// 100,000 tasks a read costs what it has to fetch.
type record struct {
	owner *owner
	at    time.Time // when it expires, zero for never
	mu    sync.Mutex
	state *State    // until the task is over
	over  *overTask // from then on; both are nil when the task is removed

	id, tool string
	changed  chan struct{} // made by the first watcher, closed by the next change
	seq      uint64        // number in the owner's list
	account  *account
	size     int64 // of the state, as it is counted
	position int   // in the heap of what expires
}

// expired reports whether the task's ttl has passed or the task was removed. The caller holds the lock.
func (r *record) expired(now time.Time) bool {
	return r.state == nil && r.over == nil || !r.at.IsZero() && !now.Before(r.at)
}

// NewMemory returns an empty store.
func NewMemory() *Memory {
	m := &Memory{seed: maphash.MakeSeed(), cursors: randomCursors(), keyed: accounts{byKey: map[string]*account{}}}
	for i := range m.ids {
		m.ids[i].records = map[string]*record{}
		m.owners[i].owners = map[string]*owner{}
	}
	return m
}

// Durable is false.
func (m *Memory) Durable() bool { return false }

// Create implements Requestors.
func (m *Memory) Create(_ context.Context, t Task, quota Quota) (Task, error) {
	state, ok := m.spare.Get().(*State)
	if !ok {
		state = new(State)
	}
	*state = NewState(t, time.Now())
	r := &record{state: state, id: t.ID, tool: t.Tool}
	r.size = r.state.Size()
	if err := m.admit(r, quota); err != nil {
		return Task{}, err
	}
	r.at, _ = r.state.Task.ExpiresAt()
	snapshot := r.state.Task
	if !m.insert(r) {
		m.dismiss(r, false)
		return Task{}, ErrExists
	}
	return snapshot, nil
}

// insert adds a record; false if its id is taken.
func (m *Memory) insert(r *record) bool {
	s := m.shard(r.id)
	r.owner.mu.Lock() // so that seq and the list agree
	defer r.owner.mu.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.records[r.id] != nil {
		return false
	}
	s.records[r.id] = r
	s.expiry.add(r)
	r.owner.append(r)
	return true
}

// shard uses the end of the id only: all of an id is random, and hashing it twice per call was measurable.
func (m *Memory) shard(id string) *shard {
	h := uint(0)
	for i := max(0, len(id)-3); i < len(id); i++ {
		h = h*31 + uint(id[i])
	}
	return &m.ids[h%shards]
}

func (m *Memory) find(id string) (*record, error) {
	s := m.shard(id)
	s.mu.RLock()
	r := s.records[id]
	s.mu.RUnlock()
	if r == nil {
		return nil, &NotFoundError{Reason: Unknown}
	}
	return r, nil
}

// owned finds a task for its owner and leaves it locked.
func (m *Memory) owned(owner, id string, now time.Time) (*record, error) {
	r, err := m.find(id)
	if err != nil {
		return nil, err
	}
	if r.owner.name != owner {
		return nil, &NotFoundError{Foreign, r.tool}
	}
	r.mu.Lock()
	if r.expired(now) {
		r.mu.Unlock()
		return nil, &NotFoundError{Expired, r.tool}
	}
	return r, nil
}

// Get implements Requestors.
func (m *Memory) Get(_ context.Context, owner, id string) (t Task, err error) {
	r, err := m.owned(owner, id, time.Now())
	if err != nil {
		return t, err
	}
	r.copyTo(&t)
	r.mu.Unlock()
	return t, nil
}

// Watch implements Requestors. All watchers of a task share one channel, so one that goes away leaves nothing behind. Those of tasks that are over, which
// can only be removed, share it with those of other such tasks: else each task whose result was read would keep a channel until it expires.
func (m *Memory) Watch(_ context.Context, owner, id string) (t Task, _ <-chan struct{}, err error) {
	r, err := m.owned(owner, id, time.Now())
	if err != nil {
		return t, nil, err
	}
	defer r.mu.Unlock()
	r.copyTo(&t)
	if r.over != nil {
		return t, m.shard(id).nextRemoval(), nil
	}
	if r.changed == nil {
		r.changed = make(chan struct{})
	}
	return t, r.changed, nil
}

// Cancel implements Requestors.
func (m *Memory) Cancel(_ context.Context, owner, id string, c Cancel) (t Task, err error) {
	now := time.Now()
	r, err := m.owned(owner, id, now)
	if err != nil {
		return t, err
	}
	defer r.mu.Unlock()
	err = m.change(r, &t, 0, func(s *State) error { return s.Cancel(c, now) })
	return t, err
}

// Answer implements Requestors.
func (m *Memory) Answer(_ context.Context, owner, id string, answers []Answer) (t Task, err error) {
	now := time.Now()
	r, err := m.owned(owner, id, now)
	if err != nil {
		return t, err
	}
	defer r.mu.Unlock()
	more := int64(0)
	for _, a := range answers {
		more += int64(len(a.Data))
	}
	err = m.change(r, &t, more, func(s *State) error {
		_, err := s.Answer(answers, now)
		return err
	})
	return t, err
}

// change is the compare-and-set: it makes every transition of a stored task, with the record locked, and wakes the
// watchers before the record is unlocked. The changed task goes to t, if that is not nil: through a pointer, because
// runs are new goroutines, and growing their stacks for large frames took a third of a short task's time. The state may grow by up to
// more bytes, which are reserved first.
func (m *Memory) change(r *record, t *Task, more int64, transition func(*State) error) error {
	if r.over != nil {
		return r.refuse(t, transition)
	}
	if more > SmallGrowth {
		if err := r.account.reserve(more); err != nil {
			return err
		}
		r.size += more
	}
	before := r.state.Task.Version
	err := transition(r.state)
	if r.state.Task.Version != before {
		r.wake()
	}
	over := r.state.Task.Status.Terminal()
	if over {
		r.state.Journal = nil
	}
	if size := r.state.Size(); size != r.size {
		r.account.grow(size - r.size)
		r.size = size
	}
	if over {
		m.finish(r)
	}
	if t != nil {
		*t = Task{}
		r.copyTo(t) // as it will be read again: times of a task that is over have no monotonic part
	}
	return err
}

func (r *record) wake() {
	if r.changed != nil {
		close(r.changed)
		r.changed = nil
	}
}
