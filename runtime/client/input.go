package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/inflight"
	"github.com/mcpkiln/mcpkiln/runtime/internal/exact"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

// waiting is a call between two rounds.
type waiting struct {
	round  *round
	cancel context.CancelCauseFunc
	stop   func() bool // waiting for the end of the caller's context
}

// maxRounds is how often one call may ask for input.
const maxRounds = 100

// run sends a request, and sends it again with answers as often as its result asks for input. It returns a result that is complete, or the task
// that the request has become.
func (c *call) run(ctx context.Context, v *wire.Values, extra []byte) (result []byte, kind resultKind, err error) {
	c.begin()
	defer c.end()
	return c.rounds(ctx, v, extra)
}

// rounds is run for a call that is registered already, or that Requests is not to list.
func (c *call) rounds(ctx context.Context, v *wire.Values, extra []byte) (result []byte, kind resultKind, err error) {
	renewed := false
	for n := range maxRounds {
		result, err = c.do(ctx, v, extra)
		if errors.Is(err, errNoSession) && !renewed && !c.renewsNothing {
			renewed = true
			if err = c.between(ctx, c.renew); err == nil {
				result, err = c.do(ctx, v, extra)
			}
		}
		if err != nil && n > 0 {
			result, err = c.doAgain(ctx, v, extra, err)
		}
		if err != nil {
			return nil, 0, c.asTimeout(err)
		}
		kind, err = c.kind(result)
		if err != nil || kind != inputRequired {
			return result, kind, err
		}
		if err := c.answerInput(ctx, result, v, n); err != nil {
			return nil, 0, err
		}
	}
	return nil, 0, broken(c.op.Name, "it asked for input %d times", maxRounds)
}

// resultKind is the kind of a result.
type resultKind uint8

const (
	complete resultKind = iota
	inputRequired
	taskCreated
)

// kind returns the kind of a result. One without a resultType is complete; an unknown resultType, and one that this request can not have, break the
// protocol (EXT21).
func (c *call) kind(result []byte) (resultKind, error) {
	rules := &c.dialect.Result
	if rules.Type == "" {
		return complete, nil
	}
	if len(result) == 0 || result[0] != '{' {
		return 0, broken(c.op.Name, "its result is no object")
	}
	word := memberOf(result, rules.Type)
	if word == nil {
		return complete, nil
	}
	var text string
	_ = json.Unmarshal(word, &text)
	switch {
	case text == rules.Complete:
		return complete, nil
	case text == rules.InputRequired && c.op.Input:
		return inputRequired, nil
	case text == rules.Task && c.op.Task && c.mayBeTask:
		return taskCreated, nil
	case text == rules.InputRequired || text == rules.Task:
		return 0, broken(c.op.Name, "it can not be answered with %s %s", rules.Type, word)
	}
	return 0, broken(c.op.Name, "unknown %s %s", rules.Type, word)
}

// inputRequest is one question of a result or a task.
type inputRequest struct {
	key    string
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	bad    error           // why this question can not be read, though those beside it can
}

// UnmarshalJSON implements json.Unmarshaler.
func (r *inputRequest) UnmarshalJSON(raw []byte) error {
	type plain inputRequest
	switch err := exact.Unmarshal(raw, (*plain)(r)); {
	case err != nil:
		r.bad = fmt.Errorf("it is no object whose method is a string: %.200s", raw)
	case r.Method == "":
		r.bad = errors.New("it has no method")
	case r.Params != nil && r.Params[0] != '{':
		r.bad = fmt.Errorf("its params are no object: %.200s", r.Params)
	}
	return nil
}

// inputRequests reads the questions of a result or a task, in the order in which they are written. raw is nil if there are none; method is that of the
// request that was answered with them.
func inputRequests(method string, raw []byte) (questions []inputRequest, err error) {
	if raw == nil {
		return nil, nil
	}
	var byKey map[string]inputRequest
	if json.Unmarshal(raw, &byKey) != nil {
		return nil, broken(method, "its inputRequests are no questions: %.200s", raw)
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	_, err = d.Token()
	for err == nil && len(byKey) > 0 {
		var key json.Token
		if key, err = d.Token(); err != nil {
			break
		}
		text, _ := key.(string)
		if q, first := byKey[text]; first {
			q.key = text
			questions = append(questions, q)
			delete(byKey, text)
		}
		err = d.Decode(new(json.RawMessage))
	}
	return questions, tooMany(method, len(questions))
}

// answerInput answers all questions of a result, and makes v the params of the next round: with the answers, and the requestState exactly as it
// came, or without one if there was none.
func (c *call) answerInput(ctx context.Context, result []byte, v *wire.Values, n int) error {
	asked, err := c.read(c.dialect.InputRequired, result)
	if err != nil {
		return err
	}
	if !asked.Has(wire.SlotInputRequests) && !asked.Has(wire.SlotRequestState) {
		return broken(c.op.Name, "it asks for input, with neither inputRequests nor requestState")
	}
	state := asked[wire.SlotRequestState]
	switch {
	case !asked.Has(wire.SlotRequestState):
		state = nil // null is none
	case state[0] != '"':
		return broken(c.op.Name, "its requestState is no string: %.200s", state)
	}
	questions, err := inputRequests(c.op.Name, asked[wire.SlotInputRequests])
	if err != nil {
		return err
	}
	for _, asked := range questions { // nobody is asked in vain
		if _, _, err := c.s.inputQuestion(c.dialect, asked, ""); err != nil {
			return err
		}
	}
	ctx, cancel := c.beginWaiting(ctx)
	defer c.endWaiting(cancel)
	stop := context.AfterFunc(c.s.ctx, func() { cancel(c.s.endCause()) })
	defer stop()
	answers, err := c.s.answerAll(ctx, c.dialect, questions, "", func() {})
	if err != nil {
		return c.s.ended(notAnswered(err))
	}
	v[wire.SlotInputResponses], v[wire.SlotRequestState] = answers, state
	if len(questions) == 0 {
		return c.delayRound(ctx, n)
	}
	if ctx.Err() != nil {
		return causeOf(ctx)
	}
	return nil
}

// notAnswered returns the error of a call whose questions are not answered because of err. What is the handler's own is no error of the server.
func notAnswered(err error) error {
	var cause *Cause
	var bad *ProtocolError
	if errors.As(err, &cause) || errors.As(err, &bad) || errors.Is(err, ErrClosed) {
		return err
	}
	return &Cause{Source: inflight.SourceParent, Reason: "what the call has asked was not answered, so it was given up", Err: err}
}

// delayRound waits before a round without answers: the server only wants to be called again. No person takes that time, so it counts
// in the maximum of the call (CAN16).
func (c *call) delayRound(ctx context.Context, n int) error {
	wait := min(50*time.Millisecond<<min(n, 10), 5*time.Second)
	if c.maxTime > 0 {
		wait = min(wait, c.maxTime-c.spent)
	}
	if !sleep(ctx, wait) {
		return causeOf(ctx)
	}
	c.mu.Lock()
	c.spent += wait
	c.mu.Unlock()
	return nil
}

// tooMany returns an error for more than maxQuestions questions at once.
func tooMany(method string, n int) error {
	if n <= maxQuestions {
		return nil
	}
	return broken(method, "it asks %d questions at once, more than %d", n, maxQuestions)
}

// renew begins a new session instead of the one that the server has ended, so that the call can be sent again. It may take as long as a request of the call.
func (c *call) renew(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	clock, ctx := startSideClock(ctx, c.timeout, func() {
		cancel(&Cause{Source: inflight.SourceTimeout, Reason: "no new session was begun within " + c.timeout.String() + "; " + notServed})
	})
	defer clock.stop()
	begun, err := c.s.link.renew(ctx, c.round.session)
	if err == nil {
		c.s.link.listenUnasked()
	}
	if begun {
		c.s.wishAgain()
	}
	switch {
	case ctx.Err() != nil:
		return causeOf(ctx)
	case err == nil || c.s.usable() != nil:
		return err
	}
	return notRenewed(err)
}

const notServed = "the server has ended the session, and the call was not served"

// notRenewed returns the error of a call that needs a new session, if there is none because of err. It is no *Error, which would look like the answer to the
// call.
func notRenewed(err error) error {
	if said := (*Error)(nil); errors.As(err, &said) {
		err = errors.New(said.Error())
	}
	return &TransportError{Err: fmt.Errorf("%s: a new session could not be begun: %w", notServed, err)}
}

// between calls do before the call is sent again. The call can be given up meanwhile, and the time counts in its maximum, without that in which a
// person is asked (CAN15, CAN16, CAN28).
func (c *call) between(ctx context.Context, do func(ctx context.Context) error) error {
	ctx, cancel := c.beginWaiting(ctx)
	defer c.endWaiting(cancel)
	late, left := c.timedOut(), time.Duration(0)
	if c.maxTime > 0 {
		left = max(c.maxTime-c.spent, 1)
	}
	clock, ctx := startSideClock(ctx, left, func() { cancel(late) })
	err := do(ctx)
	took := clock.stop()
	c.mu.Lock()
	c.spent += took
	c.mu.Unlock()
	if ctx.Err() != nil {
		return causeOf(ctx)
	}
	return err
}

// beginWaiting records that the call is between two rounds, so that it can be given up, which ends the returned context. That ends with
// a *Cause, also if the caller's context ends (CAN31).
func (c *call) beginWaiting(parent context.Context) (ctx context.Context, cancel context.CancelCauseFunc) {
	ctx, cancel = context.WithCancelCause(context.WithoutCancel(parent))
	stop := context.AfterFunc(parent, func() { cancel(causeOf(parent)) })
	c.s.mu.Lock()
	if c.s.waiting == nil {
		c.s.waiting = map[rpc.ID]*waiting{}
	}
	c.s.waiting[c.round.entry.ID()] = &waiting{c.round, cancel, stop}
	c.s.signalNoneLeft()
	c.s.mu.Unlock()
	if cause := c.giveUpCause(); cause != nil {
		cancel(cause)
	}
	return ctx, cancel
}

// endWaiting ends what beginWaiting began.
func (c *call) endWaiting(cancel context.CancelCauseFunc) {
	cancel(nil)
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	id := c.round.entry.ID()
	c.s.waiting[id].stop()
	delete(c.s.waiting, id)
}

// inputQuestion reads one question of a result or task. If it can not be asked, the question has what could be read.
func (s *Session) inputQuestion(d *wire.Dialect, asked inputRequest, task string) (q *Question, op wire.Op, err error) {
	h := d.IncomingOf(asked.Method)
	if asked.bad == nil && (h == nil || !h.Input) {
		asked.bad = fmt.Errorf("no result can ask %s", asked.Method)
	}
	if asked.bad != nil {
		return &Question{Server: s.serverName(), Method: asked.Method, Params: asked.Params, Key: asked.key, Keyed: true, Task: task}, 0, broken("", "its question %q: %w", asked.key, asked.bad)
	}
	q, bad := s.newQuestion(d, h, asked.Params)
	if bad != nil {
		err = broken("", "its question, %s: %s", asked.Method, bad.Message)
	}
	q.Key, q.Keyed, q.Task = asked.key, true, task
	return q, h.Op, err
}
