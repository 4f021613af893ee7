package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/mcpkiln/mcpkiln/cmd/mcpkiln/internal/console"
	"github.com/mcpkiln/mcpkiln/runtime/client"
)

// questionError ends a visit in which something is asked that nobody here answers.
type questionError struct{ question *client.Question }

// Error implements error.
func (*questionError) Error() string { return "input required" }

// decline is what --answer says to decline a question.
const decline = "decline"

// readAnswers reads what --answer says.
func readAnswers(all []string) ([]json.RawMessage, error) {
	var answers []json.RawMessage
	for _, text := range all {
		if text == decline {
			answers = append(answers, nil)
			continue
		}
		var content map[string]json.RawMessage
		if err := json.Unmarshal([]byte(text), &content); err != nil || content == nil {
			return nil, fmt.Errorf("--answer %s: write a JSON object with the fields of the question, or %s", text, decline)
		}
		answers = append(answers, json.RawMessage(text))
	}
	return answers, nil
}

// handlers answer what the server asks the user.
func (v *visit) handlers() client.Handlers {
	return client.Handlers{Elicit: v.ask, OpenURL: v.ask}
}

// ask answers a question: by an answer of the command line, by the user, or not at all, which ends the visit.
func (v *visit) ask(ctx context.Context, q *client.Question) (*client.Answer, error) {
	defer v.clock.pause()()
	v.mu.Lock()
	reply := v.reply
	v.mu.Unlock()
	if reply != nil {
		return reply.give(ctx, q)
	}
	if a := v.given(q); a != nil {
		return a, nil
	}
	if v.terminal == nil {
		v.end(&questionError{q})
		<-ctx.Done() // nobody waits for what this returns
		return nil, context.Cause(ctx)
	}
	a, err := v.terminal.Ask(ctx, q)
	if errors.Is(err, console.ErrInterrupted) {
		v.end(errInterrupted)
	}
	return a, err
}

// given takes the first answer of the command line that fits.
func (v *visit) given(q *client.Question) *client.Answer {
	v.mu.Lock()
	defer v.mu.Unlock()
	for i, content := range v.answers {
		a := &client.Answer{Action: client.Declined}
		if content != nil {
			a = &client.Answer{Action: client.Accepted}
			if q.URL == "" {
				a.Content = content
			}
			if _, err := q.Complete(a.Content); err != nil {
				continue
			}
		}
		v.answers = append(v.answers[:i:i], v.answers[i+1:]...)
		return a
	}
	return nil
}

// inputRequired prints a question that nobody here answers, and how to answer it.
func (v *visit) inputRequired(q *client.Question) error {
	v.mu.Lock()
	ref := v.ref
	v.mu.Unlock()
	text, err := json.Marshal(struct {
		Server string          `json:"server"`
		Method string          `json:"method"`
		Params json.RawMessage `json:"params"`
		Key    string          `json:"key,omitempty"`
		Ref    *client.Ref     `json:"ref,omitempty"`
	}{q.Server, q.Method, q.Params, q.Key, ref})
	if err == nil {
		err = printJSON(v.cmd.OutOrStdout(), text)
	}
	if err != nil {
		return err
	}
	help := "the tool asks something, and there is no terminal to ask you on: call it again with --answer"
	if ref != nil {
		help = "the task asks something, and there is no terminal to ask you on: mcpkiln task answer answers it"
	}
	return &statusError{exitInputRequired, errors.New(help)}
}
