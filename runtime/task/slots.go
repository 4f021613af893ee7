package task

// slots count the tasks that cost something in this process, by requestor: from creation until the handler has returned, which may
// be long after the task is over (TSK28). Tasks that a dispatcher took elsewhere are the store's to count.
type slots struct {
	by  map[string]int
	all int
}

func (s *slots) take(key string) {
	s.by[key]++
	s.all++
}

func (s *slots) free(key string) {
	s.all--
	if s.by[key]--; s.by[key] == 0 {
		delete(s.by, key)
	}
}

// full is why no more can be taken, nil if one can.
func (s *slots) full(key string, l *Limits) error {
	switch {
	case l.Running > 0 && s.by[key] >= l.Running:
		return &LimitError{What: "unfinished tasks per requestor", Max: int64(l.Running)}
	case l.AllRunning > 0 && s.all >= l.AllRunning:
		return &LimitError{What: "unfinished tasks in all", Max: int64(l.AllRunning)}
	}
	return nil
}

// requestor is who the quota counts for.
func (s *Spec) requestor() string {
	if s.QuotaKey != "" {
		return "key:" + s.QuotaKey
	}
	return s.Owner
}

// enterTask is enter for a task that is created: with a slot for it.
func (e *Engine) enterTask(requestor string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return ErrClosed
	}
	if err := e.slots.full(requestor, &e.limits); err != nil {
		return err
	}
	e.busy++
	e.slots.take(requestor)
	return nil
}

// freeSlot gives back what the run holds. With e.mu.
func (e *Engine) freeSlot(r *Run) {
	if r.slot {
		r.slot = false
		e.slots.free(r.requestor)
	}
}
