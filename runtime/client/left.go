package client

import (
	"iter"
	"slices"

	"github.com/mcpkiln/mcpkiln/runtime/inflight"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
)

// A session remembers at most maxLeft tasks that nobody follows any more, and of them at most maxLeftBytes (VAL07). It first forgets those that are over,
// and then those that were left first: a task that goes on is remembered until so many others that go on have been left since.
const (
	maxLeft      = 256
	maxLeftBytes = 1 << 20
)

// remember adds a follower, in place of that of the same task if the task was over; the lock is held.
func (s *state) remember(f *follower) {
	if over := s.followers[f.task]; over != nil {
		s.left = slices.DeleteFunc(s.left, func(other *follower) bool { return other == over })
	}
	s.followers[f.task] = f
}

// leave counts a follower among those whose tasks nobody follows, and returns those that are forgotten for it; the lock is held.
func (s *state) leave(f *follower) (forgotten []*follower) {
	s.left = append(s.left, f)
	bytes := 0
	for _, f := range s.left {
		bytes += f.size()
	}
	for len(s.left) > maxLeft || bytes > maxLeftBytes {
		i := max(0, slices.IndexFunc(s.left, func(f *follower) bool { return f.over }))
		next := s.left[i]
		s.left = slices.Delete(s.left, i, i+1)
		delete(s.followers, next.task)
		bytes -= next.size()
		forgotten = append(forgotten, next)
	}
	return forgotten
}

// size is how many bytes of a server's texts the follower has.
func (f *follower) size() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.task) + len(f.tool) + len(f.state.Message) + f.questionKeyBytes
}

// goesOn reports whether nobody follows the task any more, and it is not known to be over.
func (f *follower) goesOn() bool {
	f.s.mu.Lock()
	defer f.s.mu.Unlock()
	return f.following == nil && !f.over
}

// Why the questions of a task are gone.
const (
	taskOver      = "the task that asked is over"
	taskLeft      = "the task that asked is not followed any more"
	taskForgotten = "the task that asked was left, and is forgotten because too many others were left, too"
)

// whyGone returns the cause of the end of a task's questions.
func whyGone(reason string) *Cause { return &Cause{Source: inflight.SourceParent, Reason: reason} }

// questionsOf yields the questions of a task that came as requests and are not over, oldest first.
func (s *Session) questionsOf(task string) iter.Seq2[*question, *inflight.Entry] {
	return func(yield func(*question, *inflight.Entry) bool) {
		for _, open := range s.tracker.List() {
			q, ok := open.Values.(*question)
			if !ok || q.Task != task {
				continue
			}
			if e := q.inFlight(); e != nil && !yield(q, e) {
				return
			}
		}
	}
}

// endQuestions ends the questions of a task that is over, or is forgotten.
func (f *follower) endQuestions(cause *Cause) {
	f.endLife(cause)
	for _, e := range f.s.questionsOf(f.task) {
		e.Cancel(cause)
	}
}

// leaveQuestions takes the questions of a task that nobody follows any more back from their handlers.
func (f *follower) leaveQuestions() {
	for q, e := range f.s.questionsOf(f.task) {
		q.leave(e)
	}
	f.askWaiting() // somebody may follow it again by now
}

// askWaiting has the questions asked that came, or were left, while nobody followed the task.
func (f *follower) askWaiting() {
	f.s.mu.Lock()
	waiting := f.s.unasked > 0
	f.s.mu.Unlock()
	if !waiting {
		return
	}
	for q, e := range f.s.questionsOf(f.task) {
		q.ask(e, nil)
	}
}

// leave takes the question back from its handler, because nobody follows its task any more: it waits until somebody does. So do those that share the dialog,
// unless somebody follows the task again by now.
func (q *question) leave(e *inflight.Entry) {
	s, cause := q.s, whyGone(taskLeft)
	s.mu.Lock()
	if q.answer == nil || q.answer.dialog == nil || e.Err() != nil {
		s.mu.Unlock()
		return
	}
	open, gone := q.answer.dialog, make(chan struct{})
	for _, r := range q.answer.recipients {
		r.gone = gone
	}
	others := q.answer.drop(q, cause)
	q.resumeAskers()
	q.mu.Lock()
	refusal := q.wait(e)
	q.mu.Unlock()
	s.mu.Unlock()
	q.refuse(refusal)
	if !s.spawn(func() { open.tellGone(s, cause, gone) }) {
		close(gone)
	}
	askAgain(others)
}

// tellGone tells the host that the question is taken back, after the host was told the same of the previous dialog, and closes told.
func (d *dialog) tellGone(s *Session, cause *Cause, told chan struct{}) {
	defer close(told)
	if d.previousGone != nil {
		<-d.previousGone
	}
	s.questionGone(d.asked, cause)
}

// wait has the question wait until somebody follows its task. If too many wait already, it ends instead, and wait returns the error for refuse; nil: there is
// nothing to refuse. The locks of the session and of the question are held.
func (q *question) wait(e *inflight.Entry) (refusal *Error) {
	switch {
	case q.waits:
	case q.s.unasked >= maxQuestions:
		if e.Retire() {
			return rpc.Errorf(rpc.CodeInternalError, "%d questions wait until somebody follows their tasks", maxQuestions)
		}
	default:
		q.waits = true
		q.s.unasked++
	}
	return nil
}

// refuse answers a question that can not even wait, or leaves it open if the session has only resumed its task. bad is nil if there is nothing to refuse.
func (q *question) refuse(bad *Error) {
	if bad == nil || q.s.leaveOpen(q.copyForHost(), bad) {
		return
	}
	q.s.spawn(func() { // what detaches does not wait for the link
		to := q.s.originOf(q.from)
		to.task = q.Task
		q.s.link.reply(to, rpc.AppendError(nil, q.id, bad))
	})
}

// stopWaiting ends what wait began. The locks of the session and of the question are held.
func (q *question) stopWaiting() {
	if q.waits {
		q.waits = false
		q.s.unasked--
	}
}
