package client

import (
	"context"
	"sync"

	"github.com/mcpkiln/mcpkiln/runtime/inflight"
)

// roundKey is the key of the *round in the context of its HTTP requests.
type roundKey struct{}

// Asking is for the http.Client of an Endpoint that has to ask a person before it can send a request, for example to log in. ctx is that of
// the HTTP request. The clocks of the call, and of calls that wait for the task which the request is about, are paused until done is called (CAN28),
// and the context that is returned ends with the call, or after the time of WithQuestionTimeout. ok is false for a message without a call that waits for
// it, such as a notification: no person is to be asked for that, and done need not be called.
func Asking(ctx context.Context) (asking context.Context, done func(), ok bool) {
	r, ok := ctx.Value(roundKey{}).(*round)
	if !ok {
		return ctx, func() {}, false
	}
	r.entry.Pause()
	answered, known := r.call.result.askPerson(), r.call.about.askPerson()
	own, cancel := context.WithCancelCause(context.Background()) // the deadline of the entry itself is that of a paused clock
	stop := context.AfterFunc(r.entry, func() { cancel(context.Cause(r.entry)) })
	asking, end := r.call.s.withQuestionTimeout(own)
	return asking, sync.OnceFunc(func() {
		end()
		stop()
		cancel(nil)
		answered()
		known()
		r.entry.Resume()
	}), true
}

// withQuestionTimeout returns a context that ends when the time of a question has passed.
func (s *Session) withQuestionTimeout(ctx context.Context) (context.Context, context.CancelFunc) {
	most := s.cfg.questionTimeout
	if most <= 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeoutCause(ctx, most, &Cause{Source: inflight.SourceTimeout, Reason: "a question was not answered within " + most.String()})
}
