package client

import (
	"bytes"
	"slices"

	"github.com/mcpkiln/mcpkiln/runtime/inflight"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

// A server may ask the same question again: under the same id when the stream is resumed on which it came, or under a new one when the stream was lost on which
// its task asked. The user is asked once. But a task may also ask something new in the same words, to which the user has not agreed (TSK29): so an answer goes
// to another id only if the server is known not to have it under the first. While a handler is asked, all these ids are one question: its dialog and its time end
// with the last of them.
//
//	                                  a task asks the same under another id    the same id comes again
//	a handler is asked                waits                                    is the same request
//	the answer is sent, or again      waits; after a while another question    is the same request; gets it once more if it has arrived
//	the request is withdrawn          gets it                                  is another question
//	the server refuses the answer     gets it                                  is another question
//	the answer has arrived            is another question                      gets it once more
//	it has failed, and may have       is another question                      is another question
//	its time has passed               is another question                      is the same request
//	it was left open                  is another question                      is left open

// isSame reports whether a request with that method and params asks the same question.
func (q *question) isSame(method string, params []byte) bool {
	return q.Method == method && bytes.Equal(q.Params, params)
}

// known returns a question with the same method and params that is in flight or answered, so that both have their text in the same memory (VAL07); nil: there
// is none.
func (s *Session) known(method string, params []byte) *question {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, a := range s.answers {
		if a.question.isSame(method, params) {
			return a.question
		}
	}
	return nil
}

// repeats has a request that came before in the same HTTP session get the answer to that, once more if it has arrived, and returns false for any other request.
// A server that uses an id for another request has the answer to the one before, though its acknowledgement may be on its way.
func (s *Session) repeats(m *rpc.Message, from *round) bool {
	session, e := s.sessionOf(from), s.tracker.Find(s.key(m.ID, inflight.Incoming))
	var q *question
	if e != nil {
		switch of := e.Values().(type) {
		case *question:
			q = of
		case *resultAsked:
			if !of.answered.Load() {
				return e.Err() == nil && e.Info().Method == string(m.Method) && bytes.Equal(of.params, m.Params)
			}
			e.Retire()
			e = nil
		default:
			return false
		}
	}
	s.mu.Lock()
	if q != nil && q.answer == nil { // it waits until somebody follows its task
		defer s.mu.Unlock()
		return e.Err() == nil && q.isSame(string(m.Method), m.Params)
	}
	r := s.recipientOf(q, m.ID, session)
	if r == nil || !r.isSame(string(m.Method), m.Params) {
		has := r != nil && r.answer.given
		s.mu.Unlock()
		if has && e != nil {
			e.Retire()
		}
		return false
	}
	a := r.answer
	r.again = r.again || r.stage >= stageSending && r.stage != stageMissed && !a.leftOpen
	s.mu.Unlock()
	a.proceed()
	return true
}

// recipientOf returns the latest recipient of an answer whose request has that id: q, if that is in flight with the id. nil: there is none. The lock is held.
func (s *state) recipientOf(q *question, id rpc.ID, session string) *recipient {
	if q != nil {
		return q.answer.recipient(q)
	}
	for _, a := range slices.Backward(s.answers) {
		for _, r := range a.recipients {
			if r.id.Same(id) && r.session == session && !r.over && a.lives() {
				return r
			}
		}
	}
	return nil
}

// newAnswer makes an answer of the question's own; the lock is held.
func (q *question) newAnswer(e *inflight.Entry) *answer {
	q.answer = &answer{question: q, recipients: []*recipient{{question: q, entry: e}}}
	q.s.answers = append(q.s.answers, q.answer)
	return q.answer
}

// sharesAnswer reports whether the question can get the answer to another: a person is not to be asked twice. Of a model, a task may want two samples.
func (q *question) sharesAnswer() bool { return q.Task != "" && q.op == wire.OpElicit }

// join has a question of a task wait for the answer to the same question of the task in the same HTTP session, unless the server has that, or may have it,
// and returns whether it does. On a shared link, which loses no stream, a question that was withdrawn
// does not come again: what asks the same there is another one. The lock is held.
func (q *question) join(e *inflight.Entry) bool {
	if !q.sharesAnswer() {
		return false
	}
	for _, a := range q.s.answers {
		over := a.arrived || a.inDoubt || a.late || a.kept != nil && a.kept.Err() != nil || len(a.recipients) >= maxQuestions
		if over || q.s.link.shared() && !a.isOpen() || a.question.session != q.session || !a.question.isSame(q.Method, q.Params) {
			continue
		}
		if a.isSlow() {
			a.overtaken = true
			continue
		}
		if a.kept != nil {
			a.endKept()
			a.kept = nil
		}
		a.recipients = append(a.recipients, &recipient{question: q, entry: e})
		q.answer = a
		return true
	}
	return false
}

// isOpen reports whether a request that gets the answer is not over; the lock is held.
func (a *answer) isOpen() bool {
	return slices.ContainsFunc(a.recipients, func(r *recipient) bool { return !r.over })
}

// askAgain has questions asked that are recipients no more: the question for which the handler was asked is over, was taken back, or turned out to be another.
func askAgain(others []*recipient) {
	for _, r := range others {
		r.ask(r.entry, nil)
	}
}
