package task

// slots count the tasks that cost something in this process, by requestor: from creation until the handler has returned, which may
// be long after the task is over (TSK28). Tasks that a dispatcher sent elsewhere are counted by the store alone.
type slots struct {
	by  map[requestor]int
	all int
}

func (s *slots) take(key requestor) {
	s.by[key]++
	s.all++
}

func (s *slots) free(key requestor) {
	s.all--
	if s.by[key]--; s.by[key] == 0 {
		delete(s.by, key)
	}
}

// full is why no more can be taken, nil if one can.
func (s *slots) full(key requestor, l *Limits) error {
	switch {
	case l.Running > 0 && s.by[key] >= l.Running:
		return &LimitError{What: "unfinished tasks per requestor", Max: int64(l.Running)}
	case l.AllRunning > 0 && s.all >= l.AllRunning:
		return &LimitError{What: "unfinished tasks in all", Max: int64(l.AllRunning)}
	}
	return nil
}

// requestor is who the quota counts for: a key or, without one, an owner.
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
