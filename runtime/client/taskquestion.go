package client

import (
	"context"
	"errors"
	"fmt"

	"github.com/mcpkiln/mcpkiln/runtime/inflight"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

// answer has each question answered that was not before, and sends each answer when it is there. Questions beyond maxQuestions at once wait for
// the next reading of the state. A state with more than that ends the task.
func (f *follower) answer(requests []byte) {
	questions, err := inputRequests(f.dialect.Call(wire.OpGetTask).Name, requests)
	if err != nil {
		f.fail(err)
		return
	}
	if f.unlisted++; len(questions) > 0 {
		f.unlisted = 0
	}
	f.tellUnlisted()
	if f.keyBytes > maxKeyBytes {
		f.fail(broken(f.dialect.Call(wire.OpGetTask).Name, "it has asked %d questions, with keys of %d bytes", len(f.questions), f.keyBytes))
		return
	}
	for key, asked := range questions {
		if f.take(key) {
			f.s.spawn(func() { f.answerOne(key, asked) })
		}
	}
}

// maxKeyBytes is how long the keys of a task's questions may be in all: each is remembered, so that it is asked once.
const maxKeyBytes = 1 << 20

// tellUnlisted tells the host once that the task waits for input, and lists no question: servers list only what the session has declared that it can
// be asked. After an answer the next reading has to say so, too, since the list may be ahead of the status.
func (f *follower) tellUnlisted() {
	f.mu.Lock()
	patience := min(len(f.questions), 1)
	f.mu.Unlock()
	if f.unlisted != 1+patience {
		return
	}
	why := errors.New("the task waits for input, and shows this session no question: it has not declared what the task asks")
	if !f.s.leaveOpen(&Question{Server: f.s.serverName(), Task: f.task}, why) {
		f.s.cfg.logger.Warn("a task waits for input, and lists no question", "task", f.task)
	}
}

// take counts the question with that key as asked, and returns whether it is to be: it was not before, and not too many are open.
func (f *follower) take(key string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.questions[key] || f.stopped.openQuestions >= maxQuestions {
		return false
	}
	f.questions[key] = true
	f.keyBytes += len(key)
	f.stopped.add(1)
	f.change()
	return true
}

func (f *follower) answerOne(key string, asked inputRequest) {
	answers, err := f.s.answerAll(f.ctx, f.dialect, map[string]inputRequest{key: asked}, f.task)
	f.countQuestions(-1)
	switch {
	case f.ctx.Err() != nil:
	case err == nil:
		f.deliver(key, asked, answers)
	default:
		q, _, _ := f.s.inputQuestion(f.dialect, key, asked, f.task)
		if !f.s.leaveOpen(q, err) { // without its answer the task waits for ever
			f.fail(fmt.Errorf("its question %q was not answered: %w", key, err))
		}
	}
}

// deliver sends an answer, again after failures that may be over the next time: the server ignores what it was told before (EXT10).
// The end of the task does not take back what is under way.
func (f *follower) deliver(key string, asked inputRequest, answers []byte) {
	send := func() error {
		_, _, err := f.ask(f.s.ctx, wire.OpUpdateTask, answers)
		return err
	}
	err := f.s.sendAgain(f.ctx, send(), send)
	q, _, _ := f.s.inputQuestion(f.dialect, key, asked, f.task)
	f.s.tellAnswered(q, err)
	switch {
	case f.ctx.Err() != nil:
	case err != nil && !f.isOver():
		f.fail(fmt.Errorf("an answer to it was not taken: %w", err))
	default:
		f.wake() // the task may go on now
	}
}

// isOver reads whether the task is over: then it takes no answer, perhaps because another client has answered.
func (f *follower) isOver() bool {
	v, _, err := f.ask(f.ctx, wire.OpGetTask, nil)
	return err == nil && terminal(readState(v, f.task).Status)
}

// fail ends the executions of a task that can not be followed to its result. The task is cancelled if this session started it; else it goes on,
// because it is another host's.
func (f *follower) fail(err error) {
	if f.guest() {
		f.finish(ToolResult{}, fmt.Errorf("client: task %s goes on, but is not followed: %w", rpc.Printable(f.task), err))
		return
	}
	f.abandon(nil, &TaskError{State: f.currentState(), Err: fmt.Errorf("it is cancelled: %w", err)})
}

// resumed reports whether this session follows the task with the id and has not started it.
func (s *Session) resumed(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := s.followers[id]
	return f != nil && !f.made
}

// leaveOpen leaves a question that this session can not answer open if it is one of a task that was only resumed.
func (s *Session) leaveOpen(q *Question, why error) bool {
	if !s.resumed(q.Task) {
		return false
	}
	s.spawn(func() {
		if f := s.cfg.handlers.LeftOpen; f != nil {
			f(q, why)
			return
		}
		s.cfg.logger.Warn("a question of a task that was resumed stays open", "task", q.Task, "method", q.Method, "error", why)
	})
	return true
}

// endQuestions ends the questions of a task that came as requests.
func (s *Session) endQuestions(id string) {
	s.endAsked(&Cause{Source: inflight.SourceParent, Reason: "the task that asked is over"}, func(values context.Context) bool {
		q, ok := values.(*question)
		return ok && q.Task == id
	})
}
