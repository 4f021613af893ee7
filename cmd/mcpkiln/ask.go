package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/mcpkiln/mcpkiln/cmd/mcpkiln/internal/console"
	"github.com/mcpkiln/mcpkiln/runtime/client"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
)

// questionError ends a visit in which questions are asked that neither --answer nor the user answers.
type questionError struct {
	open []openQuestion
	used string // the flags that have answered others: the end of the visit takes these back
}

// Error implements error.
func (*questionError) Error() string { return "input required" }

// handlers answer what the server asks the user.
func (v *visit) handlers() client.Handlers {
	h := client.Handlers{Elicit: v.ask, OpenURL: v.ask, LeftOpen: v.leftOpen, Answered: v.answered}
	if v.verbose {
		h.Log = v.logged
	}
	return h
}

// ask answers a question from the command line or by asking the user; if neither can answer, it ends the visit.
func (v *visit) ask(ctx context.Context, q *client.Question) (*client.Answer, error) {
	v.mu.Lock()
	reply, shown := v.reply, v.shown
	v.mu.Unlock()
	if shown != nil {
		select {
		case shown <- openQuestion{question: q}:
			<-ctx.Done()
		case <-ctx.Done():
		}
		return nil, context.Cause(ctx)
	}
	if reply != nil {
		return reply.give(ctx, q)
	}
	if err := readable(q); err != nil {
		v.warn(err.Error() + ": the question is declined")
		return &client.Answer{Action: client.Declined}, nil
	}
	defer v.clock.pause()()
	if a := v.given(ctx, q); a != nil {
		return a, nil
	}
	open := v.asksStill(q)
	if open && v.terminal == nil {
		v.staysOpen(ctx, openQuestion{question: q})
	}
	if !open || v.terminal == nil {
		<-ctx.Done() // the result is not used
		return nil, context.Cause(ctx)
	}
	a, err := v.terminal.Ask(ctx, v.withTitle(q))
	if errors.Is(err, console.ErrInterrupted) {
		v.interrupt(errInterrupted)
		<-ctx.Done() // the call is cancelled; an error would go to the server
		return nil, context.Cause(ctx)
	}
	if errors.Is(err, console.ErrDone) {
		<-ctx.Done() // so does the visit, which has its result
		return nil, context.Cause(ctx)
	}
	return a, err
}

// staysOpen ends the visit because of a question that is not answered, unless ctx ends first. All that are asked with it are told together: who learns of one
// at a time would answer that, and be asked the next.
func (v *visit) staysOpen(ctx context.Context, open openQuestion) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.open = append(v.open, open)
	context.AfterFunc(ctx, func() {
		v.mu.Lock()
		defer v.mu.Unlock()
		v.open = slices.DeleteFunc(v.open, func(o openQuestion) bool { return o.question == open.question })
	})
	switch {
	case v.endsOpen == nil:
		v.endsOpen = time.AfterFunc(quietTime, func() {
			v.mu.Lock()
			all := &questionError{slices.Clone(v.open), v.usedFlags()}
			v.mu.Unlock()
			if len(all.open) > 0 { // else they were withdrawn
				v.end(all)
			}
		})
	case len(v.open) < maxShown:
		v.endsOpen.Reset(quietTime)
	}
}

// maxTitle limits how much is shown of what a server calls itself, in bytes.
const maxTitle = 60

// withTitle returns a question in which the user's name for the server is followed by what the server calls itself, if that is another name.
func (v *visit) withTitle(q *client.Question) *client.Question {
	v.mu.Lock()
	s := v.session
	v.mu.Unlock()
	shown := *q
	if s != nil && s.ServerTitle() != "" && s.ServerTitle() != q.Server {
		shown.Server += fmt.Sprintf(" (calls itself %q)", rpc.CutTo(s.ServerTitle(), maxTitle)) // quoted, so that it can not go on in our words
	}
	return &shown
}

// readable returns an error for a page whose address has white space: it is shown on one line, and would not be what a browser opens.
func readable(q *client.Question) error {
	if !strings.ContainsFunc(q.URL, unicode.IsSpace) {
		return nil
	}
	return fmt.Errorf("the address of the page has white space, so it is not opened: %q", rpc.CutTo(q.URL, maxQuoted))
}

// inputRequired prints unanswered questions, one a line, and how to answer them.
func (v *visit) inputRequired(asked *questionError) error {
	v.mu.Lock()
	ref := v.ref
	how := v.howToAnswer(asked)
	v.mu.Unlock()
	for _, o := range asked.open {
		q := o.question
		text, err := json.Marshal(struct {
			Server string          `json:"server"`
			Method string          `json:"method"`
			Params json.RawMessage `json:"params"`
			Key    *string         `json:"key,omitempty"`
			Ref    *client.Ref     `json:"ref,omitempty"`
		}{q.Server, q.Method, q.Params, keyOf(q), ref})
		if err == nil {
			err = printJSON(v.cmd.OutOrStdout(), text)
		}
		if err != nil {
			return &statusError{exitTool, err}
		}
	}
	return &statusError{exitInputRequired, errors.New(how)}
}

// howToAnswer says why questions stay open, and with which command to answer them all. The reference of a task that asks is kept for that. The lock is held.
func (v *visit) howToAnswer(asked *questionError) string {
	var lines, beyond []string
	for _, o := range asked.open {
		switch {
		case o.why != nil:
			beyond = append(beyond, "the task "+o.beyond())
		case v.ref != nil:
			lines = append(lines, v.answerLine(o.question, *v.ref))
		default:
			lines = append(lines, "--answer "+v.answerFlag(o.question))
		}
	}
	if len(beyond) > 0 {
		beyond = append(beyond, "  the task goes on: all that it asks"+v.followHint("get"), "  its result, when that is answered"+v.followHint("wait"))
	}
	if len(lines) == 0 {
		return strings.Join(beyond, "\n")
	}
	why := "there is no terminal to ask you on"
	if len(v.misfits) > 0 {
		why = "--answer fits no question: " + strings.Join(eachOnce(v.misfits), "; ")
	}
	flags := asked.used + strings.Join(lines, " ")
	switch {
	case v.ref == nil && len(lines) == 1:
		return "the tool asks something, and " + why + "\n  call it again with " + flags + ", or --answer " + decline
	case v.ref == nil:
		return fmt.Sprintf("the tool asks %d things, and %s\n  call it again with %s\n  or with --answer %s in the place of one", len(lines), why, flags, decline)
	case len(lines) == 1:
		why = "something, and " + why + "\n  answer it, or write decline in place of the fields: " + lines[0]
	default:
		why = fmt.Sprintf("%d things, and %s\n  answer each, or write decline in place of the fields:\n  %s", len(lines), why, strings.Join(lines, "\n  "))
	}
	return strings.Join(append([]string{"the task asks " + why}, beyond...), "\n")
}

// answerFlag returns the value of --answer for a question. A page whose address is another one in each call is agreed to by its host.
func (v *visit) answerFlag(q *client.Question) string {
	page, err := url.Parse(q.URL)
	switch {
	case q.URL == "":
		return answerWord(q)
	case err != nil || !isAddress(q.URL):
		return decline
	}
	host := page.Scheme + "://" + page.Host + "/"
	if slices.ContainsFunc(v.answers, func(a answer) bool { return strings.HasPrefix(a.page, host) }) && !hasDots(q.URL) {
		return shellWord(host)
	}
	return shellWord(q.URL)
}

// answerLine returns the command that answers a question of a task, with the fields to fill in. It has the key of the question, if there is one:
// another question that the same fields fit may be open, or be asked meanwhile.
func (v *visit) answerLine(q *client.Question, ref client.Ref) string {
	line := "mcpkiln task answer " + keepRef(ref, v.ttl)
	if q.Keyed {
		line += " --key " + shellWord(q.Key)
	}
	return line + fields(q) + v.again(ref, "--target ")
}

// answerWord returns the value of --answer for a form, with the fields to fill in.
func answerWord(q *client.Question) string {
	var all []string
	for _, name := range toFillIn(q) {
		word, _ := json.Marshal(name) // a text always has JSON
		all = append(all, string(word)+": …")
	}
	return shellJSON([]byte("{" + strings.Join(all, ", ") + "}"))
}

// fields returns the fields of a form to fill in, as words: one for each, or one object if there is none or a shell does not take a name literally. It
// returns "" for a page.
func fields(q *client.Question) (line string) {
	names := toFillIn(q)
	quote := func(name string) bool { return !shellSafe().MatchString(name) }
	switch {
	case q.URL != "":
		return ""
	case len(names) == 0, slices.ContainsFunc(names, quote):
		return " " + answerWord(q)
	}
	return " " + strings.Join(names, "=… ") + "=…"
}

// howToFill says with which words to answer a form.
func howToFill(q *client.Question) string {
	line := fields(q)
	if _, bad := q.Complete(json.RawMessage("{}")); bad == nil && line != " '{}'" {
		line += ", '{}' for an empty form,"
	}
	return "write" + line + " or " + decline
}

// toFillIn returns the names of a form's fields: of the required ones, or of all if none is.
func toFillIn(q *client.Question) []string {
	var form struct {
		Properties map[string]json.RawMessage
		Required   []string
	}
	_ = json.Unmarshal(q.Schema, &form) // a question without a form has none
	if len(form.Required) == 0 {
		form.Required = slices.Sorted(maps.Keys(form.Properties))
	}
	return form.Required
}
