package task

import (
	"context"
	"time"
)

// leased runs a transition on behalf of whoever runs the task.
func (m *Memory) leased(id string, transition func(s *State, now time.Time) error) (Task, error) {
	r, err := m.find(id)
	if err != nil {
		return Task{}, err
	}
	now := time.Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.gone || r.state.Task.Expired(now) {
		return Task{}, &NotFoundError{Expired, r.state.Task.Tool}
	}
	return r.change(func(s *State) error { return transition(s, now) })
}

// Begin implements Runners.
func (m *Memory) Begin(_ context.Context, id, node string, d time.Duration) (b Begun, err error) {
	_, err = m.leased(id, func(s *State, now time.Time) (err error) {
		b, err = s.Begin(node, d, now)
		return err
	})
	return b, err
}

// Record implements Runners.
func (m *Memory) Record(_ context.Context, l Lease, name string, data []byte) error {
	_, err := m.leased(l.Task, func(s *State, _ time.Time) error { return s.Record(l, name, data) })
	return err
}

// Entry implements Runners.
func (m *Memory) Entry(_ context.Context, l Lease, name string) (e Entry, err error) {
	_, err = m.leased(l.Task, func(s *State, _ time.Time) (err error) {
		e, err = s.Entry(l, name)
		return err
	})
	return e, err
}

// Ask implements Runners.
func (m *Memory) Ask(_ context.Context, l Lease, q Question) (Task, error) {
	return m.leased(l.Task, func(s *State, now time.Time) error { return s.Ask(l, q, now) })
}

// Withdraw implements Runners.
func (m *Memory) Withdraw(_ context.Context, l Lease, name string) (Task, error) {
	return m.leased(l.Task, func(s *State, now time.Time) error { return s.Withdraw(l, name, now) })
}

// Describe implements Runners.
func (m *Memory) Describe(_ context.Context, l Lease, message string) (Task, error) {
	return m.leased(l.Task, func(s *State, now time.Time) error { return s.Describe(l, message, now) })
}

// Park implements Runners.
func (m *Memory) Park(_ context.Context, l Lease) (Task, error) {
	return m.leased(l.Task, func(s *State, now time.Time) error { return s.Park(l, now) })
}

// Finish implements Runners.
func (m *Memory) Finish(_ context.Context, l Lease, o Outcome) (Task, error) {
	return m.leased(l.Task, func(s *State, now time.Time) error { return s.Finish(l, o, now) })
}

// Heartbeat implements Runners.
func (m *Memory) Heartbeat(_ context.Context, leases []Lease, d time.Duration) (Beat, error) {
	var b Beat
	for _, l := range leases {
		held := false
		t, err := m.leased(l.Task, func(s *State, now time.Time) error {
			held = s.Heartbeat(l, d, now)
			return nil
		})
		switch {
		case err != nil || !held:
			b.Lost = append(b.Lost, l)
		case t.CancelRequested:
			b.Cancel = append(b.Cancel, l)
		}
	}
	return b, nil
}

// Orphans implements Runners. It looks at every task, which only an engine that resumes does.
func (m *Memory) Orphans(_ context.Context, limit int) ([]string, error) {
	var ids []string
	for i := range m.ids {
		s := &m.ids[i]
		s.mu.RLock()
		for id, r := range s.records {
			if len(ids) == limit {
				break
			}
			if r.orphan(time.Now()) {
				ids = append(ids, id)
			}
		}
		s.mu.RUnlock()
	}
	return ids, nil
}

func (r *record) orphan(now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return !r.gone && !r.state.Task.Expired(now) && r.state.Orphan(now)
}
