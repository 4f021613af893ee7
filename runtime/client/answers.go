package client

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/inflight"
)

// answer is the answer to a question that came as a request, from the moment in which a handler is asked, and its recipients. Guarded by Session.mu.
type answer struct {
	question   *question    // the first that asks: the others have the same text
	recipients []*recipient // the requests that get it, without those that are over
	dialog     *dialog      // in which a handler is asked; nil: there is none any more
	given      bool         // by the handler, or by this side in its place
	late       bool         // it came when the time of the question had passed: no other question gets it
	result     []byte
	refusal    *Error
	askers     map[*call]struct{} // of the question, when it was answered
	asked      *Question          // as the handler got it, for Handlers.Answered; nil: that is not called, or was called already
	arrived    bool               // the server has it, under one id at least
	leftOpen   bool               // this session does not answer: all recipients count as having the answer, and get nothing
	namesTask  bool               // the answer names a task, in which the handler is asked: the clocks go on when that task is over
	overtaken  bool               // the same was asked anew: it takes too long to say whether this has arrived, or it has, or may have, under another id
	inDoubt    bool               // sending it has failed, and the server may have it all the same: no other recipient gets it
	err        error              // why it has not arrived
	failure    error              // of the handler, which has no answer that can be sent

	kept    context.Context // ends with the time for which the answer is kept, see keep; nil: it is not kept
	endKept context.CancelFunc
}

// recipient is one request that gets an answer.
type recipient struct {
	*question
	entry *inflight.Entry
	stage stage
	again bool // the request has come again since the answer was sent
	over  bool // the request has ended, while the answer is being sent
	slow  bool // it is being sent for longer than holdFor
}

// stage is how far the answer to a request is. A request that is over when the sending to it ends, or to which sending fails for good, is a recipient no more.
type stage uint8

const (
	stageWaits   stage = iota // for the answer, and until it is known that the server does not have it under another id
	stageSending              // the answer is being sent
	stageMissed               // the answer has failed to arrive, and will be sent again
	stageArrived              // the server has the answer; if the request comes again, it is sent once more
)

// isTried reports whether the answer is on its way to the request, and may arrive.
func (r *recipient) isTried() bool {
	return (r.stage == stageSending || r.stage == stageMissed) && !r.over
}

// holdFor is how long other recipients wait while the answer is being sent to one. After that they are questions of their own: a server may ask the next
// question before it acknowledges the answer, and some never acknowledge any.
const holdFor = 5 * time.Second

// slowDown records that sending the answer to a request takes longer than holdFor.
func (a *answer) slowDown(r *recipient) {
	a.question.s.mu.Lock()
	r.slow = true
	a.question.s.mu.Unlock()
	a.proceed()
}

// isSlow reports whether the answer is being sent for so long that other recipients do not wait any more; the lock is held.
func (a *answer) isSlow() bool {
	return slices.ContainsFunc(a.recipients, func(r *recipient) bool { return r.isTried() && r.slow })
}

// The answer to a question that a task has withdrawn is kept for keptFor: the task may ask again. Of these answers, and of those that have arrived, a session
// keeps the latest, as far as they are no more than maxAnswers and maxAnswerBytes, and at least one (VAL07).
const (
	keptFor        = 10 * time.Second
	maxAnswers     = 256
	maxAnswerBytes = 1 << 20
)

func (a *answer) frame(r *recipient) []byte { return answerFrame(r.id, a.result, a.refusal) }

// recipient returns the recipient that is q; nil: q is none any more. The lock is held.
func (a *answer) recipient(q *question) *recipient {
	for _, r := range a.recipients {
		if r.question == q {
			return r
		}
	}
	return nil
}

// give records the answer, and returns the recipient that is to get it first, at most one; the locks of the session and of the question are held.
func (a *answer) give(result []byte, refusal *Error) (send []*recipient) {
	a.given, a.result, a.refusal = true, result, refusal
	if a.question.askers != nil {
		a.askers = maps.Clone(a.question.askers)
	}
	send, _ = a.next()
	return send
}

// giveUnasked gives and sends an answer that comes from no handler.
func (q *question) giveUnasked(result []byte, refusal *Error) {
	q.s.mu.Lock()
	q.mu.Lock()
	a := q.answer
	send := a.give(result, refusal)
	q.mu.Unlock()
	q.s.mu.Unlock()
	a.sendAll(send)
}

// sendAll sends the answer to requests, each in a goroutine of its own, which counts as a question that is open (VAL07).
func (a *answer) sendAll(recipients []*recipient) {
	for _, r := range recipients {
		err := r.register()
		r.s.countActive(1)
		begun := err == nil && r.s.spawn(func() {
			defer r.s.countActive(-1)
			a.send(r)
		})
		if begun {
			continue
		}
		r.s.countActive(-1)
		if err == nil {
			err = r.s.endCause()
		}
		a.sent(r, err)
	}
}

// register puts a request back in flight if its time has passed, or if it comes again after its answer has arrived, so that the server can withdraw it.
func (r *recipient) register() error {
	cause := r.entry.Cause()
	if cause == nil || cause.Source != inflight.SourceCompleted && cause.Source != inflight.SourceTimeout {
		return nil
	}
	// The memory for an entry that the question brought still holds the one that is over, whose cause is asked for later: this one gets its own.
	e, err := r.s.tracker.RegisterIn(new(inflight.Room), r.s.ctx, r.s.key(r.id, inflight.Incoming), r.entry.Info(), r.question)
	if err != nil { // the server uses the id for another request
		return err
	}
	r.s.mu.Lock()
	r.entry = e
	r.s.mu.Unlock()
	return nil
}

// send sends the answer to a request until it has arrived, need not arrive any more, or fails for good, and returns what sent does.
func (a *answer) send(r *recipient) (mayHave bool) {
	if !a.namesTask {
		r.resumeClocks() // sending may take a while; the end of an asker still ends the question
	}
	slow := time.AfterFunc(holdFor, func() { r.s.spawn(func() { a.slowDown(r) }) })
	defer slow.Stop()
	from, life, doubt := r.origin(), r.life, false
	if life.Err() != nil { // the answer was given while it lasted, so it is sent all the same
		life = r.s.ctx
	}
	err := r.s.insist(r.entry, life, from, a.frame(r), func(send func() error) error {
		a.move(r, stageSending)
		from.note(r.s, errSending) // for the error of a timeout
		err := send()
		from.note(r.s, err)
		if err != nil {
			_, unsent := err.(*Cause) // the request was over before
			doubt = doubt || !unsent && mayHaveArrived(err)
			a.move(r, stageMissed)
		}
		return err
	})
	if !a.namesTask {
		r.resumeAskers() // the question is over
	}
	over := r.entry.Err() != nil
	mayHave = a.sent(r, unconfirmed(err, doubt))
	if !over && a.isLost() {
		r.s.notTaken(from, err, doubt)
	}
	return mayHave
}

// isLost reports whether no request gets the answer any more, none got it, and the same was not asked again since.
func (a *answer) isLost() bool {
	a.question.s.mu.Lock()
	defer a.question.s.mu.Unlock()
	return !a.arrived && len(a.recipients) == 0 && !a.overtaken
}

// sent records the end of sending the answer to a request, and returns whether the server may have the answer, and nothing else has ended the request.
func (a *answer) sent(r *recipient, err error) (mayHave bool) {
	r.entry.Retire()
	cause := r.entry.Cause()
	if withdrawn(cause) {
		err = tooLate(cause, err) // never nil: an acknowledgement does not say that the server used it
	}
	if err == nil {
		a.move(r, stageArrived)
		return true
	}
	inDoubt := !withdrawn(cause) && !refused(err) // a withdrawn request takes no answer: the next request for the same gets it
	a.remove(r, err, inDoubt)
	return inDoubt && cause.Source == inflight.SourceCompleted && r.life.Err() == nil
}

// withdrawn reports whether a request is over because the server has withdrawn it.
func withdrawn(cause *Cause) bool { return cause != nil && cause.Source == inflight.SourcePeer }

// end records that q, which may be a recipient of the answer, is over because of cause.
func (a *answer) end(q *question, cause *Cause) {
	q.s.mu.Lock()
	r := a.recipient(q)
	waits := r != nil && r.stage == stageWaits
	if r != nil {
		r.over = true // what sends the answer ends, and removes the request
	}
	q.s.mu.Unlock()
	if waits {
		a.remove(r, cause, false)
		return
	}
	a.proceed()
}

// move records how far the answer to a request is.
func (a *answer) move(r *recipient, to stage) {
	s := a.question.s
	s.mu.Lock()
	switch r.stage = to; to {
	case stageMissed:
		r.again = false
	case stageArrived:
		a.arrived, a.err = true, nil
	}
	s.mu.Unlock()
	a.proceed()
}

// remove records that a request does not get the answer, because of err. If the server has the answer, and has not withdrawn the request, only sending it
// once more has failed: the request stays, and gets the answer if it comes again. inDoubt: the answer may have arrived.
func (a *answer) remove(r *recipient, err error, inDoubt bool) {
	s := a.question.s
	s.mu.Lock()
	if a.arrived && !r.over {
		r.stage, r.again = stageArrived, false
	} else {
		a.recipients = slices.DeleteFunc(a.recipients, func(other *recipient) bool { return other == r })
	}
	if !a.arrived {
		if !errors.As(a.err, new(*UnconfirmedError)) { // what was sent under one id may have arrived, whatever becomes of the others
			a.err = err
		}
		a.inDoubt = a.inDoubt || inDoubt
		a.keep(r)
	}
	s.mu.Unlock()
	a.proceed()
}

// proceed does what follows from the stages of the recipients. The host is told once, when the answer has arrived under one id, or will under none.
func (a *answer) proceed() {
	s := a.question.s
	s.mu.Lock()
	send, ask := a.next()
	var asked *Question
	if a.arrived || a.given && len(a.recipients) == 0 && a.kept == nil {
		asked, a.asked = a.asked, nil
	}
	why := cmp.Or(a.failure, a.err)
	s.forgetAnswers()
	s.mu.Unlock()
	a.sendAll(send)
	if tell := func() { s.tellAnswered(asked, why) }; asked != nil && !s.spawn(tell) { // the host's function may make a call whose answer this goroutine has to read
		tell()
	}
	askAgain(ask)
}

// next returns what is to be done with recipients that wait, or whose request has come again. send are to get the answer; of those that wait one does, and
// the next if that fails. ask are questions of their own now, because the answer has, or may have, arrived under another id, or it takes too long to say
// whether it has. The lock is held.
func (a *answer) next() (send, ask []*recipient) {
	trying := slices.ContainsFunc(a.recipients, func(r *recipient) bool { return r.isTried() })
	has, slow := a.arrived || a.inDoubt, a.isSlow()
	a.recipients = slices.DeleteFunc(a.recipients, func(r *recipient) bool {
		switch waits := r.stage == stageWaits; {
		case r.again && r.stage == stageArrived, waits && a.given && !has && !trying:
			r.stage, r.again, r.slow, trying = stageSending, false, false, true
			send = append(send, r)
		case waits && (has || slow):
			a.overtaken = true
			r.answer = nil
			ask = append(ask, r)
			return true
		}
		return false
	})
	return send, ask
}

// keep keeps the answer if its last request is withdrawn, and its task may ask again because it has lost the stream. When the task has not asked in time,
// proceed is called. The lock is held.
func (a *answer) keep(last *recipient) {
	q := a.question
	if !withdrawn(last.entry.Cause()) || len(a.recipients) > 0 || !a.given || a.late || a.inDoubt || !q.sharesAnswer() || q.s.link.shared() || q.life.Err() != nil || q.s.over {
		return
	}
	kept, end := context.WithTimeout(q.life, keptFor)
	a.kept, a.endKept = kept, end
	q.s.work.Go(func() {
		defer end()
		<-kept.Done()
		q.s.mu.Lock()
		if a.kept == kept {
			a.kept = nil
		}
		q.s.mu.Unlock()
		a.proceed()
	})
}

// leaveOpen is Session.leaveOpen for the question. Its requests get no answer, also if they come again (TSK27).
func (a *answer) leaveOpen(why error) bool {
	s := a.question.s
	if !s.leaveOpen(a.question.copyForHost(), why) {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	a.endDialog(handlerReturned)
	a.given, a.arrived, a.leftOpen, a.asked = true, true, true, nil
	for _, r := range a.recipients {
		r.stage, r.again = stageArrived, false
		r.entry.Retire()
		r.resumeAskers()
	}
	s.forgetAnswers()
	return true
}

// forgetAnswers forgets the answers that nobody needs any more, and the oldest that are too many (VAL07). The lock is held.
func (s *state) forgetAnswers() {
	s.answers = slices.DeleteFunc(s.answers, func(a *answer) bool {
		return a.kept == nil && a.isSent() && (len(a.recipients) == 0 || !a.lives())
	})
	number, bytes := 0, 0
	for i, a := range slices.Backward(s.answers) {
		if !a.isSent() {
			continue
		}
		number, bytes = number+1, bytes+a.size()
		switch {
		case number == 1 || number <= maxAnswers && bytes <= maxAnswerBytes:
		case a.kept != nil:
			a.endKept()
		default:
			s.answers = slices.Delete(s.answers, i, i+1)
		}
	}
}

// size is how many bytes from the server and from the host the answer holds. Most recipients share the text of their question, see Session.known.
func (a *answer) size() int {
	n := len(a.question.Params) + len(a.result)
	for _, r := range a.recipients {
		if n += len(r.id.Text()); len(r.Params) > 0 && &r.Params[0] != &a.question.Params[0] {
			n += len(r.Params)
		}
	}
	return n
}

// isSent reports whether no recipient waits for the answer, and it is not being sent to any; the lock is held.
func (a *answer) isSent() bool {
	return !slices.ContainsFunc(a.recipients, func(r *recipient) bool { return r.stage != stageArrived })
}

// lives reports whether the call or task that asks the question goes on, as far as is known; the lock is held.
func (a *answer) lives() bool {
	switch {
	case a.question.life.Err() != nil:
		return false
	case !a.given || a.question.Task != "":
		return true
	}
	for c := range a.askers {
		if _, ok := a.question.s.calls[c]; ok {
			return true
		}
	}
	return false
}
