package server

import (
	"context"
	"runtime"
	"sync/atomic"
	"time"
)

// reservation is what one answer takes of the budgets (budget.go), from before its handler begins until the answer is written. How large the
// answer gets is known when it is encoded: until then it counts with a size that is estimated from those before it (answerSizes).
type reservation struct {
	s          *Server
	p          *peer                      // nil: for a task's result, which waits for no peer
	account    *account                   // whose answer it is
	sizes      *answerSizes               // of the handler's answers; nil: they are not estimated
	counts     bool                       // the answer counts in the budgets
	encoding   bool                       // it has a slot of Server.encoding
	firstRun   bool                       // the run is the handler's first, which needs no slot of Server.probes
	unread     int64                      // of Server.unread
	coming     int64                      // of Server.coming, until the output is encoded
	outputSize int64                      // how many bytes the output is expected to have, if the last ones were large
	probeTimer atomic.Pointer[time.Timer] // while a probe has a slot of Server.probes: gives that back early
}

// smallAnswer is the size, in bytes, up to which answers are not counted: the number of requests bounds those.
const smallAnswer = 4 << 10

// share is the share of Server.unread that the answer counts in.
func (r *reservation) share() *share {
	if r.p.exchange {
		return &r.account.unread
	}
	own := r.p.unread.Load()
	if own == nil {
		r.p.unread.CompareAndSwap(nil, &share{of: &r.account.unread})
		own = r.p.unread.Load()
	}
	return own
}

// reserve takes bytes for an answer of n bytes before it is encoded.
func (r *reservation) reserve(ctx context.Context, n int64) error {
	r.counts = true
	if r.p == nil || n <= max(r.unread, smallAnswer) {
		return nil
	}
	held := r.unread
	r.unread = 0
	if err := r.s.unread.swap(ctx, r.share(), held, n); err != nil {
		return err
	}
	r.unread = n
	return nil
}

// assembling gives back the answer's bytes of Server.unread while it waits for a file: other answers that have files wait for those bytes. The n bytes
// that it has in memory count in Server.coming until done is called; what waits there has no files.
func (r *reservation) assembling(n int) (done func()) {
	r.giveBack()
	r.s.coming.change(&r.account.coming, int64(n))
	return func() { r.s.coming.change(&r.account.coming, -int64(n)) }
}

// giveBack gives back the bytes of Server.unread.
func (r *reservation) giveBack() {
	if r.unread > 0 {
		r.s.unread.change(r.share(), -r.unread)
		r.unread = 0
	}
}

// list reserves bytes for an answer with a list; x has the sizes of the last ones.
func (r *reservation) list(ctx context.Context, x *answerSizes) error {
	r.sizes = x
	return r.reserve(ctx, r.size(x))
}

// countAnswer counts an answer of n bytes that is about to be written, and gives back what it does not need. An answer that is much larger than
// expected may have to wait.
func (r *reservation) countAnswer(ctx context.Context, n int) {
	size := int64(n)
	if x := r.sizes; x != nil && !x.small(n) {
		r.s.sizeCache.learn(x, r.account.who, n)
	}
	switch {
	case !r.counts:
	case size <= smallAnswer || r.p == nil:
		r.free()
	case size <= r.unread+r.unread/8:
		r.s.unread.change(r.share(), size-r.unread)
		r.unread = size
	default:
		r.s.coming.change(&r.account.coming, size)
		_ = r.reserve(ctx, size) // after an error nobody gets the answer
		r.s.coming.change(&r.account.coming, -size)
	}
}

// free gives back all that the answer still holds.
func (r *reservation) free() {
	r.encoded()
	r.giveBack()
	r.sizes, r.counts = nil, false
}

// encoded gives back what counted until the output was encoded.
func (r *reservation) encoded() {
	r.endProbe()
	r.leave()
	if r.coming > 0 {
		r.s.coming.change(&r.account.coming, -r.coming)
		r.coming = 0
	}
}

// endProbe gives the probe's slot back or, if that was given back early, removes the slot that was added then.
func (r *reservation) endProbe() {
	if r.firstRun {
		r.firstRun = false
		r.sizes.probed.Store(false)
	}
	timer := r.probeTimer.Load()
	if timer == nil {
		return
	}
	r.probeTimer.Store(nil)
	if timer.Stop() {
		r.s.probes.add(1)
	} else {
		r.s.probes.add(-1)
	}
}

// lendProbe gives the probe's slot back early, as its timer would: a run that waits for a person makes no output.
func (r *reservation) lendProbe() {
	if timer := r.probeTimer.Load(); timer != nil && timer.Stop() {
		timer.Reset(0)
	}
}

// leave gives the slot of Server.encoding back.
func (r *reservation) leave() {
	if r.encoding {
		r.encoding = false
		r.s.encoding.leave()
	}
}

// returned notes how large an answer will be, as soon as its handler has returned.
func (r *reservation) returned(n int) {
	if n > largeOutput && r.sizes != nil {
		r.s.sizeCache.learn(r.sizes, r.account.who, n)
	}
}

// handleLarge runs a handler that is expected to return n bytes, as soon as they fit. If the handler takes longer than lendAfter, the bytes are given
// back until it has returned.
func (r *reservation) handleLarge(ctx context.Context, n int64, run func() error) error {
	b, own, counted := &r.s.unread, (*share)(nil), &r.unread // the budget, the caller's share, and the field that says what r holds of it
	if r.p == nil {
		b, own, counted = &r.s.coming, &r.account.coming, &r.coming
	} else {
		own = r.share()
	}
	if err := b.takeToBegin(ctx, own, n); err != nil {
		return err
	}
	free := func() { b.change(own, -n) } // r may be reused while a timer still calls it
	lend, returned := time.AfterFunc(lendAfter, free), false
	defer func() {
		if !returned && lend.Stop() {
			free()
		}
	}()
	if err := run(); err != nil {
		return err
	}
	returned = true
	if lend.Stop() {
		*counted += n
	}
	return r.awaitEncoding(ctx)
}

// lendAfter is how long a handler of large outputs keeps what it reserved while it runs: many such handlers may wait for
// something else.
const lendAfter = 2 * time.Second

// maxEncoders is how many outputs of handlers are encoded at once: enough to keep the processors busy.
func maxEncoders() int { return max(4, 2*runtime.GOMAXPROCS(0)) }

// largeOutput is the number of bytes beyond which an output is large. An output can not be refused when a handler returns it, so
// handlers of large outputs reserve their bytes before they start (TSK28).
const largeOutput = 256 << 10
