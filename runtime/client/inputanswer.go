package client

import (
	"cmp"
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/inflight"
	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

// reply is what a handler has returned.
type reply struct {
	key    string
	q      *Question
	result json.RawMessage
	err    error // of the handler, or why it was not called
	asked  bool  // the handler was called
}

// replies are those to the questions of one result or task.
type replies struct {
	s     *Session
	added chan struct{} // has an element when got has changed

	mu   sync.Mutex
	got  []reply
	over error // why they are not sent; nil: they still may be
}

// answerAll has all questions answered at the same time, within the timeout of one question. The handlers are called in the order of the questions, each
// after a call of beforeEach. It returns the answers by key; nil: there was no question.
// When ctx has ended, or a handler has failed, answerAll does not wait for other handlers: what they answer all the same is dropped.
func (s *Session) answerAll(ctx context.Context, d *wire.Dialect, questions []inputRequest, task string, beforeEach func()) (json.RawMessage, error) {
	if len(questions) == 0 {
		return nil, nil
	}
	ctx, end := s.withQuestionTimeout(ctx)
	defer end()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(&Cause{Source: inflight.SourceParent, Reason: "another question of the same call was not answered"})
	all := &replies{s: s, added: make(chan struct{}, 1)}
	over := make(chan error, 1)
	// await begins before the first handler is called, so that each reply is awaited, or the host is told that it is too late, also if the session ends meanwhile.
	awaits := s.spawn(func() { all.await(ctx, len(questions), over) })
	if !awaits || !s.spawn(func() {
		for _, asked := range questions {
			if ctx.Err() != nil {
				return
			}
			s.begin(ctx, func(begins func()) { all.add(s.answerInput(ctx, d, asked, task, func() { begins(); beforeEach() })) })
		}
	}) {
		return nil, ErrClosed
	}
	if err := <-over; err != nil {
		return nil, err
	}
	answers := map[string]json.RawMessage{}
	for _, r := range all.got {
		answers[r.key] = r.result
	}
	return json.Marshal(answers)
}

// headStart is how much sooner a handler is called than that of the next question, which runs at the same time: handlers that begin by taking the same
// terminal get it in the order of the questions.
const headStart = 5 * time.Millisecond

// begin runs a function in a goroutine that Close waits for. It returns headStart after the function has called begins, or when the function or ctx has ended.
func (s *Session) begin(ctx context.Context, run func(begins func())) {
	began, ended := make(chan struct{}), make(chan struct{})
	begins := sync.OnceFunc(func() { close(began) })
	if !s.spawn(func() { defer close(ended); run(begins) }) {
		return
	}
	select {
	case <-began:
	case <-ended:
		return
	case <-ctx.Done():
		return
	}
	timer := time.NewTimer(headStart)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ended:
	case <-ctx.Done():
	}
}

// spawnInTurn is spawn for a function that calls the handler of a question. It is called headStart after the one before, or when that has returned.
func (s *Session) spawnInTurn(run func()) bool {
	mine := make(chan struct{})
	next := sync.OnceFunc(func() { close(mine) })
	s.mu.Lock()
	before := s.turn
	s.turn = mine
	s.mu.Unlock()
	spawned := s.spawn(func() {
		defer next()
		if before != nil {
			<-before
		}
		defer time.AfterFunc(headStart, next).Stop()
		run()
	})
	if !spawned {
		next()
	}
	return spawned
}

// add adds a reply. If replies are not sent any more, the host is told.
func (r *replies) add(one reply) {
	r.mu.Lock()
	over := r.over
	if over == nil {
		r.got = append(r.got, one)
	}
	r.mu.Unlock()
	if over != nil {
		r.s.dropReply(one, over)
		return
	}
	select {
	case r.added <- struct{}{}:
	default:
	}
}

// await waits for n replies, or until they are not to be sent, because one has an error or ctx has ended. over gets that error or nil. Then the host is told
// of replies that are not sent.
func (r *replies) await(ctx context.Context, n int, over chan<- error) {
	for {
		select {
		case <-r.added:
		case <-ctx.Done():
		}
		r.mu.Lock()
		got, err := r.got, firstError(r.got)
		if ctx.Err() != nil {
			err = causeOf(ctx)
		}
		r.over = err
		r.mu.Unlock()
		if err == nil && len(got) < n {
			continue
		}
		over <- err
		if err != nil {
			for _, one := range got {
				r.s.dropReply(one, err)
			}
		}
		return
	}
}

func firstError(all []reply) error {
	for _, one := range all {
		if one.err != nil {
			return one.err
		}
	}
	return nil
}

// dropReply tells the host that an answer is not sent, and why. A question that stays open because its handler has failed is told to Handlers.LeftOpen.
func (s *Session) dropReply(r reply, why error) {
	if r.err == nil || r.asked && !s.onlyResumed(r.q.Task) {
		s.tellAnswered(r.q, cmp.Or(r.err, why))
	}
}

// answerInput answers one question of a result or task. begins is called before the handler. If ctx ends before the handler returns, Handlers.QuestionGone
// is called: Close waits for that, because it waits for the goroutine of this call.
func (s *Session) answerInput(ctx context.Context, d *wire.Dialect, asked inputRequest, task string, begins func()) reply {
	q, op, err := s.inputQuestion(d, asked, task)
	if err != nil {
		return reply{key: asked.key, q: q, err: err}
	}
	tellsEnd := s.tellEnd(ctx, q, func() {})
	begins()
	result, err := s.handle(ctx, d, op, q)
	tellsEnd()
	return reply{asked.key, q, result, err, true}
}

// tellEnd has Handlers.QuestionGone called if ctx ends before stop is called; stop waits until it has returned. before is called first.
func (s *Session) tellEnd(ctx context.Context, q *Question, before func()) (stop func()) {
	told := make(chan struct{})
	tell := func() {
		defer close(told)
		before()
		s.questionGone(q, causeOf(ctx))
	}
	forget := context.AfterFunc(ctx, tell)
	return func() {
		switch {
		case !forget():
			<-told
		case ctx.Err() != nil: // the handler saw the end of ctx first
			tell()
		}
	}
}
