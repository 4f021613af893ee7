package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcpkiln/mcpkiln/cmd/mcpkiln/internal/argument"
	"github.com/mcpkiln/mcpkiln/cmd/mcpkiln/internal/plain"
	"github.com/mcpkiln/mcpkiln/runtime/client"
	"github.com/mcpkiln/mcpkiln/runtime/inflight"
	"github.com/mcpkiln/mcpkiln/runtime/task"
)

func newTaskAnswer() *cobra.Command {
	var r remote
	var key string
	var no bool
	cmd := &cobra.Command{
		Use:   "answer REF [FIELD…] [-- COMMAND…]",
		Short: "Answer what a task asks",
		Long: `answer answers the question of a task that waits for input, with the fields of its form: name=text, name:=JSON, @file.json or -, as the
arguments of mcpkiln call; or with what call --answer takes, a JSON object or decline. '{}' is an empty form. Only a page that the task wants to be opened is
agreed to without fields: a form is refused then, and stays open. mcpkiln task get shows what the task asks.`,
		Example: "  mcpkiln task answer @ref.json confirm=true",
		Args:    cobra.MinimumNArgs(1),
	}
	r.register(cmd)
	cmd.Flags().StringVar(&key, "key", "", "the question, of several; by default the first that the fields fit")
	cmd.Flags().BoolVar(&no, decline, false, "decline the question")
	target := cmd.Flags().String("target", "", "address or name of the server, if the reference does not say it all")
	cmd.ValidArgsFunction = r.completeTask(r.completeFields)
	_ = cmd.RegisterFlagCompletionFunc("key", r.completeKey) // there are such flags
	_ = cmd.RegisterFlagCompletionFunc("target", r.completeTarget)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		before, command := words(cmd, args)
		if len(before) == 0 {
			return refused(errors.New("no task is named before --\n  " + whatRef))
		}
		if at := slices.IndexFunc(before, isAddress); at > 0 {
			return refused(fmt.Errorf("%s is no field: the server is named by --target", before[at]))
		}
		var name []string
		if *target != "" {
			name = []string{*target}
		}
		ref, t, err := r.task(cmd, before[0], name, command)
		if err != nil {
			return err
		}
		reply := &reply{decline: no, done: make(chan error, 1), received: make(chan error, 1), missed: make(chan misfit, maxShown)}
		if cmd.Flags().Changed("key") {
			reply.key = &key
		}
		if err := reply.read(cmd.Context(), before[1:], cmd.InOrStdin()); err != nil {
			return refused(err)
		}
		return r.visit(cmd, t, nil, func(v *visit) error { return v.answer(ref, reply) })
	}
	return cmd
}

// reply is the answer to one question of a task.
type reply struct {
	given    *argument.Given
	bare     bool // nothing is given: neither fields nor decline
	decline  bool
	key      *string // of the question; nil: the first that it is for
	early    bool    // the task asked nothing when the command began
	used     atomic.Bool
	answered atomic.Pointer[client.Question] // set before done receives nil
	done     chan error                      // receives one value when the question was answered, or can not be
	received chan error                      // receives whether the server has the answer
	missed   chan misfit                     // questions that it is not for; of those beyond its room nothing is said
}

// misfit is a question that a reply is not for.
type misfit struct {
	question *client.Question
	why      error // nil: the reply names another key
}

// read reads the fields of a form as words, or all of them as one value like that of --answer.
func (r *reply) read(ctx context.Context, fields []string, stdin io.Reader) (err error) {
	r.bare = len(fields) == 0 && !r.decline
	if (r.decline || slices.Contains(fields, decline)) && slices.ContainsFunc(fields, func(word string) bool { return word != decline }) {
		return errors.New("fields and decline are given: write one of them")
	}
	if len(fields) == 1 && (fields[0] == decline || strings.HasPrefix(fields[0], "{")) {
		answer, err := readAnswer(fields[0])
		if err != nil {
			return err
		}
		r.decline = r.decline || answer == nil
		fields, stdin = []string{"-"}, strings.NewReader(cmp.Or(string(answer), "{}"))
	}
	r.given, err = interruptibly(ctx, func() (*argument.Given, error) { return argument.Read(fields, stdin) })
	return err
}

// answer gives the reply when the task asks, and waits until the server has received it.
func (v *visit) answer(ref client.Ref, r *reply) error {
	v.mu.Lock()
	v.reply, v.ref = r, &ref
	v.mu.Unlock()
	state, err := v.state(ref)
	switch {
	case err != nil:
		return err
	case over(state):
		return v.asksNothing("the task asks nothing", state)
	}
	r.early = state.Status != task.InputRequired
	v.clock.start(v.timeout, func() {
		v.end(&statusError{exitTimeout, fmt.Errorf("the task was not answered within %v", v.timeout)})
	})
	x, err := v.session.Resume(v.ctx, ref)
	if err != nil {
		return err
	}
	defer x.Detach()
	if err := v.awaitGiven(ref, r, v.ended(x), time.After(questionTime)); err != nil {
		return err
	}
	return v.received(ref, r, v.ended(x))
}

// receiveTime is how long the state of a task may go on to say that it asks when the server has the answer to a question that came as a request.
const receiveTime = 5 * time.Second

// received waits until the server has the answer, and prints the state after it. The end of the task says nothing of the answer, which may be on its way.
func (v *visit) received(ref client.Ref, r *reply, ended <-chan error) error {
	var late <-chan time.Time
	for has := false; !has; {
		select {
		case err := <-r.received:
			if has = err == nil; !has {
				return v.notTaken(err)
			}
		case <-ended:
			ended, late = nil, time.After(receiveTime)
		case <-late:
			return &statusError{exitTimeout, errors.New("the task can not be followed any more, and " + notKnown + v.followHint("get"))}
		case <-v.ctx.Done():
			v.noteOutcome(notKnown + v.followHint("get"))
			return context.Cause(v.ctx)
		}
	}
	for late := time.Now().Add(receiveTime); ; {
		state, err := v.state(ref)
		switch {
		case err != nil:
			return fmt.Errorf("%w\n  the server has the answer: what the task does now is not known", err)
		case r.answered.Load().Keyed: // the receipt of an answer that came after another one is the same (EXT10)
			fmt.Fprintln(v.cmd.ErrOrStderr(), "mcpkiln: the answer was sent; if another one was sent at the same time, the first counts, and which that was is not known")
			return v.printState(ref, state)
		case state.Status != task.InputRequired || !time.Now().Before(late):
			return v.printState(ref, state)
		}
		select {
		case <-time.After(receiveTime / 50):
		case <-v.ctx.Done():
			return context.Cause(v.ctx)
		}
	}
}

const notKnown = "whether the server has taken the answer is not known"

// notTaken returns the error of an answer that was not delivered, as far as that is known.
func (v *visit) notTaken(err error) error {
	var lost *client.TransportError
	var answered *client.StatusError
	var refusal *client.Error
	var cause *client.Cause
	var unconfirmed *client.UnconfirmedError
	if errors.As(err, &unconfirmed) {
		err = unconfirmed.Err
	}
	status, help := v.statusOf(err)
	text := describe(err) + "\n  " + notKnown + v.followHint("get")
	switch {
	case errors.As(err, &lost):
	case errors.As(err, &answered) && unconfirmed == nil:
		text = describe(err) + "\n  the server has not taken the answer"
	case errors.As(err, &refusal):
		text = "the server has refused the answer: " + describe(err) + "\n  what the task asks now" + v.followHint("get")
	case errors.As(err, &cause) && cause.Source != inflight.SourceTimeout && unconfirmed != nil:
		status, help, text = exitTimeout, "", cmp.Or(cause.Reason, describe(err))+"\n  "+notKnown+v.followHint("get")
	case errors.As(err, &cause) && cause.Source != inflight.SourceTimeout:
		status, text = exitRefused, "the answer came too late: "+cause.Reason+"\n  what the task does now"+v.followHint("get")
	}
	if help != "" {
		text += "\n  " + help
	}
	return &statusError{status, errors.New(text)}
}

// awaitGiven returns when the reply was given, or can not be: the task is over, or does not ask this command until late. It may ask nothing, or ask
// another client, which then has to answer or to disconnect first.
func (v *visit) awaitGiven(ref client.Ref, r *reply, ended <-chan error, late <-chan time.Time) error {
	var misfits []misfit
	var lost error
	for asked := true; asked; {
		select {
		case err := <-r.done:
			return refused(err)
		case m := <-r.missed:
			if misfits = append(misfits, m); len(misfits) < maxShown {
				late = time.After(quietTime) // for another that it fits
			} else {
				asked = false
			}
		case lost = <-ended:
			asked = false
		case <-late:
			asked = false
		}
	}
	select {
	case err := <-r.done: // at the same moment
		return refused(err)
	default:
	}
	state, err := v.state(ref)
	switch {
	case !r.used.CompareAndSwap(false, true): // given while the state was read
		return refused(<-r.done)
	case v.ctx.Err() != nil:
		v.noteOutcome("no answer was given")
		return context.Cause(v.ctx)
	case err != nil:
		return err
	case state.Status != task.InputRequired && r.early:
		return v.asksNothing("the task asks nothing", state)
	case state.Status != task.InputRequired: // another client has answered
		return v.asksNothing("the task asks nothing any more", state)
	case lost != nil:
		return lost
	case len(misfits) > 0:
		return refused(r.misfits(misfits))
	}
	return refused(errors.New("the question is not put to this command: another one or a host shows it, and has to answer or to end first"))
}

// asksNothing returns the error of an answer to a task that does not wait for one.
func (v *visit) asksNothing(what string, state client.TaskState) error {
	then := "its result, when it is over" + v.followHint("wait")
	if over(state) {
		then = "its result" + v.followHint("result")
	}
	return refused(fmt.Errorf("%s: it is %s\n  %s", what, state.Status, then))
}

// misfits says why the reply is for none of the questions that are open.
func (r *reply) misfits(open []misfit) error {
	var keys []string
	var why []error
	for _, m := range open {
		why = append(why, m.why)
		if m.question.Keyed {
			keys = append(keys, shellWord(m.question.Key))
		}
	}
	switch {
	case r.key == nil || open[0].question.Method == "": // none is shown
		return errors.New(strings.Join(eachOnce(why), "\n"))
	case len(keys) == 0:
		return errors.New("the questions of the task have no keys: leave --key out")
	}
	return fmt.Errorf("no question that is open has the key %q: there is %s", *r.key, nearestFirst(*r.key, keys))
}

// give answers the first question that the reply is for. Others stay open.
func (r *reply) give(ctx context.Context, q *client.Question) (*client.Answer, error) {
	a := &client.Answer{Action: client.Declined}
	err := r.fill(a, q)
	switch {
	case r.key != nil && !r.names(q):
		r.miss(q, nil)
	case err != nil:
		r.miss(q, err)
	case r.used.CompareAndSwap(false, true):
		r.answered.Store(q)
		r.done <- nil
		return a, nil
	}
	<-ctx.Done() // the question stays open
	return nil, context.Cause(ctx)
}

// names reports whether the reply has the key of a question.
func (r *reply) names(q *client.Question) bool { return r.key != nil && q.Keyed && q.Key == *r.key }

// note notes whether the server has the answer.
func (r *reply) note(q *client.Question, err error) {
	if given := r.answered.Load(); given != nil && sameQuestion(q, given) {
		r.received <- err
	}
}

// miss notes that the reply is not for a question, and why.
func (r *reply) miss(q *client.Question, why error) {
	if r.names(q) { // no other is meant
		select {
		case r.done <- why:
		default:
		}
		return
	}
	select {
	case r.missed <- misfit{q, why}:
	default:
	}
}

// fill makes the answer from the words of the reply.
func (r *reply) fill(a *client.Answer, q *client.Question) error {
	if r.decline {
		return nil
	}
	a.Action = client.Accepted
	switch {
	case q.URL != "" && !r.bare:
		return fmt.Errorf("what is asked is no form, but to open a page, which is agreed to without fields: %s", plain.Line(q.URL))
	case q.URL != "":
		return readable(q)
	case r.bare:
		return errors.New("a form is asked for, and no field is given: " + howToFill(q))
	}
	if err := r.given.Known("field", q.Schema); err != nil {
		return fmt.Errorf("the question has %w", err)
	}
	content, err := r.given.Object(q.Schema)
	if err != nil {
		return err
	}
	a.Content = content
	if _, err := q.Complete(content); err != nil {
		return fmt.Errorf("%w; the form is %s", err, plain.Line(string(q.Schema)))
	}
	return nil
}
