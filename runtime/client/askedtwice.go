package client

import (
	"bytes"
	"errors"

	"github.com/mcpkiln/mcpkiln/runtime/inflight"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
)

// A server asks the same question again: under the same id when the stream is resumed on which it came, or under a new one when the stream was lost on which
// its task asked. The user is asked once, and the server gets the answer that the user gives.

// givenAnswer is the answer to a question while it is sent.
type givenAnswer struct {
	given     bool      // there is an answer
	failed    bool      // it was not delivered the first time, and is sent again
	delivered bool      // to the same question under another id
	asked     *Question // the handler's
	result    []byte
	refusal   *Error
}

// repeat is a request that came again.
type repeat struct {
	message *rpc.Message
	from    *round
}

// sameQuestion is the same question of the same task under another id. Its clock is paused.
type sameQuestion struct {
	*question
	entry *inflight.Entry
}

// repeats reports whether a request is a question that is open already. One that comes while its answer is sent for the first time is kept until that has
// arrived or not. A server that uses the id for another request has the answer to the one before, though its receipt may be on its way.
func (s *Session) repeats(m *rpc.Message, from *round) bool {
	e := s.tracker.Find(s.key(m.ID, inflight.Incoming))
	if e == nil {
		return false
	}
	if e.Info() == sendsAnswer {
		e.Retire()
		return false
	}
	q, ok := e.Values().(*question)
	if !ok {
		return false
	}
	same := q.Method == string(m.Method) && bytes.Equal(q.Params, m.Params)
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case e.Err() != nil:
		return false
	case q.given && !same:
		e.Retire()
	case q.given && !q.failed:
		q.repeated = &repeat{m, from}
	}
	return same
}

// send sends the answer, and tells the host whether it has arrived.
func (q *question) send(e *inflight.Entry) {
	q.resumeClocks() // sending may take a while
	err := q.s.insistWhile(e, q.life, q.session, answerFrame(q.id, q.result, q.refusal), func() { q.noteFailed(e) })
	if errors.Is(err, errNoSession) {
		strand(q.asking())
	}
	q.resumeAskers()
	q.mu.Lock()
	again, same := q.repeated, []sameQuestion(nil)
	if !q.failed {
		same = q.takeSame() // they are not the same: they came after the answer
	}
	if !e.Retire() || err != nil {
		again = nil
	}
	if q.delivered {
		err = nil
	}
	q.mu.Unlock()
	q.s.tellAnswered(q.asked, err)
	if again != nil {
		q.s.receiveRequest(again.message, again.from)
	}
	askAgain(same)
}

// noteFailed records that the answer did not arrive: what came again meanwhile is the same question.
func (q *question) noteFailed(e *inflight.Entry) {
	q.mu.Lock()
	q.failed, q.repeated = true, nil
	same := q.takeSame()
	q.mu.Unlock()
	for _, other := range same {
		q.answerSame(e, other)
	}
}

// join has a question of a task get the answer to another one of the task that is the same, if a handler is being asked that, or its answer is being sent.
func (q *question) join(e *inflight.Entry) bool {
	q.mu.Lock()
	if q.joined || q.Task == "" || q.turn != nil || q.given {
		joined := q.joined
		q.mu.Unlock()
		return joined
	}
	q.joined = true
	q.mu.Unlock()
	for other, open := range q.s.questionsOf(q.Task) {
		if other != q && other.Method == q.Method && bytes.Equal(other.Params, q.Params) && other.add(open, sameQuestion{q, e}) {
			return true
		}
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.joined = false
	return false
}

// add has the other question get the answer to this one, if there is one or will be.
func (q *question) add(e *inflight.Entry, other sameQuestion) bool {
	q.mu.Lock()
	failed, open := q.failed, q.turn != nil || q.given
	if !open || e.Err() != nil || len(q.same) >= maxQuestions {
		q.mu.Unlock()
		return false
	}
	other.entry.Pause()
	q.same = append(q.same, other)
	q.mu.Unlock()
	if failed {
		q.answerSame(e, other)
	}
	return true
}

// answerSame sends the answer to q, whose entry is e, also to the same question under another id. If it arrives there, it need not be sent to q again.
func (q *question) answerSame(e *inflight.Entry, other sameQuestion) {
	q.s.spawn(func() {
		defer other.retire()
		if q.s.insistWhile(other.entry, other.life, other.session, answerFrame(other.id, q.result, q.refusal), func() {}) != nil {
			return
		}
		q.mu.Lock()
		defer q.mu.Unlock()
		q.delivered = true
		if q.failed {
			e.Retire()
		}
	})
}

// retire ends a question that has got its answer, or will have none. It may have waited until somebody followed the task.
func (q sameQuestion) retire() {
	q.s.mu.Lock()
	q.mu.Lock()
	q.stopWaiting()
	q.mu.Unlock()
	q.s.mu.Unlock()
	q.entry.Retire()
}

// takeSame returns the questions that wait for the answer to q, and forgets them; the lock is held.
func (q *question) takeSame() (same []sameQuestion) {
	same, q.same = q.same, nil
	return same
}

// askAgain has questions asked that were the same as one that is over, or was taken back from its handler.
func askAgain(same []sameQuestion) {
	for _, other := range same {
		other.mu.Lock()
		other.joined = false
		other.mu.Unlock()
		other.entry.Resume()
		other.ask(other.entry, nil)
	}
}
