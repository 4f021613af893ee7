package main

import (
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
	return state, v.unknown(ref, err)
}

// unknown returns err, the error of a request about a task; if the server does not know the task, it forgets the reference and explains that.
func (v *visit) unknown(ref client.Ref, err error) error {
	var answered *client.Error
	if !errors.As(err, &answered) || answered.Code != rpc.CodeInvalidParams {
		return err
	}
	v.forget(ref)
	return &statusError{exitTool, fmt.Errorf("%s\n  %s", plain.Line(answered.Message), whyUnknown)}
}

// asked is a question as JSON.
type asked struct {
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Key    string          `json:"key,omitempty"`
}

// printState prints the state of a task, and its questions.
func (v *visit) printState(ref client.Ref, s client.TaskState, questions ...*client.Question) error {
	out := v.cmd.OutOrStdout()
	if v.json {
		var all []asked
		for _, q := range questions {
			all = append(all, asked{q.Method, q.Params, q.Key})
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
	for _, q := range questions {
		text += "  it asks: " + plain.Line(q.Message+" "+q.URL) + "\n  " + answerLine(q, ref) + "\n"
	}
	_, err := io.WriteString(out, text)
	return err
}

// questionTime is how long to wait for the first question of a task, and quietTime for each further one.
const (
	questionTime = 30 * time.Second
	quietTime    = 100 * time.Millisecond
)

// questions returns what a task asks. The questions stay open.
func (v *visit) questions(ref client.Ref, s client.TaskState) (all []*client.Question, err error) {
	if s.Status != task.InputRequired {
		return nil, nil
	}
	shown := make(chan *client.Question)
	v.mu.Lock()
	v.shown = shown
	v.mu.Unlock()
	x, err := v.session.Resume(v.ctx, ref)
	if err != nil {
		return nil, err
	}
	defer x.Detach()
	over := make(chan struct{})
	go func() { defer close(over); _, _ = x.Result(v.ctx) }()
	for wait := questionTime; ; wait = quietTime {
		select {
		case q := <-shown:
			all = append(all, q)
		case <-over: // answered by another client, or the task can not be followed
			return all, nil
		case <-time.After(wait):
			return all, nil
		}
	}
}
