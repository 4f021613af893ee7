package client

import (
	"context"

	"github.com/mcpkiln/mcpkiln/runtime/inflight"
)

// hold stops the clocks of the calls that may have asked: the one on whose stream the question came, else all that are in flight (CAN28).
// A question of a task belongs to no call, but to whoever waits for the task.
func (q *question) pauseAskers(from *round) {
	q.s.mu.Lock()
	defer q.s.mu.Unlock()
	if q.Task != "" {
		if x := q.s.executions[q.Task]; x != nil {
			q.pauseTask(x)
		}
		return
	}
	for c := range q.s.calls {
		if from == nil || from.call == c {
			q.pauseCall(c)
		}
	}
}

// holdTask stops the clock of whoever waits for a task, unless the question is over already: it can be taken back on another stream.
func (q *question) pauseTask(x *execution) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.askers != nil {
		q.of = x
		x.countQuestions(1)
	}
}

// add is holdTask for a call.
func (q *question) pauseCall(c *call) {
	c.mu.Lock()
	defer c.mu.Unlock()
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.askers == nil || !c.awaiting {
		return
	}
	if c.questions == nil {
		c.questions = map[*question]struct{}{}
	}
	c.questions[q] = struct{}{}
	c.round.entry.Pause()
	q.askers[c] = struct{}{}
}

// release is told that a call is over.
func (q *question) askerEnded(c *call) {
	q.mu.Lock()
	delete(q.askers, c)
	last := len(q.askers) == 0
	q.mu.Unlock()
	if last {
		if e := q.s.tracker.Find(q.s.key(q.id, inflight.Incoming)); e != nil && e.Values() == context.Context(q) { // else it is a task
			e.Cancel(q.s.callOver())
		}
	}
}

// callOver is why a question ends whose call is over: with the whole session, it may be.
func (s *Session) callOver() *Cause {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return &Cause{Source: inflight.SourceShutdown, Reason: "the session is closed", Force: true}
	case s.lost != nil:
		return &Cause{Source: inflight.SourceDisconnect, Reason: s.lost.Error(), Force: true}
	}
	return &Cause{Source: inflight.SourceParent, Reason: "the call that asked is over"}
}

// done lets the clocks of the calls go on that still wait.
func (q *question) resumeAskers() {
	q.mu.Lock()
	askers, of := q.askers, q.of
	q.askers, q.of = nil, nil
	q.mu.Unlock()
	if of != nil {
		of.countQuestions(-1)
	}
	for c := range askers {
		c.mu.Lock()
		if _, waits := c.questions[q]; waits {
			delete(c.questions, q)
			c.round.entry.Resume()
		}
		c.mu.Unlock()
	}
}
