package client

import (
	"context"
	"io"
	"sync/atomic"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/inflight"
	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

// resultRequest is the open request for the result of a task. It has no timeout, and can be repeated.
type resultRequest struct {
	by      *following
	call    *call
	began   time.Time
	last    atomic.Int64 // when something of its response was read last, in nanoseconds after began
	lost    atomic.Bool  // its stream was lost, and perhaps resumed
	persons atomic.Int32 // how many are being asked before it can be sent, see Asking
	repeat  context.CancelCauseFunc
}

// askPerson notes that a person is asked before the request can be sent, until answered is called: the request is not repeated meanwhile, and the time counts
// in none (CAN28). r is nil for other requests, and askPerson does nothing then.
func (r *resultRequest) askPerson() (answered func()) {
	if r == nil {
		return func() {}
	}
	r.persons.Add(1)
	return func() {
		r.hear()
		r.by.mu.Lock()
		r.by.again = time.Now()
		r.by.mu.Unlock()
		r.persons.Add(-1)
	}
}

// lose notes that the stream of the request was lost. r is nil for other requests, and lose does nothing then.
func (r *resultRequest) lose() {
	if r != nil {
		r.lost.Store(true)
	}
}

// hear notes that something of the response was read. r is nil for other requests, and hear does nothing then.
func (r *resultRequest) hear() {
	if r != nil {
		r.last.Store(int64(time.Since(r.began)))
	}
}

// hearing returns body such that hear is called for what is read of it.
func (r *resultRequest) hearing(body io.Reader) io.Reader {
	if r == nil {
		return body
	}
	return &heardReader{body, r}
}

type heardReader struct {
	io.Reader
	of *resultRequest
}

// Read implements io.Reader.
func (h *heardReader) Read(b []byte) (int, error) {
	n, err := h.Reader.Read(b)
	h.of.hear()
	return n, err
}

// asks reports whether a person is being asked: before the request can be sent, or by a question that came on its stream.
func (r *resultRequest) asks() bool {
	if r.persons.Load() > 0 {
		return true
	}
	r.call.mu.Lock()
	defer r.call.mu.Unlock()
	return len(r.call.questions) > 0
}

// askResult sends the request for the result, and again as often as it is to be repeated.
func (w *following) askResult() (raw []byte, err error) {
	for repeated := true; repeated; {
		if raw, repeated, err = w.askResultOnce(); err == nil {
			break
		}
	}
	return raw, err
}

func (w *following) askResultOnce() (raw []byte, repeated bool, err error) {
	c, err := w.s.newCall(wire.OpTaskResult, []CallOption{Timeout(0, 0)})
	if err != nil {
		return nil, false, err
	}
	ctx, end := context.WithCancelCause(w.ctx)
	defer end(nil)
	c.result = &resultRequest{by: w, call: c, began: time.Now(), repeat: end}
	w.open(c.result)
	defer w.open(nil)
	_, raw, err = w.send(ctx, c, nil)
	if of := relatedTask(w.dialect, raw); of != "" && of != w.task {
		err = broken(c.op.Name, "it is the result of task %.80q, not of %q", of, w.task)
	}
	return raw, ctx.Err() != nil && w.ctx.Err() == nil, err
}

// open records which request for the result is open.
func (w *following) open(r *resultRequest) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.result = r
}

// firstPatience is how long a task that waits for input, or is over, may say nothing to the request for its result before that is repeated the first time.
const firstPatience = 5 * time.Second

// patience is how long the task may say nothing now: longer each time, but short enough for several repetitions within the time that the result may take.
func (w *following) patience() time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	first := firstPatience
	if most := w.s.cfg.timeout; most > 0 {
		first = min(first, most/8)
	}
	return backOff(first, min(w.repeated, maxMisses))
}

// repeatSilent repeats the request for the result of a task that waits for input, or is over, if nothing has come of it for a while and no question is open:
// its stream may be lost unnoticed, or be resumed at a server that takes the GET for a new listener. A stream that all messages come on can not be lost, and
// one that has brought a question may bring the next.
func (w *following) repeatSilent() {
	patience := w.patience()
	w.mu.Lock()
	r, asks, answered, over := w.result, w.stopped.openQuestions > 0, w.stopped.lastQuestion, terminal(w.state.Status)
	w.mu.Unlock()
	if r == nil || asks || w.s.link.shared() || r.asks() {
		return
	}
	heard := r.began.Add(time.Duration(r.last.Load()))
	quiet := min(time.Since(heard), time.Since(answered))
	if brought := !answered.Before(r.began); brought && !over && !r.lost.Load() || quiet < patience || !w.repeats(r) {
		return
	}
	w.s.cfg.logger.Debug("the request for the result of a task is repeated", "task", w.task, "after", patience)
	r.repeat(&Cause{Source: inflight.SourceParent, Reason: "it is sent again, because nothing came"})
}

// repeats counts that the request is repeated, unless it is over.
func (w *following) repeats(r *resultRequest) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.result != r {
		return false
	}
	w.result = nil
	w.repeated++
	return true
}
