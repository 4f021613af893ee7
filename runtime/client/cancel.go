package client

import (
	"slices"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/inflight"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

// Request is a request that a caller waits for.
type Request struct {
	ID           rpc.ID
	Method, Tool string
	Started      time.Time
	Age          time.Duration
	Task         string   // the id of the task that it has become, "" for none
	Progress     Progress // the latest
	// Waiting says that the server waits for the answer to a question; the timeout is paused.
	Waiting bool
}

// Requests returns the requests that callers wait for, oldest first.
func (s *Session) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []Request
	for x := range s.executions() {
		if !x.request.IsZero() {
			all = append(all, x.snapshot())
		}
	}
	for c := range s.calls {
		if !c.registered {
			continue
		}
		r := c.snapshot()
		listed := slices.ContainsFunc(all, func(other Request) bool { return other.ID == r.ID })
		if !r.ID.IsZero() && !listed {
			r.Waiting = r.Waiting || s.waiting[r.ID] != nil
			all = append(all, r)
		}
	}
	slices.SortFunc(all, func(a, b Request) int { return a.Started.Compare(b.Started) })
	return all
}

// snapshot describes the execution by the request that started it; the lock is held.
func (x *execution) snapshot() Request {
	return Request{
		ID: x.request, Method: x.dialect.Call(wire.OpCallTool).Name, Tool: x.tool, Started: x.started, Age: time.Since(x.started), Task: x.task,
		Progress: x.reports.last, Waiting: x.waitsForAnswers(),
	}
}

// snapshot describes the call by its latest request, if there is one.
func (c *call) snapshot() Request {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.round == nil {
		return Request{}
	}
	started := c.round.entry.Started()
	return Request{ID: c.round.entry.ID(), Method: c.op.Name, Tool: c.tool, Started: started, Age: time.Since(started), Progress: c.last, Waiting: len(c.questions) > 0}
}

// CancelRequest gives up a request in the way that the revision and the transport have for it: by a notification, by closing its stream, or
// by tasks/cancel if it has become a task (CAN11).
// Its call returns at once with a *Cause of source caller, and an answer that comes later is dropped. Requests that are over or unknown
// are ignored; ErrUncancellable is for initialize (CAN07).
func (s *Session) CancelRequest(id rpc.ID, reason string) error {
	cause := &Cause{Source: inflight.SourceCaller, Reason: reason}
	e := s.tracker.Find(s.key(id, inflight.Outgoing))
	if e == nil {
		s.cancelWaiting(id, cause)
		return nil
	}
	switch e.Cancel(cause) {
	case inflight.Recorded:
		return ErrUncancellable
	case inflight.Unknown: // it was answered meanwhile, but its call may go on
		s.cancelWaiting(id, cause)
	}
	return nil
}

// onCancel is called for every end of a request other than an answer, on the goroutine that ended it.
func (s *Session) onCancel(e *inflight.Entry, cause *Cause, o inflight.CancelEffect) {
	if o != inflight.Cancelled {
		return
	}
	info := e.Info()
	s.cfg.logger.Info("request ended", "id", e.ID().String(), "method", info.Method, "tool", info.Tool, "source", cause.Source.String(), "reason", cause.Reason)
	if e.Key().Direction == inflight.Incoming {
		s.questionEnded(e, cause)
		return
	}
	s.giveUp(e, e.Values().(*round), cause)
}

// giveUp ends the request of a round that nobody waits for any more, and tells the server unless the connection is gone. A request that asks for
// a task is not cancelled itself: its answer names the task, which is cancelled then (CAN11). So is a task that a server had created before it was told.
// giveUp is called by what ends the request and by the request's caller, in any order: the second call does nothing, but returns when the first is done.
func (s *Session) giveUp(e *inflight.Entry, r *round, cause *Cause) {
	r.gaveUp.Do(func() { s.giveUpOnce(e, r, cause) })
}

func (s *Session) giveUpOnce(e *inflight.Entry, r *round, cause *Cause) {
	id, task := e.ID(), r.leavesTask(cause)
	willNameTask := task && r.willNameTask()
	if task || s.link.shared() {
		s.expectLate(id, r, task)
	}
	var notice []byte
	if s.tells(cause) && !willNameTask && !e.Info().Protected && !r.call.cancelsSilently && !s.link.giveUpTells(r.call.dialect) {
		notice = s.cancelled(r.call.dialect, id, cause)
	}
	if !s.link.giveUp(r, notice, willNameTask) {
		s.forgetLate(id)
	}
}

// willNameTask reports whether the answer will certainly name a task, so that it is worth waiting for.
func (r *round) willNameTask() bool { return r.call.mayBeTask && r.call.dialect.Task.ClientDecides }

// endsHere reports whether a request with that cause was ended by this side, and not by an answer or because the connection is gone.
func endsHere(cause *Cause) bool {
	switch cause.Source {
	case inflight.SourceCaller, inflight.SourceTimeout, inflight.SourceParent, inflight.SourceShutdown:
		return true
	}
	return false
}

// tells reports whether the server is to be told of an end with that cause. Abort tells it nothing.
func (s *Session) tells(cause *Cause) bool { return endsHere(cause) && s.aborted.Err() == nil }

// giveUpEnded has each call given up whose request has ended without an answer. Whatever ended it may not have come to that yet, and the link takes no notice
// any more once it is being closed.
func (s *Session) giveUpEnded() {
	var rounds []*round
	s.mu.Lock()
	for c := range s.calls {
		c.mu.Lock()
		if c.round != nil {
			rounds = append(rounds, c.round)
		}
		c.mu.Unlock()
	}
	s.mu.Unlock()
	for _, r := range rounds {
		r.giveUpEnded()
	}
}

// giveUpEnded gives the request up if it has ended without an answer.
func (r *round) giveUpEnded() {
	if cause := r.entry.Cause(); cause != nil && cause.Source != inflight.SourceCompleted {
		r.call.s.giveUp(r.entry, r, cause)
	}
}

// cancelled returns the notification that cancels a request (CAN17).
func (s *Session) cancelled(d *wire.Dialect, id rpc.ID, cause *Cause) []byte {
	op := d.Call(wire.OpCancelled)
	if op == nil {
		return nil
	}
	var v wire.Values
	v.SetID(wire.SlotRequestID, id)
	reason := cause.Reason
	if reason == "" && cause.Err != nil {
		reason = cause.Err.Error()
	}
	if reason != "" {
		v.SetText(wire.SlotReason, reason)
	}
	params, err := op.Params.Append(nil, &v, nil)
	if err != nil {
		return nil
	}
	return rpc.AppendNotification(nil, op.Name, params)
}

// cancelWaiting gives up a call that is between two rounds, or has become a task, or soon will.
func (s *Session) cancelWaiting(id rpc.ID, cause *Cause) {
	s.mu.Lock()
	w := s.waiting[id]
	var task *execution
	for x := range s.executions() {
		if x.request == id {
			task = x
		}
	}
	for c := range s.calls {
		c.mu.Lock()
		if c.registered && c.round != nil && c.round.entry.ID() == id {
			c.gaveUp = cause
		}
		c.mu.Unlock()
	}
	s.mu.Unlock()
	if task != nil {
		task.giveUp(cause)
	}
	if w != nil {
		w.cancel(cause)
	}
}

// giveUpCause returns why the call was given up while no request of it was in flight.
func (c *call) giveUpCause() *Cause {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.gaveUp
}
