package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/mcpkiln/mcpkiln/cmd/mcpkiln/internal/plain"
	"github.com/mcpkiln/mcpkiln/runtime/client"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/task"
)

func over(s client.TaskState) bool {
	return s.Status == task.Completed || s.Status == task.Failed || s.Status == task.Cancelled
}

// state reads the state of a task once.
func (v *visit) state(ref client.Ref) (client.TaskState, error) {
	state, err := v.session.GetTask(v.ctx, ref)
	if err == nil {
		v.ttl = state.TTL
	}
	return state, v.unknown(ref, err)
}

// unknown returns err, the error of a request about a task; if the server does not know the task, it explains that.
func (v *visit) unknown(ref client.Ref, err error) error {
	var answered *client.Error
	if !errors.As(err, &answered) || answered.Code != rpc.CodeInvalidParams {
		return err
	}
	return &statusError{exitTool, fmt.Errorf("%s\n  %s%s", plain.Line(answered.Message), whyUnknown, unknownHere(ref))}
}

// whyFailed returns the error with which a task has failed, behind its message; the message alone if the server says no more.
func (v *visit) whyFailed(ref client.Ref, message string) string {
	x, err := v.session.Resume(v.ctx, ref)
	if err != nil {
		return message
	}
	defer x.Detach()
	_, err = x.Result(v.ctx)
	var failed *client.TaskError
	var answered *client.Error
	if !errors.As(err, &failed) || !errors.As(failed.Err, &answered) {
		return message
	}
	if message != "" {
		message += ": "
	}
	return message + answered.Error()
}

// asked is a question as JSON.
type asked struct {
	Method string          `json:"method,omitempty"`
	Params json.RawMessage `json:"params,omitempty"`
	Key    *string         `json:"key,omitempty"`
	// Unanswerable is why no command can answer it.
	Unanswerable string `json:"unanswerable,omitempty"`
}

// openQuestion is a question that stays open.
type openQuestion struct {
	question *client.Question
	why      error // why this command can not answer it; nil: it can
}

// beyond says what a task asks that this command can not answer, and who can; "" if it can.
func (q *openQuestion) beyond() string {
	const whose = ", which only the host that made the task can answer"
	switch method := q.question.Method; {
	case q.why == nil:
		return ""
	case method == "sampling/createMessage":
		return "asks for sampling, which mcpkiln itself can not do: only the host that made the task can answer"
	case method == "roots/list":
		return "asks for roots" + whose
	case method == "":
		return "waits for input, and shows this command no question: another client has it, or the host that made the task"
	default:
		why := strings.TrimPrefix(q.why.Error(), "client: ")
		return "asks something (" + plain.Line(method) + ") that this command can not answer, and that the host which made the task may: " + plain.Line(why)
	}
}

// leftOpen is called with a question of a task that this command can not answer.
func (v *visit) leftOpen(q *client.Question, why error) {
	open := openQuestion{q, why}
	v.mu.Lock()
	reply, shown := v.reply, v.shown
	v.mu.Unlock()
	switch {
	case shown != nil:
		select {
		case shown <- open:
		default: // so many are not shown
		}
	case reply != nil:
		reply.miss(q, errors.New("the task "+open.beyond()))
	default:
		defer v.clock.pause()()
		switch {
		case !v.asksStill(q):
		case v.terminal == nil:
			v.staysOpen(v.ctx, open)
		default:
			v.stopClock()
			v.warn("the task " + open.beyond() + "; it waits for that")
		}
	}
}

// answeredTime is how long a server may go on to say that a task asks what another command has just answered.
const answeredTime = 2 * time.Second

// asksStill returns whether a question that `mcpkiln task wait` is asked is open after answeredTime, too. A request is: the server has put it to this
// command. Once one question was open, later ones are.
func (v *visit) asksStill(q *client.Question) bool {
	waits := v.waitsUnsettled()
	if waits == nil || !q.Keyed && q.Method != "" {
		return true
	}
	select {
	case <-waits.Done():
		return false
	case <-time.After(v.within(answeredTime)):
	}
	v.settling.Lock() // one reading for all questions
	defer v.settling.Unlock()
	if v.waitsUnsettled() == nil {
		return true
	}
	state, err := v.session.GetTask(waits, *v.ref)
	open := waits.Err() == nil && (err != nil || state.Status == task.InputRequired)
	if open {
		v.mu.Lock()
		v.waits = nil
		v.mu.Unlock()
	}
	return open
}

func (v *visit) waitsUnsettled() context.Context {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.waits
}

// answered is called when the server has an answer, or can not get it.
func (v *visit) answered(q *client.Question, err error) {
	v.mu.Lock()
	reply := v.reply
	v.mu.Unlock()
	if reply != nil {
		reply.note(q, err)
	}
	v.settle(q, err)
}

// stopClock stops the clock until the task asks nothing any more.
func (v *visit) stopClock() {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.resumeClock == nil {
		v.resumeClock = v.clock.pause()
	}
}

// printState prints the state of a task, and its questions.
func (v *visit) printState(ref client.Ref, s client.TaskState, questions ...openQuestion) error {
	out := v.cmd.OutOrStdout()
	if v.json {
		var all []asked
		for _, open := range questions {
			q := open.question
			all = append(all, asked{q.Method, q.Params, keyOf(q), open.beyond()})
		}
		text, err := json.Marshal(struct {
			Ref       client.Ref `json:"ref"`
			Status    string     `json:"status"`
			Message   string     `json:"statusMessage,omitempty"`
			Questions []asked    `json:"questions,omitempty"`
		}{ref, string(s.Status), s.Message, all})
		if err != nil {
			return err
		}
		return printJSON(out, text)
	}
	text := strings.TrimSpace(string(s.Status)+"  "+plain.Line(s.Message)) + "\n"
	var asks tally
	answers := map[string]string{}
	for _, open := range questions {
		line := open.line()
		if asks.add(line) && open.why == nil {
			answers[line] = "  " + v.answerLine(open.question, ref) + "\n"
		}
	}
	for i, line := range asks.all() {
		text += "  " + line + "\n" + answers[asks.lines[i]]
	}
	_, err := io.WriteString(out, text)
	return err
}

// keyOf returns the key of a question; nil if it has none.
func keyOf(q *client.Question) *string {
	if !q.Keyed {
		return nil
	}
	return &q.Key
}

// line says what a task asks, and with which key.
func (q *openQuestion) line() string {
	text := "it asks for a form: "
	switch {
	case q.why != nil:
		text = "it " + q.beyond()
	case q.question.URL != "":
		text = "it asks to open a page: "
	}
	if q.why == nil {
		text += plain.Line(q.question.Message + " " + q.question.URL)
	}
	if q.question.Keyed {
		text = shellWord(q.question.Key) + ": " + text
	}
	return text
}

// questionTime is how long to wait for the first question of a task, and quietTime for each further one.
const (
	questionTime = 30 * time.Second
	quietTime    = 100 * time.Millisecond
)

// maxShown is how many questions of a task are shown that no command can answer.
const maxShown = 100

// show has all questions left open, and returns where they come.
func (v *visit) show() <-chan openQuestion {
	shown := make(chan openQuestion, maxShown)
	v.mu.Lock()
	defer v.mu.Unlock()
	v.shown = shown
	return shown
}

// questions returns what a task asks, in the order in which the server does. The questions stay open.
func (v *visit) questions(ref client.Ref, s client.TaskState) (all []openQuestion, err error) {
	if s.Status != task.InputRequired {
		return nil, nil
	}
	shown := v.show()
	x, err := v.session.Resume(v.ctx, ref)
	if err != nil {
		return nil, err
	}
	defer x.Detach()
	ended := v.ended(x)
	last := time.After(questionTime)
	for wait := v.within(questionTime); len(all) < maxShown; wait = quietTime {
		select {
		case <-last: // a task that always asks something new
			return all, nil
		case q := <-shown:
			all = append(all, q)
		case err := <-ended: // nil: answered by another client
			return all, err
		case <-time.After(wait):
			if len(all) == 0 {
				fmt.Fprintln(v.cmd.ErrOrStderr(), "mcpkiln: what it asks is not shown to this command: another one or a host may show it")
			}
			return all, nil
		}
	}
	return all, nil
}

// ended returns where the error comes with which a task can not be followed any more; nil: it is over.
func (v *visit) ended(x *execution) <-chan error {
	ended := make(chan error, 1)
	go func() {
		_, err := x.Result(v.ctx)
		if failed := (*client.TaskError)(nil); errors.As(err, &failed) && over(failed.State) {
			err = nil
		}
		ended <- err
	}()
	return ended
}
