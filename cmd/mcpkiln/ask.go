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

// ask answers a question: by an answer of the command line, by the user, or not at all, which ends the visit.
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
		<-ctx.Done() // nobody waits for what this returns
		return nil, context.Cause(ctx)
	}
	a, err := v.terminal.Ask(ctx, q)
	if errors.Is(err, console.ErrInterrupted) {
		v.end(errInterrupted)
		<-ctx.Done() // what asks is cancelled, and not told that it failed
		return nil, context.Cause(ctx)
	}
	return a, err
}

// given takes the first answer of the command line that fits. Without one it remembers why those that there are do not.
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

// inputRequired prints a question that nobody here answers, and how to answer it.
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

// howToAnswer says why a question stays open, and with which command to answer it. A task that asks is kept for that.
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

// answerLine is the command that answers a question of a task, with the fields for somebody to fill in.
func answerLine(q *client.Question, ref client.Ref) string {
	line := "mcpkiln task answer " + kept(ref) + fields(q)
	if !isAddress(ref.Endpoint) {
		line += " -- COMMAND"
	}
	return line
}

// kept keeps a reference, and returns a word of a shell that names it: its id, or where that is none that can be kept or written, all of it.
func kept(ref client.Ref) string {
	shelf, err := keep.Open()
	if err == nil {
		err = shelf.Put(ref, time.Now())
	}
	if err == nil && simple.MatchString(ref.ID) {
		return ref.ID
	}
	return quoted(ref)
}

// quoted is a reference as one word of a shell, whatever the server calls its tasks.
func quoted(ref client.Ref) string {
	text, _ := json.Marshal(ref)
	return "'" + strings.ReplaceAll(string(text), "'", `\u0027`) + "'"
}

// simple is a name that means nothing to a shell.
var simple = regexp.MustCompile(`^[A-Za-z0-9_][\w.:-]*$`)

// fields are the fields of a form for somebody to fill in: those that are required, or all if none is.
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
		if simple.MatchString(name) {
			line += " " + name + "=…"
		}
	}
	return line
}

// unused says on stderr which answers of the command line were not given, unless the end of the visit says it.
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
