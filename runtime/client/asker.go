package client

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/mcpkiln/mcpkiln/runtime/inflight"
	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

// mayAsk reports whether a server may ask something to serve the request: a call of a tool, a prompt or a resource, or the one for the result of such a call.
// A server that asks while others are in flight asks on its own account, for example for the roots as soon as the session has begun.
func (c *call) mayAsk() bool {
	switch c.op.Op {
	case wire.OpCallTool, wire.OpGetPrompt, wire.OpReadResource, wire.OpTaskResult:
		return true
	}
	return false
}

// pauseAskers pauses the clocks of the calls that may have asked: the one on whose stream the question came, else all that are in flight (CAN28). If that
// is one, it is the caller, with which the question ends; else the question belongs to the session. A question of a task belongs to no call, but to the
// executions of the task.
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
		if from == nil && c.mayAsk() || from != nil && from.call == c {
			q.pauseCall(c)
		}
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.askers) == 1 {
		for c := range q.askers {
			q.caller = c
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

// askerEnded ends the question if c is the call that has asked it.
func (q *question) askerEnded(c *call) {
	q.mu.Lock()
	_, asks := q.askers[c]
	delete(q.askers, c)
	over := asks && q.caller == c
	q.mu.Unlock()
	if e := q.inFlight(); over && e != nil { // a task that answers it goes on
		q.end(e, q.s.callOver())
	}
}

// end ends the question with cause, unless its answer was given and is being sent in an HTTP request of its own: then only life stops that.
func (q *question) end(e *inflight.Entry, cause *Cause) {
	q.s.mu.Lock()
	a := q.answer
	given := a != nil && a.dialog == nil && !a.waits(q)
	if a != nil && a.dialog != nil && len(a.recipients) == 1 {
		a.dialog.end(cause) // from now on the handler can give none
	}
	q.s.mu.Unlock()
	if !given || q.s.link.shared() { // there the answer is not sent any more, unless it was
		e.Cancel(cause)
	}
}

// waits reports whether q is a recipient to which the answer is not being sent yet; the lock is held.
func (a *answer) waits(q *question) bool {
	r := a.recipient(q)
	return r != nil && r.stage == stageWaits
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
	return whyGone(callOver)
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
			if c.awaiting && c.mayAsk() {
				o.waiting = append(o.waiting, c.round)
			}
			c.mu.Unlock()
		}
	}
	return o
}

// errSending is why an answer that is being sent has not arrived.
var errSending = errors.New("it is still being sent")

// note records why the answer has not arrived for what waits for it; nil: it has. A timeout tells that.
func (o origin) note(s *Session, missing error) {
	for _, r := range o.waiting {
		r.call.mu.Lock()
		r.call.undeliveredAnswer = missing
		r.call.mu.Unlock()
	}
	s.mu.Lock()
	f := s.followers[o.task]
	s.mu.Unlock()
	if f != nil {
		f.mu.Lock()
		f.undeliveredAnswer = missing
		f.mu.Unlock()
	}
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
