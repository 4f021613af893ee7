package client

import (
	"bytes"
	"slices"

	"github.com/mcpkiln/mcpkiln/runtime/inflight"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
)

// A server asks the same question again: under the same id when the stream is resumed on which it came, or under a new one when the stream was lost on which
// its task asked. The user is asked once, and each request gets the answer:
//
//	                       a task asks the same under another id    the same id comes again
//	a handler is asked     gets the answer, too                     is the same request
//	the answer is sent     waits until it has arrived, or failed    is the same request; gets it once more if it has arrived
//	it has not arrived     gets it at once                          is the same request
//	it has arrived         is another question                      gets it once more

// isSame reports whether a request asks the question.
func (q *question) isSame(method string, params []byte) bool {
	return q.Method == method && bytes.Equal(q.Params, params)
}

// repeats reports whether a request came before, and gets the answer to that. A server that uses an id for another request has the answer to the one
// before, though its receipt may be on its way.
func (s *Session) repeats(m *rpc.Message, from *round) bool {
	e := s.tracker.Find(s.key(m.ID, inflight.Incoming))
	if e != nil && e.Info() == sendsAnswer {
		e.Retire()
		e = nil
	}
	if e == nil {
		return s.answersAgain(m, s.sessionOf(from))
	}
	q, ok := e.Values().(*question)
	if !ok || e.Err() != nil {
		return false
	}
	same := q.isSame(string(m.Method), m.Params)
	s.mu.Lock()
	defer s.mu.Unlock()
	switch a := q.answer; {
	case a == nil || !a.given:
	case !same:
		e.Retire()
	default:
		if r := a.request(q); r != nil {
			r.again = r.stage == tries
		}
	}
	return same
}

// answersAgain answers a request that is not in flight, and came before in the same HTTP session, as it was answered then.
func (s *Session) answersAgain(m *rpc.Message, session string) bool {
	a, r := s.answered(m, session)
	switch {
	case r == nil:
		return false
	case a != nil:
		s.link.reply(a.frame(r))
	}
	return true
}

// answered returns the request that a message repeats, and its answer; nil: that is on its way.
func (s *Session) answered(m *rpc.Message, session string) (*answer, *recipient) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, a := range s.answers {
		if !a.of.isSame(string(m.Method), m.Params) || !a.lives() {
			continue
		}
		for _, r := range a.requests {
			if !r.id.Same(m.ID) || r.session != session || r.stage == recalled {
				continue
			}
			if r.stage == arrived {
				return a, r
			}
			r.again = true
			return nil, r
		}
	}
	return nil, nil
}

// open has a question get its own answer, which a handler is to be asked for; the lock is held.
func (q *question) open(e *inflight.Entry) {
	q.answer = &answer{of: q, requests: []*recipient{{question: q, entry: e}}}
	q.s.answers = append(q.s.answers, q.answer)
}

// join has a question of a task get the answer to the same question of the task in the same HTTP session, unless the server has that, and reports whether it
// does. Its clock is paused until it is asked itself. The lock is held.
func (q *question) join(e *inflight.Entry) bool {
	if q.Task == "" {
		return false
	}
	for _, a := range q.s.answers {
		over := a.arrived || a.kept != nil && a.kept.Err() != nil || len(a.requests) >= maxQuestions
		if over || a.of.Task != q.Task || a.of.session != q.session || !a.of.isSame(q.Method, q.Params) {
			continue
		}
		if a.kept != nil {
			a.endKept()
			a.kept = nil
		}
		e.Pause()
		a.requests = append(a.requests, &recipient{question: q, entry: e})
		q.answer = a
		return true
	}
	return false
}

// split removes the requests but that of the question itself, which may be gone, and returns them: they have to be asked for. The lock is held.
func (a *answer) split() (others []*recipient) {
	a.requests = slices.DeleteFunc(a.requests, func(r *recipient) bool {
		if r.question == a.of {
			return false
		}
		r.answer = nil
		others = append(others, r)
		return true
	})
	return others
}

// drop is split for an answer that will not be sent; the lock is held.
func (a *answer) drop() (others []*recipient) {
	s := a.of.s
	s.answers = slices.DeleteFunc(s.answers, func(other *answer) bool { return other == a })
	a.of.answer = nil
	return a.split()
}

// dropAnswer is answer.drop.
func (q *question) dropAnswer() (others []*recipient) {
	q.s.mu.Lock()
	defer q.s.mu.Unlock()
	return q.answer.drop()
}

// askAgain has questions asked that waited for the answer to one that is over, was taken back from its handler, or is another.
func askAgain(others []*recipient) {
	for _, r := range others {
		r.entry.Resume()
		r.ask(r.entry, nil)
	}
}
