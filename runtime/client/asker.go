package client

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/mcpkiln/mcpkiln/runtime/inflight"
)

// pauseAskers pauses the clocks of the calls that may have asked: the one on whose stream the question came, else all that are in flight (CAN28).
// A question of a task belongs to no call, but to the executions of the task.
func (q *question) pauseAskers(from *round) {
	q.s.mu.Lock()
	defer q.s.mu.Unlock()
	if q.Task != "" {
		if f := q.s.followers[q.Task]; f != nil {
			q.pauseTask(f)
		}
		return
	}
	for c := range q.s.calls {
		if from == nil || from.call == c {
			q.pauseCall(c)
		}
	}
}

// lifeOf returns the life of a question: a context that ends with its task, or the request on whose stream it came, else with the session.
func (s *Session) lifeOf(task string, from *round) context.Context {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch f := s.followers[task]; {
	case f != nil:
		return f.life
	case task == "" && from != nil:
		return from.entry
	}
	return s.ctx
}

// pauseTask pauses the clocks of a task's executions, unless the question is over already: the server can cancel it on another stream.
func (q *question) pauseTask(f *follower) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.isAsked() && q.pausedTask == nil {
		q.pausedTask = f
		f.countQuestions(1)
	}
}

// isAsked reports whether a handler is being asked, or is about to be; the lock is held.
func (q *question) isAsked() bool { return q.askers != nil }

// pauseCall is pauseTask for a call.
func (q *question) pauseCall(c *call) {
	c.mu.Lock()
	defer c.mu.Unlock()
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.isAsked() || !c.awaiting {
		return
	}
	if c.questions == nil {
		c.questions = map[*question]bool{}
	}
	c.questions[q] = true // it pauses the clock
	c.round.entry.Pause()
	q.askers[c] = struct{}{}
}

// askerEnded ends the question if c was the last call that may have asked it.
func (q *question) askerEnded(c *call) {
	q.mu.Lock()
	_, asks := q.askers[c]
	delete(q.askers, c)
	last := asks && len(q.askers) == 0
	q.mu.Unlock()
	if e := q.inFlight(); last && e != nil { // a task that answers it goes on
		e.Cancel(q.s.callOver())
	}
}

// inFlight returns the question's entry; nil if it has none any more: it was answered, perhaps with a task, or withdrawn. Its id may name another request then.
func (q *question) inFlight() *inflight.Entry {
	if e := q.s.tracker.Find(q.s.key(q.id, inflight.Incoming)); e != nil && e.Values() == context.Context(q) {
		return e
	}
	return nil
}

// callOver returns the cause of a question whose last call is over, maybe because the whole session is.
func (s *Session) callOver() *Cause {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return &Cause{Source: inflight.SourceShutdown, Reason: sessionClosed}
	case s.lost != nil:
		return &Cause{Source: inflight.SourceDisconnect, Reason: s.lost.Error()}
	}
	return &Cause{Source: inflight.SourceParent, Reason: "the call that asked is over"}
}

// resumeClocks resumes the clocks that the question has paused, though its answer is still to be sent. The end of its askers still ends the question.
func (q *question) resumeClocks() {
	q.mu.Lock()
	askers, task := maps.Clone(q.askers), q.pausedTask
	q.pausedTask = nil
	q.mu.Unlock()
	q.resume(askers, task)
}

// resumeAskers resumes the clocks that the question has paused; the question is over.
func (q *question) resumeAskers() {
	q.mu.Lock()
	askers, task := q.askers, q.pausedTask
	q.askers, q.pausedTask = nil, nil
	q.mu.Unlock()
	q.resume(askers, task)
	for c := range askers {
		c.mu.Lock()
		delete(c.questions, q)
		c.mu.Unlock()
	}
}

// resume resumes the clocks of these calls, and of a task's executions, that the question still has paused.
func (q *question) resume(askers map[*call]struct{}, task *follower) {
	if task != nil {
		task.countQuestions(-1)
	}
	for c := range askers {
		c.mu.Lock()
		if c.questions[q] {
			c.questions[q] = false
			c.round.entry.Resume()
		}
		c.mu.Unlock()
	}
}

// waitingRounds returns the rounds that wait for the answer: the one on whose stream the question came, else all that may have asked.
func (q *question) waitingRounds() (rounds []*round) {
	if q.from != nil {
		return []*round{q.from}
	}
	q.mu.Lock()
	askers := slices.Collect(maps.Keys(q.askers))
	q.mu.Unlock()
	for _, c := range askers {
		c.mu.Lock()
		if _, waits := c.questions[q]; waits {
			rounds = append(rounds, c.round)
		}
		c.mu.Unlock()
	}
	return rounds
}

// askedBy returns the rounds that wait for the answer to a question of that HTTP session. A question that was answered with a task counts, too: it is not in
// flight any more, but its call waits for the result of the task.
func (s *Session) askedBy(session string) (rounds []*round) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.calls {
		c.mu.Lock()
		for q := range c.questions {
			if q.session == session {
				rounds = append(rounds, c.round)
				break
			}
		}
		c.mu.Unlock()
	}
	return rounds
}

// origin is what waits for the answer to a request of the server, and hears it if the answer is not taken.
type origin struct {
	session string   // over HTTP; "" for none
	waiting []*round // the rounds that wait for the answer, as far as is known
	task    string   // the id of the task that waits for it; "" for none
}

func (q *question) origin() origin { return origin{q.session, q.waitingRounds(), q.Task} }

// originOf is the origin of a request that came on the stream of a round; nil: on that of the session, where all calls in flight may have asked.
func (s *Session) originOf(from *round) origin {
	o := origin{session: s.sessionOf(from)}
	switch {
	case from != nil:
		o.waiting = []*round{from}
	case !s.link.shared(): // else an answer is not taken only if the connection has ended, which ends all calls
		s.mu.Lock()
		defer s.mu.Unlock()
		for c := range s.calls {
			c.mu.Lock()
			if c.awaiting {
				o.waiting = append(o.waiting, c.round)
			}
			c.mu.Unlock()
		}
	}
	return o
}

// notAnswered ends the rounds that wait for an answer that could not be sent because of err, if err says that the server has ended the session. It is called
// for every answer to a request of the server that fails (CAN30).
func (o origin) notAnswered(err error) {
	if errors.Is(err, errNoSession) {
		failStranded(o.waiting)
	}
}

// failStranded has rounds fail whose questions were asked in a session that the server has ended: the server takes no answer to these any more.
func failStranded(waiting []*round) {
	for _, r := range waiting {
		r.entry.Cancel(&Cause{Source: inflight.SourceDisconnect, Reason: "the server has ended the session, and takes no answer to what it has asked; the call may have run"})
	}
}

// notTaken ends what waits for an answer that is not sent any more, because of err: the task that asks, see following.answerLost, or the call if the server has
// refused the answer for good. Where several calls may have asked, none is ended (CAN30). doubt: the answer may have arrived all the same.
func (s *Session) notTaken(from origin, err error, doubt bool) {
	s.mu.Lock()
	var w *following
	if f := s.followers[from.task]; f != nil {
		w = f.following
	}
	s.mu.Unlock()
	switch {
	case w != nil:
		s.spawn(func() { w.answerLost(from.session, err, doubt) })
	case doubt || !refused(err) || errors.Is(err, errNoSession): // notAnswered has ended a call whose session is gone
	case from.task == "" && len(from.waiting) == 1:
		from.waiting[0].entry.Cancel(&Cause{Source: inflight.SourceParent, Reason: "the server has not taken the answer to what it has asked; the call may have run", Err: err})
	}
}
