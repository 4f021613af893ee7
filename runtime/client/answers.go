package client

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/inflight"
)

// answer is the answer to a question, from the moment in which a handler is asked, and the requests that get it. Guarded by Session.mu.
type answer struct {
	of       *question    // for which the handler is asked
	requests []*recipient // oldest first; without those that are gone
	given    bool         // by the handler, or because its time has passed
	result   []byte
	refusal  *Error
	askers   map[*call]struct{} // those of the question when it was answered, or its time had passed
	asked    *Question          // the handler's, for Handlers.Answered; nil: that is not called, or has been
	arrived  bool               // under one id at least
	err      error              // why it has not

	withdrawn bool            // what was gone last
	kept      context.Context // ends when the answer is kept no longer for a task that may ask again; nil: it is not kept for that
	endKept   context.CancelFunc
}

// recipient is one request that gets an answer.
type recipient struct {
	*question
	entry *inflight.Entry
	stage stage
	again bool // the request came again while the answer was sent
}

// stage is what has become of a request.
type stage uint8

const (
	waits     stage = iota // for the answer, or until it is known whether the server has it
	tries                  // the answer is being sent
	recalled               // the request is over while the answer is being sent
	missed                 // the answer has failed to arrive, and will be sent again
	arrived                // the server has the answer
	gone                   // the request is over, or sending has failed for good
	withdrawn              // the server has taken the request back, and does not have the answer
)

// The answer to what a task has withdrawn is kept for keptFor: the task may ask again. Of those answers, and of those that have arrived, a session keeps the
// latest maxAnswers, and maxAnswerBytes if they are several (VAL07).
const (
	keptFor        = 10 * time.Second
	maxAnswers     = 256
	maxAnswerBytes = 1 << 20
)

func (a *answer) frame(r *recipient) []byte { return answerFrame(r.id, a.result, a.refusal) }

// request returns the request that is q; nil: it is gone. The lock is held.
func (a *answer) request(q *question) *recipient {
	for _, r := range a.requests {
		if r.question == q {
			return r
		}
	}
	return nil
}

// give records the answer, and returns the requests to which it is to be sent, that of the question itself first; the locks of the session and of the
// question are held.
func (a *answer) give(result []byte, refusal *Error) (send []*recipient) {
	a.given, a.result, a.refusal = true, result, refusal
	if a.of.askers != nil {
		a.askers = maps.Clone(a.of.askers)
	}
	send, _ = a.next()
	return send
}

// giveUnasked is give for an answer of no handler. The caller sends it to the first request, which is q.
func (q *question) giveUnasked(result []byte, refusal *Error) (a *answer, first *recipient) {
	q.s.mu.Lock()
	q.mu.Lock()
	a = q.answer
	send := a.give(result, refusal)
	q.mu.Unlock()
	q.s.mu.Unlock()
	a.sendAll(send[1:])
	return a, send[0]
}

// sendAll sends the answer to requests, each in a goroutine of its own.
func (a *answer) sendAll(requests []*recipient) {
	for _, r := range requests {
		if !r.s.spawn(func() { a.send(r) }) {
			a.move(r, gone, r.s.endCause())
		}
	}
}

// send sends the answer to a request until it has arrived, need not arrive any more, or fails for good.
func (a *answer) send(r *recipient) {
	r.resumeClocks() // sending may take a while
	err := r.s.insistWhile(r.entry, r.life, r.session, a.frame(r), func(send func() error) error {
		a.move(r, tries, nil)
		err := send()
		if cause := r.entry.Cause(); err == nil && takenBack(cause) {
			err = cause // the receipt came after that, so the server may have dropped the answer
		}
		if err != nil {
			a.move(r, missed, err)
			return err
		}
		r.resumeAskers()
		a.move(r, arrived, nil)
		return nil
	})
	if errors.Is(err, errNoSession) {
		strand(r.asking())
	}
	r.resumeAskers()
	a.sent(r, err)
}

// sent records the end of sending the answer to a request.
func (a *answer) sent(r *recipient, err error) {
	to, cause := gone, r.entry.Cause()
	switch {
	case err == nil:
		to = arrived
	case takenBack(cause):
		to = withdrawn
	}
	r.entry.Retire()
	a.move(r, to, err)
}

// takenBack reports whether the server has taken a request back, by why it is over.
func takenBack(cause *Cause) bool { return cause != nil && cause.Source == inflight.SourcePeer }

// recall records that a request is over which may be getting the answer, because of cause.
func (a *answer) recall(q *question, cause *Cause) {
	q.s.mu.Lock()
	r := a.request(q)
	q.s.mu.Unlock()
	if r != nil {
		a.move(r, recalled, cause)
	}
}

// move records what has become of a request, and does what follows from that.
func (a *answer) move(r *recipient, to stage, err error) {
	s := a.of.s
	s.mu.Lock()
	switch {
	case r.stage == recalled && to < arrived:
		to = recalled
	case to == recalled && r.stage == waits:
		to = gone
	case to == recalled && r.stage == missed: // its sending ends
		to = missed
	}
	if r.stage < arrived {
		r.stage = to
		a.moved(r, err)
	}
	s.mu.Unlock()
	a.follow()
}

// moved records what the new stage of a request says of the answer; the lock is held.
func (a *answer) moved(r *recipient, err error) {
	switch r.stage {
	case missed:
		r.again = false
	case arrived:
		a.arrived, a.err = true, nil
		r.entry.Retire()
		for _, older := range a.requests[:max(0, slices.Index(a.requests, r))] {
			if older.stage == missed {
				older.entry.Retire()
			}
		}
	case gone, withdrawn:
		a.requests = slices.DeleteFunc(a.requests, func(other *recipient) bool { return other == r })
		a.withdrawn = r.stage == withdrawn
		if !a.arrived {
			a.err = err
		}
	}
}

// follow does what follows from the stages of the requests. The host is told once, when the answer has arrived under one id, or will under none.
func (a *answer) follow() {
	s := a.of.s
	s.mu.Lock()
	send, ask := a.next()
	var again [][]byte
	for _, r := range a.requests {
		if r.again && r.stage == arrived {
			r.again, again = false, append(again, a.frame(r))
		}
	}
	over := a.given && !a.arrived && len(a.requests) == 0 && !a.keep()
	var asked *Question
	if a.arrived || over {
		asked, a.asked = a.asked, nil
	}
	why := a.err
	s.forgetAnswers()
	s.mu.Unlock()
	a.sendAll(send)
	if asked != nil {
		s.tellAnswered(asked, why)
	}
	for _, frame := range again {
		s.link.reply(frame)
	}
	askAgain(ask)
}

// next returns what is to be done with the requests that wait: they get the answer, or are asked for, because they came when it had arrived. The lock is
// held.
func (a *answer) next() (send, ask []*recipient) {
	if !a.given || slices.ContainsFunc(a.requests, func(r *recipient) bool { return r.stage == tries }) {
		return nil, nil
	}
	a.requests = slices.DeleteFunc(a.requests, func(r *recipient) bool {
		switch {
		case r.stage != waits:
			return false
		case a.arrived:
			r.answer = nil
			ask = append(ask, r)
			return true
		}
		r.stage = tries
		send = append(send, r)
		return false
	})
	return send, ask
}

// keep keeps the answer if its task may ask again, and reports whether it does. When the task has not asked in time, follow is called. The lock is held.
func (a *answer) keep() bool {
	q := a.of
	if a.kept != nil {
		return true
	}
	if !a.withdrawn || q.Task == "" || q.life.Err() != nil || q.s.over {
		return false
	}
	kept, end := context.WithTimeout(q.life, keptFor)
	a.kept, a.endKept = kept, end
	q.s.work.Go(func() {
		defer end()
		<-kept.Done()
		q.s.mu.Lock()
		if a.kept == kept {
			a.kept, a.withdrawn = nil, false
		}
		q.s.mu.Unlock()
		a.follow()
	})
	return true
}

// forgetAnswers forgets the answers that nobody needs any more, and the oldest that are too many (VAL07).
func (s *state) forgetAnswers() {
	s.answers = slices.DeleteFunc(s.answers, func(a *answer) bool { return a.isSent() && a.kept == nil && !(a.arrived && a.lives()) })
	number, bytes := 0, 0
	for i, a := range slices.Backward(s.answers) {
		if !a.isSent() {
			continue
		}
		number, bytes = number+1, bytes+len(a.of.Params)+len(a.result)
		switch {
		case number == 1 || number <= maxAnswers && bytes <= maxAnswerBytes:
		case a.kept != nil:
			a.endKept()
		default:
			s.answers = slices.Delete(s.answers, i, i+1)
		}
	}
}

// isSent reports whether the answer is sent to no request any more; the lock is held.
func (a *answer) isSent() bool {
	return a.given && !slices.ContainsFunc(a.requests, func(r *recipient) bool { return r.stage < arrived })
}

// lives reports whether what asks the question is not over, as far as that is known; the lock is held.
func (a *answer) lives() bool {
	switch {
	case a.of.life.Err() != nil:
		return false
	case !a.given || a.of.Task != "":
		return true
	}
	for c := range a.askers {
		if _, ok := a.of.s.calls[c]; ok {
			return true
		}
	}
	return false
}
