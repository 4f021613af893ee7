package client

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/mcpkiln/mcpkiln/runtime/inflight"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

// question is a question that the server sent as a request. It is the Values of its entry.
type question struct {
	context.Context // nil; the tracker asks for values only
	*Question
	s           *Session
	dialect     *wire.Dialect
	op          wire.Op
	id          rpc.ID
	session     string          // id of the HTTP session in which it came; "" for none
	from        *round          // the request on whose stream it came; nil: not known
	bad         *Error          // why it can not be asked
	taskParams  []byte          // the member of its params that asks for a task; nil: there is none
	life        context.Context // ends with the request or task that asks, as far as that is known, else with the session
	entryMemory inflight.Room

	handled atomic.Bool // of a question that was answered with a task: the handler was called, or will not be

	mu         sync.Mutex
	dialog     *dialog            // nil: no handler is being asked
	gone       chan struct{}      // closed when QuestionGone has returned for the latest dialog that was taken back; nil: there was none
	ended      bool               // questionEnded has been called
	waits      bool               // for somebody to follow its task
	askers     map[*call]struct{} // the calls that may have asked; when the last of them is over, so is the question. nil: it is not being asked
	pausedTask *follower          // the task for which countQuestions counts it as open; nil: none

	answer *answer // the one that it gets: its own, or that to the same question of an earlier request; nil: it waits, or is over. Guarded by Session.mu
}

// dialog is one time that a handler is asked. A question that was taken back gets another one when somebody follows its task again.
type dialog struct {
	context.Context                         // of the handler
	cancel          context.CancelCauseFunc // ends the dialog alone; nil: only the end of the question ends it
	asked           *Question               // the handler's own
	previousGone    <-chan struct{}         // question.gone of the previous dialog; nil: there was none
	failure         error                   // of the handler, which has no answer that can be sent
}

// own returns a copy of the question for the host, which may change it.
func (q *question) own() *Question {
	asked := *q.Question
	return &asked
}

// leaveOpen is Session.leaveOpen for the question and the recipients of its answer.
func (q *question) leaveOpen(why error) bool {
	if !q.s.leaveOpen(q.own(), why) {
		return false
	}
	q.resumeAskers()
	q.s.mu.Lock()
	defer q.s.mu.Unlock()
	q.answer.leaveOpen()
	return true
}

// Value implements context.Context.
func (*question) Value(any) any { return nil }

// receiveRequest handles a request of the server.
func (s *Session) receiveRequest(m *rpc.Message, from *round) {
	if s.repeats(m, from) {
		return
	}
	d := s.dialect.Load()
	h := d.IncomingOf(string(m.Method))
	switch {
	case h != nil && h.Op == wire.OpPing:
		s.link.reply(origin{session: s.sessionOf(from)}, rpc.AppendResult(nil, m.ID, nil)) // no call waits for that
		return
	case h == nil && s.echoed(m):
		return
	case h == nil || h.Notification || h.Input || h.Capability == "":
		s.link.reply(s.originOf(from), rpc.AppendError(nil, m.ID, rpc.Errorf(rpc.CodeMethodNotFound, "unknown method %q", m.Method)))
		return
	}
	switch h.Op {
	case wire.OpGetTask, wire.OpTaskResult, wire.OpListTasks, wire.OpCancelTask:
		s.receiveTaskRequest(d, h, m, s.originOf(from))
		return
	}
	q := &question{s: s, dialect: d, op: h.Op, id: m.ID, session: s.sessionOf(from), from: from}
	if same := s.known(h.Name, m.Params); same != nil {
		q.Question, q.bad, q.taskParams = same.own(), same.bad, same.taskParams
	} else {
		q.Question, q.bad = s.newQuestion(d, h, m.Params)
		q.taskParams = s.taskParamsOf(d, h, m.Params)
	}
	q.life = s.lifeOf(q.Task, from)
	info := inflight.Info{Method: h.Name, Timeout: s.cfg.questionTimeout, AnswersTimeout: !s.onlyResumed(q.Task)}
	e, err := s.tracker.RegisterIn(&q.entryMemory, s.ctx, s.key(m.ID, inflight.Incoming), info, q)
	if err != nil {
		s.link.reply(s.originOf(from), rpc.AppendError(nil, m.ID, rpc.Errorf(rpc.CodeInvalidRequest, "%v", err)))
		return
	}
	q.ask(e, from)
}

// ask has the handler asked, unless the question is to wait. from is the request on whose stream the question came; nil: it is not known, or does not ask.
func (q *question) ask(e *inflight.Entry, from *round) {
	s, own := q.s, q.nextDialog(e)
	over := func() bool { return from != nil && q.Task == "" && from.entry.Err() != nil }
	bad := q.bad
	switch {
	case own == nil:
		return
	case bad == nil && over(): // the user could not know what the question is about
		bad = rpc.Errorf(rpc.CodeInvalidRequest, "the call that asks is over")
	case bad == nil && s.asksTooMany():
		bad = rpc.Errorf(rpc.CodeInternalError, "%d questions are open", maxQuestions)
	}
	switch {
	case bad == nil && q.taskParams == nil:
	case bad == nil:
		s.createTask(q, e, own, from)
		return
	case !q.retire(e, own):
		return
	default:
		if q.leaveOpen(bad) {
			return
		}
		others := q.dropAnswer()
		to := s.originOf(q.from)
		to.task = q.Task
		s.link.reply(to, rpc.AppendError(nil, q.id, bad))
		askAgain(others)
		return
	}
	q.pauseAskers(from)
	if over() { // the call has ended meanwhile
		e.Cancel(&Cause{Source: inflight.SourceParent, Reason: "the call that asked is over"})
	}
	s.countActive(1)
	if !s.spawnInTurn(func() { q.serve(e, own) }) {
		s.countActive(-1)
		e.Cancel(&Cause{Source: inflight.SourceShutdown, Force: true})
	}
}

// nextDialog begins a dialog and returns it; nil: no handler is to be asked, because nobody follows the task that asks, or the question is over or being
// asked already, or it gets the answer to the same question. A question of a task that is over is dropped.
func (q *question) nextDialog(e *inflight.Entry) (next *dialog) {
	s, dropped := q.s, ""
	var joined *answer
	s.mu.Lock()
	q.mu.Lock()
	switch f := s.followers[q.Task]; {
	case q.answer != nil || e.Err() != nil:
	case f != nil && (f.over || terminal(f.currentState().Status)):
		dropped = "the task that asks is over"
		q.stopWaiting(e)
		e.Retire()
	case q.join(e):
		q.stopWaiting(e)
		joined = q.answer
	case f != nil && f.following == nil:
		dropped = q.wait(e)
	default:
		q.stopWaiting(e)
		q.newAnswer(e)
		next = &dialog{Context: e, asked: q.own(), previousGone: q.gone}
		if q.Task != "" {
			next.Context, next.cancel = context.WithCancelCause(e)
		}
		q.dialog, q.askers = next, map[*call]struct{}{}
	}
	q.mu.Unlock()
	s.mu.Unlock()
	q.tellDropped(dropped)
	if joined != nil {
		joined.proceed()
	}
	return next
}

// endDialog ends the context of the handler, and no longer counts the question as an open one of its task; the lock is held.
func (q *question) endDialog(cause *Cause) {
	if q.dialog.cancel != nil {
		q.dialog.cancel(cause)
	}
	if q.pausedTask != nil {
		q.pausedTask.countQuestions(-1)
	}
	q.dialog, q.askers, q.pausedTask = nil, nil, nil
}

// echoed ends a request of this side that comes back as one of the server's: the other side is no server, but something that writes what it
// reads.
func (s *Session) echoed(m *rpc.Message) bool {
	e := s.tracker.Find(s.key(m.ID, inflight.Outgoing))
	if e == nil || e.Info().Method != string(m.Method) {
		return false
	}
	e.Values().(*round).fault(broken("", "it sends back what it is sent: this is no server"))
	s.tracker.Deliver(e.Key(), inflight.Response{})
	return true
}

// maxQuestions is how many questions of a server may be answered by handlers, or have their answers sent, at the same time. It is also how many may wait until
// somebody follows their tasks.
const maxQuestions = 100

// countActive counts the questions that handlers are answering, and the answers that are being sent.
func (s *Session) countActive(by int) {
	s.mu.Lock()
	s.activeQuestions += by
	s.mu.Unlock()
}

// asksTooMany reports whether maxQuestions questions are being answered already.
func (s *Session) asksTooMany() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.activeQuestions >= maxQuestions
}

// retire retires the question's entry if own is still the open dialog: then the caller alone may answer the question (CAN02).
func (q *question) retire(e *inflight.Entry, own *dialog) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.dialog == own && e.Retire()
}

// give ends a dialog, records its answer, and returns the request to which that is to be sent. The entry stays until the answer is sent, so that a cancellation
// that is read meanwhile ends it (CAN02). asked is what the handler was asked, nil if the answer names a task. a is nil if the question is over, or was taken
// back (CAN31).
func (q *question) give(e *inflight.Entry, own *dialog, asked *Question, result []byte, bad *Error) (a *answer, send []*recipient) {
	q.s.mu.Lock()
	defer q.s.mu.Unlock()
	q.mu.Lock()
	defer q.mu.Unlock()
	e.Pause() // it is answered in time
	if q.dialog != own || e.Err() != nil {
		e.Resume()
		return nil, nil
	}
	q.dialog, a = nil, q.answer
	a.asked, a.failure, a.namesTask = asked, own.failure, asked == nil && bad == nil
	return a, a.give(result, bad)
}

// serve calls the handler, and sends its answer.
func (q *question) serve(e *inflight.Entry, own *dialog) {
	s := q.s
	defer s.countActive(-1)
	if own.previousGone != nil {
		<-own.previousGone
		if own.Err() != nil {
			return // it was taken back again meanwhile
		}
	}
	result, bad, failure := s.answer(own.Context, q.dialect, q.op, own.asked)
	own.failure = failure
	a, send := q.give(e, own, own.asked, result, bad)
	switch {
	case a == nil:
		s.cfg.logger.Debug("an answer to a question that is over was dropped", "id", q.id.String())
		if cause := e.Cause(); cause != nil && cause.Source != inflight.SourceCompleted {
			s.questionEnded(e, cause) // what has ended the question may call this only when Close, which waits for this goroutine, has returned
		}
		s.tellAnswered(own.asked, whyLate(e, own))
	case failure == nil || !q.leaveOpen(failure):
		a.sendAll(send)
	}
}

// sessionOf is the id of the HTTP session in which a message came: on the stream of a request, or of the session.
func (s *Session) sessionOf(from *round) string {
	if from != nil {
		return from.session
	}
	return s.link.sessionID()
}

// endAsked ends, with cause, those requests of the server for whose Values ended returns true.
func (s *Session) endAsked(cause *Cause, ended func(values context.Context) bool) {
	for _, open := range s.tracker.List() {
		if open.Key.Direction != inflight.Incoming || !ended(open.Values) {
			continue
		}
		if e := s.tracker.Find(open.Key); e != nil {
			e.Cancel(cause)
		}
	}
}

func answerFrame(id rpc.ID, result []byte, bad *Error) []byte {
	if bad != nil {
		return rpc.AppendError(nil, id, bad)
	}
	return rpc.AppendResult(nil, id, result)
}

// whyLate returns why the answer of a dialog was dropped: the question may have ended later than the dialog, and for another reason.
func whyLate(e *inflight.Entry, own *dialog) *Cause {
	if own.Err() != nil {
		return causeOf(own)
	}
	return causeOf(e)
}

// questionEnded is called when the entry of a question has ended without being answered. If the time of the question has passed, the server gets an answer
// all the same. If there is an answer, the question is its recipient no more.
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
	last, a := q.dialog, q.answer
	q.dialog = nil
	q.stopWaiting(e)
	var others []*recipient
	switch {
	case last != nil:
		others = a.drop()
	case a != nil:
		defer a.end(q, cause)
	}
	late := cause.Source == inflight.SourceTimeout && q.answer == nil
	if late {
		q.newAnswer(e)
		q.answer.late = true
	}
	q.mu.Unlock()
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
		case late && answers:
			q.giveUnasked(unanswered(q.dialect, q.op))
		case late && q.leaveOpen(cause):
		case last != nil:
			q.resumeAskers()
		}
	}
	if !s.spawn(tell) {
		tell()
	}
}

// tellAnswered calls Handlers.Answered.
func (s *Session) tellAnswered(q *Question, err error) {
	if f := s.cfg.handlers.Answered; f != nil {
		f(q, err)
	}
}

// questionGone calls Handlers.QuestionGone.
func (s *Session) questionGone(q *Question, cause error) {
	if f := s.cfg.handlers.QuestionGone; f != nil {
		f(q, cause)
	}
}
