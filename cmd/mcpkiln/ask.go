package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/mcpkiln/mcpkiln/cmd/mcpkiln/internal/console"
	"github.com/mcpkiln/mcpkiln/cmd/mcpkiln/internal/keep"
	"github.com/mcpkiln/mcpkiln/runtime/client"
)

// questionError ends a visit in which a question is asked that neither --answer nor the user answers.
type questionError struct{ question *client.Question }

// Error implements error.
func (*questionError) Error() string { return "input required" }

// decline is the value of --answer that declines a question.
const decline = "decline"

// readAnswers reads the values of --answer.
func readAnswers(all []string) ([]json.RawMessage, error) {
	var answers []json.RawMessage
	for _, text := range all {
		answer, err := readAnswer(text)
		if err != nil {
			return nil, fmt.Errorf("--answer %w", err)
		}
		answers = append(answers, answer)
	}
	return answers, nil
}

// readAnswer reads one answer: a JSON object, or nil to decline.
func readAnswer(text string) (json.RawMessage, error) {
	if text == decline {
		return nil, nil
	}
	var content map[string]json.RawMessage
	if err := json.Unmarshal([]byte(text), &content); err != nil || content == nil {
		return nil, fmt.Errorf("%s: write a JSON object with the fields of the question, or %s", text, decline)
	}
	return json.RawMessage(text), nil
}

// handlers answer what the server asks the user.
func (v *visit) handlers() client.Handlers {
	return client.Handlers{Elicit: v.ask, OpenURL: v.ask}
}

// ask answers a question from the command line or by asking the user; if neither can answer, it ends the visit.
func (v *visit) ask(ctx context.Context, q *client.Question) (*client.Answer, error) {
	defer v.clock.pause()()
	v.mu.Lock()
	reply, shown := v.reply, v.shown
	v.mu.Unlock()
	if shown != nil {
		select {
		case shown <- q:
			<-ctx.Done()
		case <-ctx.Done():
		}
		return nil, context.Cause(ctx)
	}
	if reply != nil {
		return reply.give(ctx, q)
	}
	if a := v.given(q); a != nil {
		return a, nil
	}
	if v.terminal == nil {
		v.end(&questionError{q})
		<-ctx.Done() // the result is not used
		return nil, context.Cause(ctx)
	}
	a, err := v.terminal.Ask(ctx, q)
	if errors.Is(err, console.ErrInterrupted) {
		v.end(errInterrupted)
		<-ctx.Done() // the call is cancelled; an error would go to the server
		return nil, context.Cause(ctx)
	}
	return a, err
}

// given takes the first answer of the command line that fits. If none does, it remembers why not.
func (v *visit) given(q *client.Question) *client.Answer {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.misfits = nil
	for i, content := range v.answers {
		a := &client.Answer{Action: client.Declined}
		if content != nil {
			a = &client.Answer{Action: client.Accepted}
			if q.URL == "" {
				a.Content = content
			}
			if _, err := q.Complete(a.Content); err != nil {
				v.misfits = append(v.misfits, err)
				continue
			}
		}
		v.answers = append(v.answers[:i:i], v.answers[i+1:]...)
		return a
	}
	return nil
}

// inputRequired prints an unanswered question, and how to answer it.
func (v *visit) inputRequired(q *client.Question) error {
	v.mu.Lock()
	ref, misfits := v.ref, v.misfits
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
	return &statusError{exitInputRequired, errors.New(howToAnswer(q, ref, misfits))}
}

// howToAnswer says why a question stays open, and with which command to answer it. The reference of a task that asks is kept for that.
func howToAnswer(q *client.Question, ref *client.Ref, misfits []error) string {
	why := "there is no terminal to ask you on"
	if len(misfits) > 0 {
		why = "--answer fits no question: " + strings.ReplaceAll(errors.Join(misfits...).Error(), "\n", "; ")
	}
	if ref == nil {
		return "the tool asks something, and " + why + "\n  call it again with --answer: a JSON object with the fields of the question, or " + decline
	}
	return "the task asks something, and " + why + "\n  answer it, or write decline in place of the fields: " + answerLine(q, *ref)
}

// answerLine returns the command that answers a question of a task, with the fields to fill in.
func answerLine(q *client.Question, ref client.Ref) string {
	line := "mcpkiln task answer " + keepRef(ref) + fields(q)
	if !isAddress(ref.Endpoint) {
		line += " -- COMMAND"
	}
	return line
}

// keepRef keeps a reference, and returns a shell word for it: its id, or the whole reference if it can not be kept or its id not written.
func keepRef(ref client.Ref) string {
	shelf, err := keep.Open()
	if err == nil {
		err = shelf.Put(ref, time.Now())
	}
	if err == nil && shellSafe.MatchString(ref.ID) {
		return ref.ID
	}
	return quoted(ref)
}

// quoted returns a reference as one shell word, whatever characters its id has.
func quoted(ref client.Ref) string {
	text, _ := json.Marshal(ref)
	return "'" + strings.ReplaceAll(string(text), "'", `\u0027`) + "'"
}

// shellSafe matches a name that a shell takes literally.
var shellSafe = regexp.MustCompile(`^[A-Za-z0-9_][\w.:-]*$`)

// fields returns the fields of a form to fill in: the required ones, or all if none is.
func fields(q *client.Question) string {
	var form struct {
		Properties map[string]json.RawMessage
		Required   []string
	}
	_ = json.Unmarshal(q.Schema, &form) // a question without a form has none
	if len(form.Required) == 0 {
		form.Required = slices.Sorted(maps.Keys(form.Properties))
	}
	line := ""
	for _, name := range form.Required {
		if shellSafe.MatchString(name) {
			line += " " + name + "=…"
		}
	}
	return line
}

// unused reports on stderr which answers of the command line were not used, unless the error of the visit does.
func (v *visit) unused() {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.ctx.Err() != nil && len(v.misfits) > 0 {
		return
	}
	for _, content := range v.answers {
		text := decline
		if content != nil {
			text = string(content)
		}
		fmt.Fprintf(v.cmd.ErrOrStderr(), "mcpkiln: --answer %s was not used: nothing that it fits was asked\n", text)
	}
}
