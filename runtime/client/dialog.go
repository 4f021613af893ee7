package client

import (
	"context"
	"slices"
	"sync"

	"github.com/mcpkiln/mcpkiln/runtime/inflight"
)

// dialog is one time that a handler is asked, for a question and all that share its answer. It ends with the answer, when its time has passed, or when the last
// of these questions is over: to withdraw one of them takes nothing from a person who fills in the form. A question that was taken back gets another dialog
// when somebody follows its task again.
type dialog struct {
	context.Context                         // of the handler; its deadline is when the time of the question has passed
	end             context.CancelCauseFunc // only answer.endDialog calls it
	answer          *answer                 // for which the handler is asked
	asked           *Question               // the handler's own
	previousGone    <-chan struct{}         // question.gone of the previous dialog; nil: there was none
	failure         error                   // of the handler, which has no answer that can be sent
	expired         sync.Once               // see expire
}

// nextDialog begins a dialog and returns it; nil: no handler is to be asked, because nobody follows the task that asks, or the question is over or being
// asked already, or it gets the answer to the same question. A question of a task that is over is dropped.
func (q *question) nextDialog(e *inflight.Entry) (next *dialog) {
	s, dropped := q.s, false
	var joined *answer
	var refusal *Error
	s.mu.Lock()
	q.mu.Lock()
	switch f := s.followers[q.Task]; {
	case q.answer != nil || e.Err() != nil:
	case f != nil && (f.over || terminal(f.currentState().Status)):
		dropped = true
		q.stopWaiting()
		e.Retire()
	case q.join(e):
		q.stopWaiting()
		joined = q.answer
	case f != nil && f.following == nil:
		refusal = q.wait(e)
	default:
		q.stopWaiting()
		q.askers = map[*call]struct{}{}
		next = q.newAnswer(e).beginDialog()
	}
	q.mu.Unlock()
	s.mu.Unlock()
	if dropped {
		s.cfg.logger.Warn("a question was dropped: the task that asks is over", "task", q.Task, "method", q.Method)
	}
	q.refuse(refusal)
	if joined != nil {
		joined.proceed()
	}
	return next
}

// beginDialog begins a dialog, whose time passes from now on; the lock is held.
func (a *answer) beginDialog() *dialog {
	q := a.question
	own := &dialog{answer: a, asked: q.copyForHost(), previousGone: q.gone}
	ctx, end := context.WithCancelCause(context.Background()) // not of the session, whose end is no *Cause
	own.Context, _ = q.s.withQuestionTimeout(ctx)             // end stops the timer, too
	own.end, a.dialog = end, own
	context.AfterFunc(own, own.expire)
	return own
}

// endDialog ends the open dialog, if there is one; the lock is held.
func (a *answer) endDialog(cause *Cause) {
	if a.dialog != nil {
		a.dialog.end(cause)
		a.dialog = nil
	}
}

// expire ends the first question of an open dialog whose time has passed, and so the dialog. It does so once: to end a request again whose time has passed is to
// withdraw it.
func (own *dialog) expire() {
	if own.Err() == nil {
		return
	}
	own.expired.Do(func() {
		if all := own.open(); len(all) > 0 {
			all[0].entry.Cancel(causeOf(own))
		}
	})
}

// open returns the recipients of an open dialog; nil: it is over.
func (own *dialog) open() []*recipient {
	a := own.answer
	a.question.s.mu.Lock()
	defer a.question.s.mu.Unlock()
	if a.dialog != own {
		return nil
	}
	return slices.Clone(a.recipients)
}

// retire retires the question's entry if the dialog is still open: then the caller alone may answer the question (CAN02).
func (own *dialog) retire(e *inflight.Entry) bool {
	s := own.answer.question.s
	s.mu.Lock()
	defer s.mu.Unlock()
	return own.answer.dialog == own && e.Retire()
}

// drop is answer.drop for a dialog in which no handler can be asked; it returns nil if the dialog is over.
func (own *dialog) drop(q *question) (others []*recipient) {
	q.s.mu.Lock()
	defer q.s.mu.Unlock()
	if own.answer.dialog != own {
		return nil
	}
	return own.answer.drop(q, handlerReturned)
}

// drop ends an answer that will not be given, and its dialog. It returns its recipients without q, which pause no clocks any more; the lock is held.
func (a *answer) drop(q *question, cause *Cause) (others []*recipient) {
	s := q.s
	a.endDialog(cause)
	s.answers = slices.DeleteFunc(s.answers, func(other *answer) bool { return other == a })
	for _, r := range a.recipients {
		if r.answer = nil; r.question != q {
			r.resumeAskers()
			others = append(others, r)
		}
	}
	a.recipients = nil
	return others
}

// handlerReturned is the cause with which a dialog ends that needs no other.
var handlerReturned = &Cause{Source: inflight.SourceCompleted}

// give ends a dialog, records its answer, and returns the request to which that is to be sent. The entry stays until the answer is sent, so that a cancellation
// that is read meanwhile ends it (CAN02). asked is what the handler was asked, nil if the answer names a task. given is false if the dialog is over: its time
// has passed, all its questions are over, or were taken back (CAN31).
func (own *dialog) give(asked *Question, result []byte, bad *Error) (given bool, send []*recipient) {
	a := own.answer
	q := a.question
	q.s.mu.Lock()
	defer q.s.mu.Unlock()
	open := a.dialog == own && own.Err() == nil
	if !open || !slices.ContainsFunc(a.recipients, func(r *recipient) bool { return r.entry.Err() == nil }) {
		return false, nil
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	a.endDialog(handlerReturned)
	a.asked, a.failure, a.namesTask = asked, own.failure, asked == nil && bad == nil
	return true, a.give(result, bad)
}

// serve calls the handler, and sends its answer.
func (q *question) serve(own *dialog) {
	s, a := q.s, own.answer
	defer s.countActive(-1)
	if own.previousGone != nil {
		<-own.previousGone
		if own.Err() != nil {
			return // it was taken back again meanwhile
		}
	}
	result, bad, failure := s.answer(own, q.dialect, q.op, own.asked)
	own.failure = failure
	given, send := own.give(own.asked, result, bad)
	switch {
	case !given:
		s.cfg.logger.Debug("an answer to a question that is over was dropped", "id", q.id.String())
		own.settle()
		s.tellAnswered(own.asked, causeOf(own))
	case failure == nil || !a.leaveOpen(failure):
		a.sendAll(send)
	}
}

// settle has the end of a dialog told that no answer can be given to any more: what has ended its questions may do that only when Close, which waits for this
// goroutine, has returned.
func (own *dialog) settle() {
	own.expire()
	for _, r := range own.open() {
		if cause := r.entry.Cause(); cause != nil {
			r.s.questionEnded(r.entry, cause)
		}
	}
}

// pass takes a question that is over from an open dialog, which goes on for the others; false: there are none, or the dialog is to end, or no handler is called
// in it. The lock is held.
func (a *answer) pass(q *question) bool {
	if a.dialog.Err() != nil || q.taskParams != nil || len(a.recipients) < 2 {
		return false
	}
	a.recipients = slices.DeleteFunc(a.recipients, func(r *recipient) bool { return r.question == q })
	q.answer = nil
	a.recipients[0].takeAskers(q)
	return true
}

// takeAskers has the question pause the clocks that another one of its task has paused; the lock of the session is held.
func (q *question) takeAskers(from *question) {
	q.mu.Lock()
	if !q.isAsked() {
		q.askers = map[*call]struct{}{}
	}
	q.mu.Unlock()
	if f := q.s.followers[q.Task]; f != nil {
		q.pauseTask(f)
	}
	from.resumeAskers()
}

// questionEnded is called when the entry of a question has ended without being answered. If the time of the question has passed, the server gets an answer
// all the same. If others share its dialog, that goes on. If there is an answer, the question is its recipient no more.
func (s *Session) questionEnded(e *inflight.Entry, cause *Cause) {
	q, ok := e.Values().(*question)
	if !ok {
		return // it is a request for the result of a task
	}
	s.mu.Lock()
	q.mu.Lock()
	if q.ended {
		q.mu.Unlock()
		s.mu.Unlock()
		return
	}
	q.ended = true
	q.stopWaiting()
	q.mu.Unlock()
	a := q.answer
	var last *dialog
	var others []*recipient
	switch {
	case a == nil:
	case a.dialog == nil:
		defer a.end(q, cause)
	case !a.pass(q):
		last = a.dialog
		others = a.drop(q, cause)
	}
	var late *answer
	if cause.Source == inflight.SourceTimeout && q.answer == nil {
		late = q.newAnswer(e)
		late.late = true
	}
	s.mu.Unlock()
	tell := func() {
		if last != nil {
			q.resumeClocks()
			if last.previousGone != nil {
				<-last.previousGone
			}
			s.questionGone(last.asked, cause)
		}
		askAgain(others)
		switch answers := cause.Source == inflight.SourceTimeout && e.AnswerTimeout(); {
		case late != nil && answers:
			q.giveUnasked(unanswered(q.dialect, q.op))
		case late != nil && late.leaveOpen(cause):
		case last != nil:
			q.resumeAskers()
		}
	}
	if !s.spawn(tell) {
		tell()
	}
}
