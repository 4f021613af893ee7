package server

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/task"
	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

// statelessJournal is the journal of an inline call in a stateless revision (EXT17). A question without an answer ends the run: the call
// is answered with all open questions and with the journal, sealed. The client calls again with the answers, and the handler runs again
// and finds them. The server keeps nothing between runs.
type statelessJournal struct {
	call    *Call
	binding []byte
	journal *callJournal

	mu        sync.Mutex
	given     map[string]json.RawMessage // answers of the client; take removes wrong ones, and outcome those that are recorded
	asked     map[string]bool            // names of what any run has asked: earlier ones, and this one when it ends
	until     map[string]int64           // the deadlines of unanswered questions, in Unix milliseconds
	open      []task.Question            // the questions that the result asks
	wrong     []string                   // what is wrong with answers for which the client can not be asked again
	tooMuch   *rpc.Error                 // the error of an answer that is beyond a limit; nil: there is none
	gathering bool                       // gather was started
	over      bool                       // no more questions join
	ended     chan struct{}              // closed when the call is answered, or can not be any more
}

// ErrAsked is what Ask and Send return when the client has to be asked first: the call is answered, its context has ended, and
// the handler will run again. Return it. Do returns it when a question in another goroutine ends the run.
var ErrAsked = errors.New("the client is being asked: the call runs again with the answer")

// newStatelessJournal opens the journal that the client sent with its retry. It fails if the client's answers or state can not be read, or do not
// fit into its account.
func newStatelessJournal(c *Call, r *request) (*statelessJournal, error) {
	// InputResponses and RequestState are read into copies, which last as long as the call.
	if full := r.keepAnswer(int64(len(r.params.InputResponses) + len(r.params.RequestState))); full != nil {
		return nil, full
	}
	given, err := r.inputResponses()
	if err != nil {
		return nil, err
	}
	t := &statelessJournal{call: c, binding: r.binding(), given: map[string]json.RawMessage{}, asked: map[string]bool{}, until: map[string]int64{}, ended: make(chan struct{})}
	now, state := time.Now(), new(sealedJournal)
	if r.params.HasState {
		if state, err = c.s.sealer.open(r.params.RequestState, t.binding, now); err != nil {
			return nil, refusedState("%v", err)
		}
	}
	maps.Copy(t.until, state.Until)
	maps.DeleteFunc(given, func(name string, _ json.RawMessage) bool { return t.tooLate(name, now) })
	maps.Copy(t.given, state.Unused)
	maps.Copy(t.given, given)
	for _, name := range state.Asked {
		t.asked[name] = true
	}
	t.journal = newCallJournal(t.ask, state.Entries)
	t.journal.endsRuns = true
	return t, nil
}

// refusedState is the error of a retry whose requestState is of no use.
func refusedState(format string, args ...any) *rpc.Error {
	refused := refusedParam(atRequestState, format, args...)
	refused.Message = atRequestState[1:] + ": " + refused.Message // the violation alone has the pointer
	return refused
}

// tooLate reports whether the time to answer the question has passed. The requestState is valid for longer.
func (t *statelessJournal) tooLate(name string, now time.Time) bool {
	until, limited := t.until[name]
	return limited && now.UnixMilli() >= until
}

// keepAnswer counts n more bytes of the client's answers, until the request is released. Up to smallMessage of them are not counted.
func (r *request) keepAnswer(n int64) *rpc.Error {
	if r.smallBytes+n <= smallMessage {
		r.smallBytes += n
		return nil
	}
	return r.countBytes(n)
}

// inputResponses are the answers in the request.
func (r *request) inputResponses() (given map[string]json.RawMessage, err error) {
	raw := r.params.InputResponses
	if raw == nil {
		return nil, nil
	}
	if err := json.Unmarshal(raw, &given); err != nil {
		return nil, invalidParams(r.method.Name, fmt.Errorf("%s: %w", atInputResponses, err))
	}
	return given, nil
}

// ask returns what the client answered. Without an answer, or with a wrong one, the question is open, and the run ends.
func (t *statelessJournal) ask(ctx context.Context, q task.Question, check answerCheck) ([]byte, error) {
	data, err := t.take(&q, check)
	if err == nil && data != nil {
		return data, nil
	}
	if ctx.Err() != nil && t.call.entry.Err() == nil { // before anybody was asked
		return nil, fmt.Errorf("%w: %w", task.ErrWithdrawn, context.Cause(ctx))
	}
	asks := true
	if err != nil {
		if q, asks = t.askAgain(q, err); !asks {
			t.refuse(q.Name, err)
		}
	} else if refused := t.call.revision.unsupported(t.call.can, &q); refused != nil {
		return nil, refused
	}
	if t.join(q) {
		go t.gather()
	}
	if asks {
		t.call.observeQuestion(QuestionAsked, q.Name, time.Now(), nil)
	}
	t.journal.leaveSteps(ctx)
	t.call.slot.lend() // the next run takes one again
	<-t.ended
	return nil, ErrAsked
}

// askAgain is the function of that name; ok is false also for a question whose capability the client did not declare (EXT18).
func (t *statelessJournal) askAgain(q task.Question, wrong error) (again task.Question, ok bool) {
	if t.call.revision.unsupported(t.call.can, &q) != nil {
		return q, false
	}
	return askAgain(q, wrong)
}

// has reports whether something is recorded under the name, or the client gave an answer to a question of that name.
func (t *statelessJournal) has(name string) bool {
	t.mu.Lock()
	_, given := t.given[name]
	t.mu.Unlock()
	return given || t.journal.has(name)
}

// refuse notes a wrong answer for which the retry is refused.
func (t *statelessJournal) refuse(name string, wrong error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if own, ok := errors.AsType[*rpc.Error](wrong); ok {
		t.tooMuch = own
		return
	}
	t.wrong = append(t.wrong, wrongAnswer(name, wrong)...)
}

// refusal returns the error that answers the retry in place of the questions; nil: it is not refused. The caller holds mu.
func (t *statelessJournal) refusal() error {
	switch {
	case t.tooMuch != nil:
		return t.tooMuch
	case len(t.wrong) > 0:
		return invalidAnswers(t.wrong)
	}
	return nil
}

// take returns the client's answer to q as a reply, nil for none. The error says what is wrong with the answer.
func (t *statelessJournal) take(q *task.Question, check answerCheck) ([]byte, error) {
	t.mu.Lock()
	raw, ok := t.given[q.Name]
	t.mu.Unlock()
	if !ok {
		return nil, nil
	}
	data, err := t.call.accept(q, raw, check)
	if err != nil {
		t.mu.Lock()
		delete(t.given, q.Name)
		t.mu.Unlock()
	} else if t.call.s.observed {
		t.call.observeQuestion(QuestionEnded, q.Name, time.Now(), nil)
	}
	return data, err
}

// join opens a question, and returns true for the first one: then the caller starts gather. A run that is over takes no more questions.
func (t *statelessJournal) join(q task.Question) (first bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.over {
		return false
	}
	t.open = append(t.open, q)
	if t.gathering {
		return false
	}
	t.gathering = t.call.peer.live.add()
	if !t.gathering { // the connection is over and the handler has returned: a goroutine that it left behind asks
		t.over = true
		close(t.ended)
	}
	return t.gathering
}

// gather waits until no more questions join, then ends the run.
func (t *statelessJournal) gather() {
	defer t.call.peer.live.done()
	for seen := 0; seen != t.opened() && t.call.entry.Err() == nil; {
		seen = t.opened()
		timer := time.NewTimer(t.call.s.cfg.gather)
		select {
		case <-timer.C:
		case <-t.ended:
		case <-t.call.entry.Done():
		}
		timer.Stop()
	}
	t.finish()
}

// finish ends the run: when no step is under way any more, its call is answered with the questions, unless the run is over already. When finish
// returns, nothing is still to be written.
func (t *statelessJournal) finish() {
	t.mu.Lock()
	first := !t.over
	t.over = true
	t.mu.Unlock()
	if !first {
		<-t.ended
		return
	}
	defer close(t.ended)
	began := time.Now()
	t.journal.endSteps(t.call.entry, func(steps []string) {
		t.call.Log().Warn("questions wait until steps are done: a goroutine that a step started and that asks has to do so with the ctx of the step", "steps", steps)
	})
	t.postpone(time.Since(began))
	t.respond()
}

// postpone moves the deadlines of the open questions by the time for which they waited to be asked.
func (t *statelessJournal) postpone(waited time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i := range t.open {
		t.open[i].Deadline = t.open[i].Deadline.Add(waited)
	}
}

// append appends the result that asks the open questions. An error refuses the retry. The caller holds mu.
func (t *statelessJournal) append(b []byte) ([]byte, error) {
	if refused := t.refusal(); refused != nil {
		return b, refused
	}
	rev, s := t.call.revision, t.call.s
	requests, err := rev.inputRequests(t.open)
	if err != nil {
		return b, err
	}
	var last time.Time
	for _, q := range t.open {
		t.asked[q.Name] = true
		t.until[q.Name] = q.Deadline.UnixMilli()
		if q.Deadline.After(last) {
			last = q.Deadline
		}
	}
	expires := last.Add(s.cfg.askTimeout) // longer than the questions: a late answer still brings the journal, so no step is done twice
	t.journal.seed()
	entries, unused := t.outcome()
	for i := range entries {
		delete(t.until, entries[i].Name) // it was answered in time
	}
	state := &sealedJournal{Entries: entries, Asked: slices.Sorted(maps.Keys(t.asked)), Until: t.until, Unused: unused}
	token, err := s.sealer.seal(state, t.binding, expires)
	if err != nil {
		t.call.Log().Error("questions not asked", "error", err)
		return b, rpc.Errorf(rpc.CodeInternalError, "%v", err)
	}
	return rev.AppendInputRequired(b, &wire.InputRequired{InputRequests: requests, RequestState: token, ServerInfo: rev.info}), nil
}

// outcome returns what is recorded, and the other answers to questions that any run has asked. The caller holds mu.
func (t *statelessJournal) outcome() (entries []recordedEntry, unused map[string]json.RawMessage) {
	entries = t.journal.entries()
	maps.DeleteFunc(t.given, func(name string, _ json.RawMessage) bool { return !t.asked[name] })
	for i := range entries {
		delete(t.given, entries[i].Name)
	}
	return entries, t.given
}

// inputRequests is the JSON object of the questions by name.
func (rev *revision) inputRequests(questions []task.Question) ([]byte, error) {
	all := make(map[string]json.RawMessage, len(questions))
	for i := range questions {
		q := &questions[i]
		params, err := rev.askParams(q, "")
		if err != nil {
			return nil, err
		}
		all[q.Name] = rpc.AppendCall(nil, rev.nameOf(q.Method), params)
	}
	return json.Marshal(all)
}

// asksBefore collects the answers to the questions that the tool asks before there is a task (Tool.Before), and what earlier runs recorded. If
// asks is true, answers are missing, and the result asks for them.
func (r *request) asksBefore(b []byte) (earlier earlierJournal, result []byte, asks bool, err error) {
	if r.revision.Handshake || len(r.tool.Before) == 0 && r.params.RequestState == "" {
		return earlier, b, false, nil
	}
	c := r.newCall()
	t, err := newStatelessJournal(c, r)
	if err != nil {
		return earlier, b, false, err
	}
	for i := range r.tool.Before {
		if err := t.before(&r.tool.Before[i]); err != nil {
			if changed := changedSince(err, false, c.Log()); changed != nil {
				err = changed
			}
			return earlier, b, false, err
		}
	}
	if len(t.open) > 0 {
		r.reservation.counts = true // runWithinBudgets would set it, but no handler has run
		b, err = t.append(b)
		return earlier, b, true, err
	}
	earlier.Entries, earlier.Given = t.outcome()
	return earlier, b, false, nil
}

// before records the answer to q, or opens q. If the client can not be asked, the call fails (OnUnsupported is Fail), or the handler decides.
func (t *statelessJournal) before(q *BeforeQuestion) error {
	c := t.call
	asked, err := c.newQuestion(q.name, q.message, q.schema, 0)
	if err = cmp.Or(q.incomplete, err); err != nil {
		c.Log().Error("question not asked", "error", err)
		return err
	}
	if refused := c.revision.unsupported(c.can, &asked); refused != nil && !t.has(asked.Name) {
		if q.unsupported == Fail {
			return c.revision.missing(refused.Capability)
		}
		return nil
	}
	_, err = t.journal.replay(asked.Name, &asked, func() ([]byte, error) {
		data, err := t.take(&asked, q.check(c.s.cfg.limits))
		if err == nil && data != nil {
			return data, nil
		}
		open := asked
		if err != nil {
			var asks bool
			if open, asks = t.askAgain(asked, err); !asks { // it has a message, so the client can not be asked at all
				t.refuse(asked.Name, err)
				return nil, t.refusal()
			}
		}
		t.open = append(t.open, open)
		c.observeQuestion(QuestionAsked, asked.Name, time.Now(), nil)
		return nil, ErrAsked
	})
	if errors.Is(err, ErrAsked) {
		return nil
	}
	return err
}
