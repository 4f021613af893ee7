package client

import (
	"container/list"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/inflight"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

// lateAnswers has the requests that were given up after they had been sent, and may be answered all the same. If there are too many, the oldest is
// forgotten: a server that has not answered it by then is unlikely to.
type lateAnswers struct {
	rounds map[rpc.ID]*round // the round is nil if the request can not have become a task
	order  []rpc.ID          // oldest first, also of some that were answered meanwhile
	// early are small answers that came between the end of their request and expectLate.
	early map[rpc.ID][]byte
	// streams: each request has a stream of its own, on which its answer may come until that ends.
	streams bool
	// cancelling is how many tasks are being cancelled whose callers have given up.
	cancelling int
	latest     time.Time     // when a request was given up last that may have become a task
	noneLeft   chan struct{} // closed when leavesTasks is false; nil: nobody waits for that
	// cancels are functions that end the requests by which they are cancelled, oldest first.
	cancels list.List
}

// open reports whether there is a task, or may be one, that nobody waits for and that was not cancelled yet.
func (l *lateAnswers) open() bool {
	if l.cancelling > 0 {
		return true
	}
	for _, r := range l.rounds {
		// A request whose answer need not name a task (round.willNameTask) was cancelled itself. On a shared stream nothing shows that no answer will
		// follow, so one is only waited for as long as it may be on its way.
		if r != nil && (l.streams || r.willNameTask() || time.Since(l.latest) < taskOnItsWay) {
			return true
		}
	}
	return false
}

// leavesTasks reports whether late.open is true, or may soon be, because of a call that has ended and is still on its way to what counts it.
func (s *state) leavesTasks() bool {
	if s.late.open() {
		return true
	}
	for c := range s.calls {
		if c.mayBeTask && s.onItsWay(c) {
			return true
		}
	}
	return false
}

// onItsWay reports whether the call is over for the tracker, and its goroutine has not read the answer yet, so that a task that the answer names is not
// followed yet; or whether it was given up so recently that expectLate has not been called. A call between two rounds is no task.
func (s *state) onItsWay(c *call) bool {
	c.mu.Lock()
	r := c.round
	c.mu.Unlock()
	if r == nil {
		return false
	}
	cause := r.entry.Cause()
	if cause != nil && cause.Source == inflight.SourceCompleted {
		return s.waiting[r.entry.ID()] == nil
	}
	return !r.late && r.leavesTask(cause)
}

// leavesTask reports whether the request was given up because of cause, and may have become a task: its answer is waited for, to cancel it. cause is nil if the
// request was not given up.
func (r *round) leavesTask(cause *Cause) bool {
	return cause != nil && r.call.mayBeTask && endsHere(cause)
}

// signalNoneLeft wakes those who wait until no task is left, if none is.
func (s *state) signalNoneLeft() {
	if s.late.noneLeft != nil && !s.leavesTasks() {
		close(s.late.noneLeft)
		s.late.noneLeft = nil
	}
}

// maxLate is how many late answers are waited for. Over HTTP a request whose answer will name a task (round.willNameTask) keeps its stream open.
const maxLate = 1024

// maxEarly is how many early answers are kept: one more drops them all. maxEarlyBytes is how large one may be: the one that names a task is small.
const (
	maxEarly      = 64
	maxEarlyBytes = 4 << 10
)

// add adds a request, and returns the one that is forgotten for it if that may have become a task.
func (l *lateAnswers) add(id rpc.ID, r *round) (forgotten *round) {
	if l.rounds == nil {
		l.rounds = map[rpc.ID]*round{}
	}
	if len(l.order) >= 2*maxLate {
		l.order = slices.DeleteFunc(l.order, func(id rpc.ID) bool { _, ok := l.rounds[id]; return !ok })
	}
	for len(l.rounds) >= maxLate {
		forgotten = l.rounds[l.order[0]]
		delete(l.rounds, l.order[0])
		l.order = l.order[1:]
	}
	l.rounds[id] = r
	l.order = append(l.order, id)
	return forgotten
}

// take removes a request that was answered, and keeps a small answer to one that was not added yet, for expectLate. r is nil unless the answer may name a task.
func (l *lateAnswers) take(id rpc.ID, result []byte) (r *round) {
	r, added := l.rounds[id]
	delete(l.rounds, id)
	if !added && len(result) <= maxEarlyBytes {
		if l.early == nil || len(l.early) >= maxEarly {
			l.early = map[rpc.ID][]byte{}
		}
		l.early[id] = result
	}
	return r
}

// expectLate records that a request was given up that may still be answered. If it has created a task, only tasks/cancel ends that
// (CAN11), so the answer has to be known first.
func (s *Session) expectLate(id rpc.ID, r *round, makesTask bool) {
	var task *round
	if makesTask {
		task = r
	}
	s.mu.Lock()
	r.late = true
	if makesTask {
		s.late.latest = time.Now()
	}
	result, answered := s.late.early[id]
	delete(s.late.early, id)
	var forgotten *round
	s.late.streams = !s.link.shared()
	switch {
	case !answered:
		forgotten = s.late.add(id, task)
	case task != nil:
		s.late.cancelling++ // under the lock: Close must not come between
	}
	s.signalNoneLeft()
	s.mu.Unlock()
	if answered && task != nil {
		s.cancelNamed(task, result)
		s.cancelEnded()
	}
	if forgotten != nil && forgotten.willNameTask() {
		s.cfg.logger.Warn("a task may go on whose caller has gone: too many requests were given up and never answered", "tool", forgotten.call.tool)
		s.link.giveUp(forgotten, nil, false)
	}
}

// awaits reports whether the answer of a round is still wanted.
func (s *Session) awaits(r *round) bool {
	if r.entry.Err() == nil {
		return true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.late.rounds[r.entry.ID()] != nil
}

// answeredLate drops an answer that nobody waits for any more (CAN15). A task that it names is cancelled.
func (s *Session) answeredLate(id rpc.ID, result []byte) {
	s.cfg.logger.Debug("a late answer was dropped", "id", id.String())
	s.mu.Lock()
	r := s.late.take(id, result)
	if r != nil {
		s.late.cancelling++ // under the lock: Close must not come between
	}
	s.mu.Unlock()
	if r != nil {
		s.cancelNamed(r, result)
		s.cancelEnded()
	}
}

// cancelEnded counts the end of a cancellation that cancelling counts.
func (s *Session) cancelEnded() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.late.cancelling--
	s.signalNoneLeft()
}

// forgetLate removes a request that can not be answered any more.
func (s *Session) forgetLate(id rpc.ID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.late.rounds, id)
	s.signalNoneLeft()
}

// cancelNamed cancels the task that a late answer names.
func (s *Session) cancelNamed(r *round, result []byte) {
	if result == nil {
		return
	}
	v, err := r.call.read(r.call.dialect.TaskCreated, result)
	if err != nil || !v.Has(wire.SlotTaskID) {
		return
	}
	s.newFollower(r.call.dialect, r.call.tool, readState(v, v.Text(wire.SlotTaskID))).abandon(ending{err: errCallerGone})
}

// errCallerGone is why a task is cancelled whose call was given up before the task was known.
var errCallerGone = errors.New("its caller has given up")

// abandon ends executions of the task at once, and has the task cancelled unless it is over, but only once because of the same execution. The cancellation is
// counted before the callers learn of the end: Close waits for it.
func (f *follower) abandon(e ending) {
	s := f.s
	e.over = true
	if terminal(f.currentState().Status) {
		f.end(e)
		return
	}
	s.mu.Lock()
	if x := e.one; x != nil {
		if x.givenUp {
			s.mu.Unlock()
			return
		}
		x.givenUp = true
	}
	s.late.cancelling++
	s.mu.Unlock()
	if !f.end(e) {
		s.cancelEnded()
		return
	}
	if !s.spawn(func() { defer s.cancelEnded(); f.cancelTask(e.err.Error()) }) {
		s.cancelEnded()
	}
}

// cancelWait is how long the cancellation of a task that was given up may take.
const cancelWait = 10 * time.Second

// cancelTask tells the server to cancel the task, and waits for its answer no longer than cancelWait.
func (f *follower) cancelTask(reason string) {
	ctx, cancel := context.WithTimeout(f.s.ctx, cancelWait)
	defer cancel()
	defer f.s.boundCancels(cancel)()
	if err := f.sendCancel(ctx, reason); err != nil {
		f.s.cfg.logger.Warn("a task was not cancelled, and may go on", "task", f.task, "error", err)
	}
}

// boundCancels counts a request that cancels a task, until done is called. end ends the request. If there are maxLate already, the oldest is ended.
func (s *Session) boundCancels(end context.CancelFunc) (done func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := &s.late.cancels
	if all.Len() >= maxLate {
		all.Remove(all.Front()).(context.CancelFunc)()
	}
	own := all.PushBack(end)
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		all.Remove(own)
	}
}

// addAwaited records the task that a call of CallTool has become; closing: Close has begun before, so the call itself gives the task up.
func (s *Session) addAwaited(x *execution) (closing bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.awaited[x] = struct{}{}
	return s.closing
}

// removeAwaited records that the call returns: its task is over, or was given up.
func (s *Session) removeAwaited(x *execution) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.awaited, x)
}

// giveUpTasks gives up, because of Close, the calls that have become tasks, or still may. Nobody has the Ref of such a task, so nobody else can cancel it
// (CAN11). A call that was answered stays in Session.calls until its task is known, so awaitLate waits for it. Then Start returns the task, and its caller
// has the Ref.
func (s *Session) giveUpTasks() {
	var tasks []*execution
	var rounds []*round
	s.mu.Lock()
	s.closing = true
	for x := range s.awaited {
		if !x.over {
			tasks = append(tasks, x)
		}
	}
	for c := range s.calls {
		c.mu.Lock()
		if c.mayBeTask && c.round != nil {
			rounds = append(rounds, c.round)
		}
		c.mu.Unlock()
	}
	s.mu.Unlock()
	for _, x := range tasks {
		x.giveUp(closedCause())
	}
	for _, r := range rounds {
		r.entry.Cancel(closedCause())
	}
}

// lateWait is how long the end of a session waits for tasks that have to be cancelled.
const lateWait = time.Second

// awaitLate waits up to lateWait until all tasks are cancelled that were given up, also those whose ids are not known yet.
func (s *Session) awaitLate(ctx context.Context) {
	s.mu.Lock()
	if s.lost != nil || !s.leavesTasks() {
		s.mu.Unlock()
		return
	}
	if s.late.noneLeft == nil {
		s.late.noneLeft = make(chan struct{})
	}
	noneLeft := s.late.noneLeft
	s.mu.Unlock()
	defer time.AfterFunc(taskOnItsWay, func() { // see lateAnswers.open
		s.mu.Lock()
		defer s.mu.Unlock()
		s.signalNoneLeft()
	}).Stop()
	timer := time.NewTimer(lateWait)
	defer timer.Stop()
	select {
	case <-noneLeft:
	case <-timer.C:
	case <-ctx.Done():
	case <-s.ctx.Done():
	}
}
