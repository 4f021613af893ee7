package task

import "strings"

// slots count the tasks that take memory or time in this process, by requestor: from creation until the handler has returned, which may
// be long after the task is over (TSK28). Tasks that a dispatcher sent elsewhere are counted by the store alone.
type slots struct {
	owners, keys map[string]int // by the names of owners and of keys: two maps, since hashing a requestor takes longer than a name
	all          int
}

func (s *slots) by(r requestor) map[string]int {
	if r.keyed {
		return s.keys
	}
	return s.owners
}

func (s *slots) take(r requestor) {
	s.by(r)[r.name]++
	s.all++
}

func (s *slots) free(r requestor) {
	s.all--
	by := s.by(r)
	if n := by[r.name] - 1; n > 0 {
		by[r.name] = n
	} else {
		delete(by, r.name)
	}
}

// full returns a *LimitError if the requestor may take no more slots, else nil.
func (s *slots) full(r requestor, l *Limits) error {
	switch {
	case l.Running > 0 && s.by(r)[r.name] >= l.Running:
		return &LimitError{What: "unfinished tasks per requestor", Max: int64(l.Running)}
	case l.AllRunning > 0 && s.all >= l.AllRunning:
		return &LimitError{What: "unfinished tasks in all", Max: int64(l.AllRunning)}
	}
	return nil
}

// requestor is the one in whose limits a task counts: a quota key or, without one, an owner.
type requestor struct {
	name  string
	keyed bool
}

func (s *Spec) requestor() requestor {
	if s.QuotaKey != "" {
		return requestor{s.QuotaKey, true}
	}
	return requestor{name: s.Owner}
}

// requestorOf returns the requestor of an account, as Begun has it.
func requestorOf(account, owner string) requestor {
	if key, keyed := strings.CutPrefix(account, accountOfKey); keyed {
		return requestor{key, true}
	}
	return requestor{name: owner}
}

// enterTask is enter for a task that is created: with a slot for it.
func (e *Engine) enterTask(who requestor) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return ErrClosed
	}
	if err := e.slots.full(who, &e.limits); err != nil {
		return err
	}
	e.busy++
	e.slots.take(who)
	return nil
}

// freeSlot gives back what the run holds. The caller holds e.mu.
func (e *Engine) freeSlot(r *Run) {
	if r.slot {
		r.slot = false
		e.slots.free(r.requestor)
	}
}
