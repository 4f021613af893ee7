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
	ended      bool               // questionEnded has been called
	waits      bool               // for somebody to follow its task
	askers     map[*call]struct{} // the calls that may have asked; nil: no handler is asked, see isAsked
	caller     *call              // the one that has asked: when it is over, so is the question. nil: that is not known
	pausedTask *follower          // the task for which countQuestions counts it as open; nil: none

	// Guarded by Session.mu.
	answer *answer       // the one that it gets: its own, or that to the same question of an earlier request; nil: it waits, or is over
	gone   chan struct{} // closed when QuestionGone has returned for the latest dialog that was taken back; nil: there was none
}

// copyForHost returns a copy of the question for the host, which may change it.
func (q *question) copyForHost() *Question {
	asked := *q.Question
	return &asked
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
	case s.tracker.Find(s.key(m.ID, inflight.Incoming)) != nil: // an answer would be that of the request which has the id (CAN08)
		s.link.reply(s.originOf(from), rpc.AppendError(nil, m.ID, rpc.Errorf(rpc.CodeInvalidRequest, "%v", inflight.ErrInFlight)))
		return
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
		q.Question, q.bad, q.taskParams = same.copyForHost(), same.bad, same.taskParams
	} else {
		q.Question, q.bad = s.newQuestion(d, h, m.Params)
		q.taskParams = s.taskParamsOf(d, h, m.Params)
	}
	q.life = s.lifeOf(q.Task, from)
	info := inflight.Info{Kind: inflight.Kind{Method: h.Name, AnswersTimeout: !s.onlyResumed(q.Task)}} // the time is that of the dialog
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
		s.createTask(q, own, from)
		return
	default:
		answers := own.retire(e)
		if answers && own.answer.leaveOpen(bad) {
			return
		}
		others := own.drop(q)
		if answers {
			to := s.originOf(q.from)
			to.task = q.Task
			s.link.reply(to, rpc.AppendError(nil, q.id, bad))
		}
		askAgain(others)
		return
	}
	q.pauseAskers(from)
	if over() { // the call has ended meanwhile
		q.end(e, whyGone(callOver))
	}
	s.countActive(1)
	if !s.spawnInTurn(func() { q.serve(own) }) {
		s.countActive(-1)
		e.Cancel(&Cause{Source: inflight.SourceShutdown})
	}
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

// replyAtOnce is link.reply for a caller that does not wait for a server that does not read. On a shared link the answer is sent before that to any message that
// is read later.
func (s *Session) replyAtOnce(to origin, frame []byte) {
	if s.link.shared() {
		ctx, cancel := context.WithCancel(context.Background())
		if cancel(); s.link.send(ctx, frame, nil) == nil {
			return
		}
	}
	s.spawn(func() { s.link.reply(to, frame) })
}

func answerFrame(id rpc.ID, result []byte, bad *Error) []byte {
	if bad != nil {
		return rpc.AppendError(nil, id, bad)
	}
	return rpc.AppendResult(nil, id, result)
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
