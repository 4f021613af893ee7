package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/mcpkiln/mcpkiln/cmd/mcpkiln/internal/argument"
	"github.com/mcpkiln/mcpkiln/cmd/mcpkiln/internal/plain"
	"github.com/mcpkiln/mcpkiln/cmd/mcpkiln/internal/target"
	"github.com/mcpkiln/mcpkiln/runtime/client"
	"github.com/mcpkiln/mcpkiln/runtime/inflight"
)

// decline is the value of --answer that declines a question.
const decline = "decline"

// answer is an answer of the command line. It declines if all is empty.
type answer struct {
	content json.RawMessage // the fields of a form
	page    string          // the address of a page that is agreed to, or the beginning of one
	at      int             // its place among those of the command line
	why     error           // why it did not fit the last question, or was not delivered; nil: none was asked
	inDoubt bool            // it was sent to a question that was over before its receipt came
}

// text returns the answer as --answer has it.
func (a *answer) text() string { return cmp.Or(a.page, string(a.content), decline) }

func (a *answer) declines() bool { return a.content == nil && a.page == "" }

// readAnswers reads the values of --answer.
func readAnswers(all []string) (answers []answer, err error) {
	for at, text := range all {
		a := answer{at: at}
		if page, bad := url.Parse(text); isAddress(text) && bad == nil && page.Host != "" {
			a.page = text
		} else if a.content, err = readAnswer(text); err != nil {
			return nil, fmt.Errorf("--answer %w", err)
		}
		answers = append(answers, a)
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
		return nil, fmt.Errorf("%s: write a JSON object with the fields of the question%s, or %s", text, asObject(text), decline)
	}
	if err := argument.Unambiguous([]byte(text)); err != nil {
		return nil, fmt.Errorf("%s: %w", text, err)
	}
	return json.RawMessage(text), nil
}

// asObject returns how name=text is written as a JSON object, to go behind a message; "" if it is something else.
func asObject(text string) string {
	name, value, ok := strings.Cut(text, "=")
	if name = strings.TrimSuffix(name, ":"); !ok || !shellSafe().MatchString(name) {
		return ""
	}
	if !json.Valid([]byte(value)) {
		word, _ := json.Marshal(value) // a text always has JSON
		value = string(word)
	}
	return ", as in " + shellJSON([]byte(`{"`+name+`": `+value+`}`))
}

// delivery is an answer that was given to a question.
type delivery struct {
	question *client.Question
	answer   answer
	settled  bool  // the server has it, or refuses it, or whether it has it will not be known
	missed   error // why it was not delivered, or may not have been; nil: it was, as far as is known
}

// errWithdrawn is why an answer is free again that was given to a question.
var errWithdrawn = errors.New("the question that it fits was over before it had the answer")

// deliveryTime is how long a question waits for an answer that another one of the same form may not need.
const deliveryTime = 2 * time.Second

// given takes the first answer of the command line that fits. If none does, it remembers why. One that is still on its way to another question is waited
// for: a server may withdraw a question and ask the next one at once.
func (v *visit) given(ctx context.Context, q *client.Question) *client.Answer {
	for late := time.After(deliveryTime); ; {
		a, misfits, settles := v.take(q)
		switch {
		case a != nil:
			return a
		case settles != nil:
			select {
			case <-settles:
				continue
			case <-late:
			case <-ctx.Done():
			}
		}
		v.mu.Lock()
		defer v.mu.Unlock()
		v.misfits = append(v.misfits, misfits...)
		return nil
	}
}

// take takes the first answer that fits. If there is none, misfits says why, and if one that was given to another question may be free again, settles is closed
// when that is known.
func (v *visit) take(q *client.Question) (a *client.Answer, misfits []error, settles <-chan struct{}) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for i, given := range v.answers {
		if err := given.fits(q); err != nil {
			misfits, v.answers[i].why = append(misfits, err), err
			continue
		}
		v.answers = append(v.answers[:i:i], v.answers[i+1:]...)
		v.deliveries = append(v.deliveries, delivery{question: q, answer: given})
		a := &client.Answer{Action: client.Declined}
		if !given.declines() {
			a = &client.Answer{Action: client.Accepted, Content: given.content}
		}
		return a, nil, nil
	}
	open := func(d delivery) bool { return !d.settled && !d.question.Keyed && d.answer.fits(q) == nil } // of a keyed one it is known at once
	if slices.ContainsFunc(v.deliveries, open) {
		if v.settles == nil {
			v.settles = make(chan struct{})
		}
		return nil, misfits, v.settles
	}
	return nil, misfits, nil
}

// settle notes what became of the answer to a question. One that came too late is free again.
func (v *visit) settle(q *client.Question, err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	at := slices.IndexFunc(v.deliveries, func(d delivery) bool { return !d.settled && sameQuestion(d.question, q) })
	if at < 0 {
		return
	}
	var cause *client.Cause
	if errors.As(err, &cause) && cause.Source != inflight.SourceTimeout {
		free := v.deliveries[at].answer
		free.why, free.inDoubt = errWithdrawn, free.inDoubt || errors.As(err, new(*client.UnconfirmedError))
		v.deliveries = slices.Delete(v.deliveries, at, at+1)
		v.answers = append(v.answers, free)
		slices.SortFunc(v.answers, func(a, b answer) int { return a.at - b.at })
	} else {
		v.deliveries[at].settled, v.deliveries[at].missed = true, err
	}
	if v.settles != nil {
		close(v.settles)
		v.settles = nil
	}
}

// sameQuestion reports whether two questions that handlers were called with are one. The keys of a call's questions are those of one round, and may come
// again in the next.
func sameQuestion(a, b *client.Question) bool {
	return a == b || a.Keyed && b.Keyed && a.Task != "" && a.Key == b.Key && a.Task == b.Task
}

// usedFlags returns the answers that were given, as flags with a space behind each. The lock is held.
func (v *visit) usedFlags() (flags string) {
	for _, d := range v.deliveries {
		flags += "--answer " + shellWord(d.answer.text()) + " "
	}
	return flags
}

// fits returns why the answer is none to the question. What agrees to a page names it, or where it is: nobody agrees to what he has not seen.
func (a *answer) fits(q *client.Question) (err error) {
	switch {
	case a.page != "" && q.URL == "":
		return fmt.Errorf("a form is no page at %s", a.page)
	case a.page != "" && q.URL != a.page && !strings.HasPrefix(q.URL, strings.TrimSuffix(a.page, "/")+"/"):
		return fmt.Errorf("the page is not at %s: it is %s", a.page, plain.Line(q.URL))
	case a.page != "" && q.URL != a.page && hasDots(q.URL):
		return fmt.Errorf("%s may be left by the dots in the path of the page, which is agreed to by its whole address: %s", a.page, plain.Line(q.URL))
	case a.page == "" && a.content != nil && q.URL != "":
		return fmt.Errorf("what is asked is no form, but to open a page, which is agreed to by its address: %s", plain.Line(q.URL))
	case a.content != nil:
		_, err = q.Complete(a.content)
	}
	return err
}

// hasDots reports whether the path of an address has segments that lead elsewhere, as browsers read it: . and .., with %2e for a dot and \ for /.
func hasDots(address string) bool {
	for _, segment := range strings.FieldsFunc(strings.ToLower(target.WithoutQuery(address)), func(r rune) bool { return r == '/' || r == '\\' }) {
		if segment = strings.ReplaceAll(segment, "%2e", "."); segment == "." || segment == ".." {
			return true
		}
	}
	return false
}

// warnOfUnusedAnswers says on stderr which answers of the command line were not used, or may not have been, unless the error of the visit does.
func (v *visit) warnOfUnusedAnswers() {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, d := range v.deliveries {
		why, became := d.missed, "the server has not taken it"
		if doubt := (*client.UnconfirmedError)(nil); errors.As(why, &doubt) {
			why, became = doubt.Err, notKnown
		}
		if why != nil {
			fmt.Fprintf(v.cmd.ErrOrStderr(), "mcpkiln: --answer %s was sent, and %s: %s\n", d.answer.text(), became, plain.Line(describe(why)))
		}
	}
	if v.ctx.Err() != nil && len(v.misfits) > 0 {
		return
	}
	for _, a := range v.answers {
		if a.inDoubt {
			fmt.Fprintf(v.cmd.ErrOrStderr(), "mcpkiln: --answer %s was sent, and %s: the question was over before the receipt came\n", a.text(), notKnown)
			continue
		}
		var why string
		if a.why != nil {
			why = plain.Line(a.why.Error())
		}
		fmt.Fprintf(v.cmd.ErrOrStderr(), "mcpkiln: --answer %s was not used: %s\n", a.text(), cmp.Or(v.unused, why, "nothing that it fits was asked"))
	}
}
