package client

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/mcpkiln/mcpkiln/runtime/inflight"
	"github.com/mcpkiln/mcpkiln/runtime/task"
	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

// answer has each question answered that was not asked before, and sends each answer when it is there. If maxQuestions are open, further ones wait for
// the next reading of the state. A state that lists more than maxQuestions is an error.
func (w *following) answer(requests []byte) error {
	method := w.dialect.Call(wire.OpGetTask).Name
	questions, err := inputRequests(method, requests)
	if err != nil {
		return err
	}
	if w.unlisted++; len(questions) > 0 {
		w.unlisted = 0
	}
	asked, bytes := w.askedSoFar()
	w.tellUnlisted(asked)
	if bytes > maxKeyBytes {
		w.fail(broken(method, "it has asked %d questions, with keys of %d bytes", asked, bytes))
		return nil
	}
	w.endUnlisted(questions)
	for _, asked := range questions {
		if w.ctx.Err() == nil && w.take(asked.key) {
			w.s.begin(w.ctx, func(begins func()) { w.answerOne(asked, begins) })
		}
	}
	return nil
}

// endUnlisted ends the open questions that the task does not list any more: it has their answers from another client, or does not want them.
func (w *following) endUnlisted(listed []inputRequest) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for key, end := range w.dialogs {
		if !slices.ContainsFunc(listed, func(q inputRequest) bool { return q.key == key }) {
			end(&Cause{Source: inflight.SourcePeer, Reason: "the task does not ask it any more"})
		}
	}
}

// openDialog returns a context for the handler of a question, which ends with the question, or when close is called.
func (w *following) openDialog(key string) (ctx context.Context, close func()) {
	ctx, end := context.WithCancelCause(context.WithoutCancel(w.ctx))
	stop := context.AfterFunc(w.ctx, func() { end(w.cause()) })
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.dialogs == nil {
		w.dialogs = map[string]context.CancelCauseFunc{}
	}
	w.dialogs[key] = end
	return ctx, func() { stop(); end(nil) }
}

// cause returns why the task is not followed any more, perhaps because the session has ended.
func (w *following) cause() *Cause {
	var own *Cause
	if errors.As(context.Cause(w.ctx), &own) {
		return own
	}
	return w.s.endCause()
}

// maxKeyBytes is how long the keys of a task's questions may be in all: each is remembered, so that it is asked once.
const maxKeyBytes = 1 << 20

// askedSoFar returns how many questions of the task were passed to handlers, and how long their keys are in all.
func (f *follower) askedSoFar() (questions, bytes int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.questions), f.questionKeyBytes
}

// tellUnlisted tells the host once that the task waits for input, and lists no question: servers list only kinds of questions that the session has
// declared. If something was asked before, two readings in a row have to say so, since the list may be ahead of the status.
func (w *following) tellUnlisted(asked int) {
	if w.unlisted != 1+min(asked, 1) {
		return
	}
	why := errors.New("the task waits for input, and shows this session no question: it has not declared what the task asks")
	if !w.s.leaveOpen(&Question{Server: w.s.serverName(), Task: w.task}, why) {
		w.s.cfg.logger.Warn("a task waits for input, and lists no question", "task", w.task)
	}
}

// take counts the question with that key as asked, and returns whether it is to be: the task is still followed, it was not asked before, and not too many
// are open.
func (w *following) take(key string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, asked := w.questions[key]; asked || w.stopped.openQuestions >= maxQuestions || w.ctx.Err() != nil {
		return false
	}
	w.questions[key] = false
	w.questionKeyBytes += len(key)
	w.stopped.add(1)
	w.change()
	return true
}

// closeDialog ends what openDialog began, and records whether there is an answer. false: the question was over before. Then, and if there is no answer,
// it can be asked again: when the task lists it anew, or when somebody follows the task the next time.
func (w *following) closeDialog(ctx context.Context, key string, answered bool) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.dialogs, key)
	switch {
	case w.ctx.Err() != nil:
		return false
	case ctx.Err() != nil:
		w.forget(key)
		return false
	}
	w.questions[key] = answered
	return true
}

// forgetUnanswered has the questions asked again to which there is no answer.
func (f *follower) forgetUnanswered() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for key, answered := range f.questions {
		if !answered {
			f.forget(key)
		}
	}
}

// forget has a question asked again; the lock is held.
func (f *follower) forget(key string) {
	delete(f.questions, key)
	f.questionKeyBytes -= len(key)
}

// answerOne has a question answered and sends the answer. If it is not answered, the question is left open, or the executions end, see fail.
func (w *following) answerOne(asked inputRequest, begins func()) {
	ctx, end := w.openDialog(asked.key)
	defer end()
	answers, err := w.s.answerAll(ctx, w.dialect, []inputRequest{asked}, w.task, begins)
	w.countQuestions(-1)
	open := w.closeDialog(ctx, asked.key, err == nil)
	q, _, _ := w.s.inputQuestion(w.dialect, asked, w.task)
	switch {
	case err == nil && open:
		w.deliver(asked, answers)
	case err == nil && ctx.Err() != nil:
		w.s.tellAnswered(q, causeOf(ctx))
	case err == nil:
		w.s.tellAnswered(q, w.cause())
	case !open:
	case w.s.onlyResumed(q.Task):
		begins() // in the order of the questions
		w.s.tellLeftOpen(q, err)
	default: // without its answer the task waits for ever
		w.fail(fmt.Errorf("its question %q was not answered: %w", asked.key, err))
	}
}

// deliver sends an answer, again after transient failures: the server ignores an answer that it has already (EXT10). The sending goes on when nobody
// follows the task any more, because somebody has answered.
func (w *following) deliver(asked inputRequest, answers []byte) {
	doubt := false
	send := func() error {
		_, _, err := w.ask(w.s.ctx, wire.OpUpdateTask, answers) // the task may end because of it, and be read before the acknowledgement
		doubt = doubt || err != nil && mayHaveArrived(err)
		return err
	}
	err := w.s.sendAgain(w.life, send(), send)
	if w.mayHave(err) {
		err = nil
	}
	err = unconfirmed(err, doubt)
	q, _, _ := w.s.inputQuestion(w.dialect, asked, w.task)
	w.s.tellAnswered(q, err)
	switch {
	case w.life.Err() != nil:
		return
	case err != nil && !w.isOver():
		w.notTaken(err)
		w.mu.Lock() // whoever follows the task next is asked again
		w.forget(asked.key)
		w.mu.Unlock()
	}
	w.wake() // the task may go on now
}

// mayHave reports whether a task has gone on to its end with an answer of which only the acknowledgement was lost, as far as can be told.
func (w *following) mayHave(err error) bool {
	var lost *TransportError
	if !errors.As(err, &lost) {
		return false
	}
	if isUnsent(err) {
		return false
	}
	status := w.currentState().Status
	return status == task.Completed || status == task.Failed
}

// notTaken ends the executions of a task that did not take an answer because of err, or may not have: it may wait for ever. The task is not cancelled, because err may say
// nothing of it: a token can expire while a person thinks, and whoever resumes the task can answer again.
func (w *following) notTaken(err error) {
	what := "an answer to it was not taken"
	if errors.As(err, new(*UnconfirmedError)) {
		what = "an answer to it was not acknowledged"
	}
	w.leave(fmt.Errorf("%s: %w", what, err))
}

// answerLost is notTaken for an answer to a question that came as a request in that HTTP session, unless the task may go on: it is over; it asks again in a
// new session; or in doubt, it waits for no input any more. In doubt a task that has another question open may have gone on to that. If it has not, it asks
// again on the next stream.
func (w *following) answerLost(session string, err error, doubt bool) {
	if w.isOver() || errors.Is(err, errNoSession) && w.s.link.sessionID() != session {
		return
	}
	w.mu.Lock()
	goesOn := doubt && w.state.Status != task.InputRequired
	asks := doubt && w.stopped.openQuestions > 0
	if asks {
		w.result.lose()
	}
	w.mu.Unlock()
	if !goesOn && !asks {
		w.notTaken(unconfirmed(err, doubt))
	}
}

// leave ends the executions of a task that may go on, and is not followed because of err.
func (w *following) leave(err error) {
	w.finish(ToolResult{}, &RemedyError{&TaskError{State: w.currentState(), Err: err}, ResumeTask})
}

// isOver reads whether the task is over: then it takes no answer, perhaps because another client has answered. If the server does not know the task, the
// executions end.
func (w *following) isOver() bool {
	state, _, err := w.read(w.life)
	if err == nil {
		w.update(state)
		return terminal(state.Status)
	}
	var expired *ExpiredError
	if failed := taskError(w.currentState(), err); errors.As(failed.Err, &expired) {
		w.finish(ToolResult{}, failed)
		return true
	}
	return false
}

// fail ends the executions of a task that this session can not answer. The task is cancelled if this session started it; else it goes on, because it is
// another host's.
func (w *following) fail(err error) {
	if w.onlyResumed() {
		w.leave(err)
		return
	}
	w.abandon(ending{by: w, err: &RemedyError{&TaskError{State: w.currentState(), Err: err}, ResumeUnlessCancelled}})
}

// onlyResumed reports whether this session follows the task with the id and has not started it.
func (s *Session) onlyResumed(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := s.followers[id]
	return f != nil && !f.startedHere
}

// leaveOpen leaves a question open that this session can not answer, if the session has only resumed the task; false: it has not.
func (s *Session) leaveOpen(q *Question, why error) bool {
	if !s.onlyResumed(q.Task) {
		return false
	}
	s.spawn(func() { s.tellLeftOpen(q, why) })
	return true
}

// tellLeftOpen tells the host that a question stays open.
func (s *Session) tellLeftOpen(q *Question, why error) {
	if f := s.cfg.handlers.LeftOpen; f != nil {
		f(q, why)
		return
	}
	s.cfg.logger.Warn("a question of a task that was resumed stays open", "task", q.Task, "method", q.Method, "error", why)
}
