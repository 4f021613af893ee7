package postgres

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/mcpkiln/mcpkiln/runtime/task"
)

// pollPeriod is how often the store polls the tasks that it follows, in case a notification was lost (DUR03).
const pollPeriod = 500 * time.Millisecond

// followers are what in this process is notified of changes: functions, watchers and runs.
type followers struct {
	interrupts, offers listeners

	mu      sync.Mutex
	watched map[string]*watch
	leased  map[string]*leased
	offered map[int64]bool // the waiting tasks that the last poll found, by seq
}

// watch is one channel for all watchers of a task, until its next change.
type watch struct {
	version uint64 // of the task when the first of them read it; 0 until then
	users   int
	changed chan struct{}
	stops   []func() bool // cancel what is called when the watchers' contexts end
}

// leased is a task that runs in this process, as far as the store knows.
type leased struct {
	node    string
	epoch   uint64
	version uint64
	missed  int // heartbeats that did not name it
}

func (f *followers) init() {
	f.watched, f.leased, f.offered = map[string]*watch{}, map[string]*leased{}, map[int64]bool{}
}

// Watch implements task.Requestors.
func (s *Store) Watch(ctx context.Context, owner, id string) (task.Task, <-chan struct{}, error) {
	w := s.follow.watch(id)
	t, err := s.Get(ctx, owner, id) // later changes are notified, or found by a poll
	if err != nil {
		s.follow.leave(id, w)
		return t, nil, err
	}
	s.follow.read(ctx, id, w, t.Version)
	return t, w.changed, nil
}

func (f *followers) watch(id string) *watch {
	f.mu.Lock()
	defer f.mu.Unlock()
	w := f.watched[id]
	if w == nil {
		w = &watch{changed: make(chan struct{})}
		f.watched[id] = w
	}
	w.users++
	return w
}

func (f *followers) leave(id string, w *watch) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if w.users--; w.users == 0 && f.watched[id] == w {
		delete(f.watched, id)
	}
}

// read notes the version that a watcher has read. If that is not the version of an earlier watcher, the task has changed.
func (f *followers) read(ctx context.Context, id string, w *watch, version uint64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.watched[id] != w {
		return // changed already
	}
	if w.version == 0 {
		w.version = version
	}
	if w.version != version {
		f.wake(id)
		return
	}
	if ctx.Done() != nil {
		w.stops = append(w.stops, context.AfterFunc(ctx, func() { f.leave(id, w) }))
	}
}

// wake closes a task's channel. The caller holds the lock.
func (f *followers) wake(id string) {
	w := f.watched[id]
	if w == nil {
		return
	}
	delete(f.watched, id)
	for _, stop := range w.stops {
		stop()
	}
	close(w.changed)
}

// changed is called for a record that was written by this process.
func (s *Store) changed(id string, r *record) {
	f := &s.follow
	f.mu.Lock()
	state := &r.state
	switch {
	case state.Epoch != r.epoch:
		f.leased[id] = &leased{node: state.Node, epoch: state.Epoch, version: state.Task.Version}
	case state.Leased.IsZero():
		delete(f.leased, id)
	case f.leased[id] != nil:
		f.leased[id].version = state.Task.Version
	}
	if state.Task.Version != r.version {
		f.wake(id)
	}
	f.mu.Unlock()
	_, _, waits := r.columns()
	switch {
	case r.cancels:
		f.interrupts.call(id)
	case waits:
		f.offers.call(id)
		s.unsent.add(id, waitsHint)
	case state.Task.Version != r.version:
		s.unsent.add(id, changedHint)
	}
}

// hinted is called when another process may have changed a task.
func (f *followers) hinted(id string) {
	f.mu.Lock()
	f.wake(id)
	runs := f.leased[id] != nil
	f.mu.Unlock()
	if runs {
		f.interrupts.call(id)
	}
}

// beat forgets leases that the heartbeats of their node no longer name. One that has just begun may miss one.
func (f *followers) beat(node string, named map[string]uint64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for id, l := range f.leased {
		if l.node != node {
			continue
		}
		if l.missed++; named[id] > 0 {
			l.missed = 0
		}
		if l.missed > 1 {
			delete(f.leased, id)
		}
	}
}

// pollAll polls until the store is closed.
func (s *Store) pollAll() {
	for rest(s.base, pollPeriod) == nil {
		s.poll()
		s.pollWaiting()
	}
}

func (s *Store) poll() {
	followed := s.follow.all()
	if len(followed) == 0 {
		return
	}
	polled := map[string]seen{}
	const look = "SELECT id, version, CASE WHEN over OR node IS NULL THEN 0 ELSE epoch END FROM mcpkiln_tasks WHERE id = ANY($1)"
	err := s.exchange(s.base, func(ctx context.Context) error {
		rows, err := s.pool.Query(ctx, look, keys(slices.Collect(maps.Keys(followed))))
		if err != nil {
			return err
		}
		var id []byte
		var now seen
		_, err = pgx.ForEachRow(rows, []any{&id, &now.version, &now.epoch}, func() error {
			polled[string(id)] = now
			return nil
		})
		return err
	})
	if err != nil {
		return // calls that need the database get errors of their own
	}
	for id, l := range followed {
		if s.follow.stale(id, polled[id]) {
			s.follow.hinted(id)
		}
		s.follow.forgetLost(id, l, polled[id])
	}
}

// seen is a task as a poll found it: zero for one that is gone, without an epoch if it has no lease.
type seen struct{ version, epoch uint64 }

// all returns the tasks that are followed, with the leases that this process has.
func (f *followers) all() map[string]*leased {
	f.mu.Lock()
	defer f.mu.Unlock()
	all := make(map[string]*leased, len(f.watched)+len(f.leased))
	for id := range f.watched {
		all[id] = nil
	}
	maps.Copy(all, f.leased)
	return all
}

// stale reports whether a task has another version than its followers know.
func (f *followers) stale(id string, now seen) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	stale := false
	if w := f.watched[id]; w != nil && w.version != 0 && w.version != now.version {
		stale = true
	}
	if l := f.leased[id]; l != nil && l.version != now.version {
		l.version, stale = now.version, true
	}
	return stale
}

// forgetLost forgets a lease that a poll found lost: the task is over, gone, or leased to another run. A node without tasks sends no heartbeat
// that would leave it out. One that began after the poll is another lease.
func (f *followers) forgetLost(id string, l *leased, now seen) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if l != nil && f.leased[id] == l && now.epoch != l.epoch {
		delete(f.leased, id)
	}
}

const lookWaiting = "SELECT seq FROM mcpkiln_tasks WHERE waits AND held IS NULL AND due <= statement_timestamp() ORDER BY due LIMIT 1000"

// pollWaiting offers parked tasks that the poll before did not find.
func (s *Store) pollWaiting() {
	if s.follow.offers.none() {
		return
	}
	offered, fresh := map[int64]bool{}, false
	err := s.exchange(s.base, func(ctx context.Context) error {
		rows, err := s.pool.Query(ctx, lookWaiting)
		if err != nil {
			return err
		}
		var seq int64
		_, err = pgx.ForEachRow(rows, []any{&seq}, func() error {
			offered[seq] = true
			fresh = fresh || !s.follow.offered[seq]
			return nil
		})
		return err
	})
	if err != nil {
		return
	}
	if s.follow.offered = offered; fresh {
		s.follow.offers.call("")
	}
}

// Interrupts implements task.Interrupter.
func (s *Store) Interrupts(hint func(id string)) (stop func()) { return s.follow.interrupts.add(hint) }

// Offers implements task.Offerer.
func (s *Store) Offers(hint func()) (stop func()) {
	return s.follow.offers.add(func(string) { hint() })
}

// listeners are functions that are called with the ids of tasks.
type listeners struct {
	mu  sync.Mutex
	all map[*func(id string)]bool
}

func (l *listeners) add(hint func(id string)) (stop func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.all == nil {
		l.all = map[*func(id string)]bool{}
	}
	l.all[&hint] = true
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.all, &hint)
	}
}

func (l *listeners) none() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.all) == 0
}

// call calls the functions, without the lock.
func (l *listeners) call(id string) {
	l.mu.Lock()
	hints := make([]func(string), 0, len(l.all))
	for hint := range l.all {
		hints = append(hints, *hint)
	}
	l.mu.Unlock()
	for _, hint := range hints {
		hint(id)
	}
}
