package inflight

import (
	"time"
)

// pauseOrResume stops the clock of a request's timeout at the first pause, and lets it go on at the last resume (CAN28); the lock is held.
func (s *shard) pauseOrResume(e *Entry, ev event) {
	if e.kind.Timeout <= 0 {
		return
	}
	x, now := e.makeLazy(), s.tracker.now()
	switch {
	case ev == pause:
		if x.pauses++; x.pauses == 1 {
			e.flags.Or(delayed)
			x.pausedAt = now
			s.heap.remove(e)
			s.disarm()
		}
	case x.pauses == 1:
		x.pauses, x.paused = 0, x.paused+now-x.pausedAt
		s.schedule(e, now)
	default:
		x.pauses--
	}
}

// extend begins a request's timeout anew: now, or if its clock is paused, when the clock goes on; the lock is held. limit is that of Extend.
func (s *shard) extend(e *Entry, limit time.Duration) {
	x := e.makeLazy()
	now := s.tracker.now()
	if x.pauses > 0 {
		now = x.pausedAt
	}
	ran := now - e.started - x.paused
	if most := int64(limit - e.kind.Timeout); limit > 0 && ran > most {
		ran = most
	}
	if ran <= x.extended {
		return
	}
	x.extended = ran
	e.flags.Or(delayed)
	if x.pauses == 0 {
		s.heap.remove(e)
		s.schedule(e, now)
	}
}

// disarm stops the timer if no request needs it. It is not called for requests that complete: a timer that fires once in vain costs
// less than stopping and setting it with every call.
func (s *shard) disarm() {
	if s.armed != 0 && len(s.heap) == 0 {
		s.timer.Stop()
		s.armed = 0
	}
}

// expire runs in the timer's goroutine: it cancels the requests that are due (CAN20) and sets the timer for the next.
func (s *shard) expire() {
	var due []ended
	s.mu.Lock()
	now := s.tracker.now()
	for len(s.heap) > 0 && s.heap[0].due() <= now {
		e := s.heap[0]
		due = append(due, s.end(e, timeoutCause(e)))
	}
	s.armed = 0
	if len(s.heap) > 0 {
		s.arm(s.heap[0].due(), now)
	}
	s.mu.Unlock()
	finish(due)
}

func timeoutCause(e *Entry) *Cause {
	after := e.kind.Timeout
	if e.flags.Load()&delayed != 0 {
		after += time.Duration(e.lazy.extended)
	}
	return &Cause{Source: SourceTimeout, Reason: "not done after " + after.String()}
}

// Pause stops the clock of the request's timeout until Resume has been called as often: the time that a person takes to answer does not
// count (CAN28). Deadline moves accordingly.
func (e *Entry) Pause() { e.shard.change(e, pause, nil) }

// Resume ends a Pause.
func (e *Entry) Resume() { e.shard.change(e, resume, nil) }

// Paused returns how long the clock of the request's timeout was stopped so far.
func (e *Entry) Paused() time.Duration {
	e.shard.mu.Lock()
	defer e.shard.mu.Unlock()
	switch x := e.lazy; {
	case x == nil:
		return 0
	case x.pauses > 0:
		return time.Duration(x.paused + e.shard.tracker.now() - x.pausedAt)
	default:
		return time.Duration(x.paused)
	}
}

// Extend begins the timeout anew (CAN16), as progress does for an outgoing request. The new timeout ends no later than limit after the request was
// registered, not counting pauses; 0: there is no limit. A request without a timeout does not change.
func (e *Entry) Extend(limit time.Duration) {
	e.shard.mu.Lock()
	defer e.shard.mu.Unlock()
	if e.kind.Timeout > 0 && e.flags.Load()&over == 0 {
		e.shard.extend(e, limit)
	}
}
