package task

import (
	"context"
	"slices"
	"time"
)

// leased makes a transition for the runner of a task, by which the task may grow by up to more bytes. If t is not nil, it becomes the task after the
// transition.
func (m *Memory) leased(id string, t *Task, more int64, transition func(s *State, now time.Time) error) error {
	r, err := m.find(id)
	if err != nil {
		return err
	}
	return m.leasedRecord(r, t, more, transition)
}

func (m *Memory) leasedRecord(r *record, t *Task, more int64, transition func(s *State, now time.Time) error) error {
	now := time.Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.expired(now) {
		return &NotFoundError{Expired, r.tool}
	}
	return m.change(r, t, more, func(s *State) error { return transition(s, now) })
}

// Begin implements Runners.
func (m *Memory) Begin(_ context.Context, id, node string, d time.Duration) (b Begun, err error) {
	r, err := m.find(id)
	if err != nil {
		return Begun{}, err
	}
	err = m.leasedRecord(r, &b.Task, 0, func(s *State, now time.Time) (err error) {
		b.Lease, err = s.Begin(node, d, now)
		b.Journal, b.Crashes, b.Now = slices.Clone(s.Journal), s.Crashes, now
		return err
	})
	if err != nil {
		return Begun{}, err
	}
	if key := r.account.key; key != "" {
		b.Account = Quota{Key: key}.Account("")
	}
	return b, nil
}

// Record implements Runners.
func (m *Memory) Record(_ context.Context, l Lease, name string, data []byte) error {
	e := Entry{Name: name, Data: data}
	return m.leased(l.Task, nil, e.size(), func(s *State, now time.Time) error { return s.Record(l, name, data, now) })
}

// Entry implements Runners.
func (m *Memory) Entry(_ context.Context, l Lease, name string) (e Entry, err error) {
	err = m.leased(l.Task, nil, 0, func(s *State, _ time.Time) (err error) {
		e, err = s.Entry(l, name)
		return err
	})
	return e, err
}

// Ask implements Runners.
func (m *Memory) Ask(_ context.Context, l Lease, q Question) (t Task, err error) {
	e := Entry{Name: q.Name, Question: q}
	err = m.leased(l.Task, &t, e.size(), func(s *State, now time.Time) error { return s.Ask(l, q, now) })
	return t, err
}

// Withdraw implements Runners.
func (m *Memory) Withdraw(_ context.Context, l Lease, name string) (t Task, err error) {
	err = m.leased(l.Task, &t, 0, func(s *State, now time.Time) error { return s.Withdraw(l, name, now) })
	return t, err
}

// Describe implements Runners.
func (m *Memory) Describe(_ context.Context, l Lease, message string) (t Task, err error) {
	err = m.leased(l.Task, &t, int64(len(message)), func(s *State, now time.Time) error { return s.Describe(l, message, now) })
	return t, err
}

// Park implements Runners.
func (m *Memory) Park(_ context.Context, l Lease) (t Task, err error) {
	err = m.leased(l.Task, &t, 0, func(s *State, now time.Time) error { return s.Park(l, now) })
	return t, err
}

// Finish implements Runners.
func (m *Memory) Finish(_ context.Context, l Lease, o Outcome) (t Task, err error) {
	err = m.leased(l.Task, &t, o.size(), func(s *State, now time.Time) error { return s.Finish(l, o, now) })
	return t, err
}

// Heartbeat implements Runners.
func (m *Memory) Heartbeat(_ context.Context, leases []Lease, d time.Duration) (Beat, error) {
	var b Beat
	for _, l := range leases {
		held, cancel := false, false
		err := m.leased(l.Task, nil, 0, func(s *State, now time.Time) error {
			held, cancel = s.Heartbeat(l, d, now), s.Task.CancelRequested
			return nil
		})
		switch {
		case err != nil || !held:
			b.Lost = append(b.Lost, l)
		case cancel:
			b.Cancel = append(b.Cancel, l)
		}
	}
	return b, nil
}

// Orphans implements Runners. It looks at every task; only engines with Config.Resume call it.
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
	return !r.expired(now) && r.state != nil && r.state.Orphan(now)
}
