package server

import (
	"context"
	"runtime"
	"sync/atomic"
	"time"
)

// reservation is what one answer takes of the budgets (budget.go), from before its handler begins until the answer is written. How large the
// answer gets is known when it is encoded: until then it counts as those before it (expected).
type reservation struct {
	s         *Server
	p         *peer    // nil: for a task's result, which waits for no peer
	account   *account // whose answer it is
	expected  *expected
	counts    bool        // the answer counts in the budgets
	held      int64       // of Server.unread
	estimated int64       // of Server.coming, until the output is encoded
	encoding  bool        // it is one of those that Server.encoding bounds
	likely    int64       // bytes that the output which is encoded will have, if those before were large
	probe     *time.Timer // of a handler of which nothing is known, while it has a slot of Server.probes: when the slot is given back early
	firstRun  *expected   // of the first run of a handler, which needs no slot: that handler's
}

// smallAnswer is the size, in bytes, up to which answers are not counted: the number of requests bounds those.
const smallAnswer = 4 << 10

// share is the share of Server.unread that the answer counts in.
func (r *reservation) share() *share {
	if r.p.exchange {
		return &r.account.unread
	}
	return &r.p.unread
}

// reserve takes bytes for an answer of n bytes before it is encoded.
func (r *reservation) reserve(ctx context.Context, n int64) error {
	r.counts = true
	if r.p == nil || n <= max(r.held, smallAnswer) {
		return nil
	}
	held := r.held
	r.held = 0
	if err := r.s.unread.swap(ctx, r.share(), held, n); err != nil {
		return err
	}
	r.held = n
	return nil
}

func (r *reservation) giveBack() {
	if r.held > 0 {
		r.s.unread.change(r.share(), -r.held)
		r.held = 0
	}
}

// list reserves an answer with a list. x knows how large the last ones were.
func (r *reservation) list(ctx context.Context, x *expected) error {
	r.expected = x
	return r.reserve(ctx, r.size(x))
}

// countAnswer counts an answer of n bytes that is about to be written, and gives back what it does not need. One that is much larger than
// expected may have to wait.
func (r *reservation) countAnswer(ctx context.Context, n int) {
	size := int64(n)
	if x := r.expected; x != nil && !x.small(n) {
		r.s.sizes.learn(x, r.account.who, n)
	}
	switch {
	case !r.counts:
	case size <= smallAnswer || r.p == nil:
		r.free()
	case size <= r.held+r.held/8:
		r.s.unread.change(r.share(), size-r.held)
		r.held = size
	default:
		r.s.coming.change(&r.account.coming, size)
		_ = r.reserve(ctx, size) // after an error nobody gets it
		r.s.coming.change(&r.account.coming, -size)
	}
}

// free gives back what is left.
func (r *reservation) free() {
	r.encoded()
	r.giveBack()
	r.expected, r.counts = nil, false
}

// handle runs a handler when its answer would fit, and reserves what it returned (TSK28). x knows how large its last answers were: if
// they were small, it waits for nobody.
func (c *Call) handle(ctx context.Context, x *expected, run func() error) error {
	if c.discardsResult {
		return run()
	}
	r := &c.r.reservation
	r.expected, r.counts = x, true
	for {
		n := r.size(x)
		if n > largeOutput {
			return r.handleLarge(ctx, n, run)
		}
		if err := r.wait(ctx, n); err != nil {
			return err
		}
		if x.last.load() == 0 {
			if err := r.startProbe(ctx, x); err != nil {
				return err
			}
			if x.last.load() != 0 { // it is known meanwhile
				r.endProbe()
				continue
			}
		}
		if err := run(); err != nil {
			r.endProbe()
			return err
		}
		return r.awaitEncoding(ctx)
	}
}

// startProbe takes a slot for the run of a handler of which nothing is known, until its output is encoded: if many began before the first is, all
// of their outputs could be in memory. The first run of each needs no slot.
func (r *reservation) startProbe(ctx context.Context, x *expected) error {
	if x.probed.CompareAndSwap(false, true) {
		r.firstRun = x
		return nil
	}
	slots := &r.s.probes
	if err := slots.enter(ctx); err != nil {
		return err
	}
	r.probe = time.AfterFunc(lendProbe, func() { slots.add(2) })
	return nil
}

// endProbe gives the slot back, or takes the one more away that there was since it was given back early.
func (r *reservation) endProbe() {
	if r.firstRun != nil {
		r.firstRun.probed.Store(false)
		r.firstRun = nil
	}
	if r.probe == nil {
		return
	}
	if r.probe.Stop() {
		r.s.probes.add(1)
	} else {
		r.s.probes.add(-1)
	}
	r.probe = nil
}

// returned notes how large an answer will be, as soon as its handler has returned.
func (r *reservation) returned(n int) {
	if n > largeOutput && r.expected != nil {
		r.s.sizes.learn(r.expected, r.account.who, n)
	}
}

// wait returns when an answer of n bytes would fit. Handlers start after it: what they return would wait in memory.
func (r *reservation) wait(ctx context.Context, n int64) error {
	if coming := &r.account.coming; coming.held.Load() > 0 {
		if err := r.s.coming.await(ctx, coming, 0); err != nil { // others came larger than expected
			return err
		}
	}
	if n == 0 || r.p == nil {
		return nil
	}
	return r.s.unread.await(ctx, r.share(), n)
}

// handleLarge runs a handler that is expected to return n bytes, as soon as they fit. One that takes long leaves
// them to others meanwhile.
func (r *reservation) handleLarge(ctx context.Context, n int64, run func() error) error {
	b, own, counted := &r.s.unread, (*share)(nil), &r.held // the budget, its share, and the field that says what r holds of it
	if r.p == nil {
		b, own, counted = &r.s.coming, &r.account.coming, &r.estimated
	} else {
		own = r.share()
	}
	if err := b.takeToBegin(ctx, own, n); err != nil {
		return err
	}
	free := func() { b.change(own, -n) } // r is used again while a timer may still call it
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

// awaitEncoding returns when an output may be encoded: not many are at once, so that it is known of the next ones how large they get.
func (r *reservation) awaitEncoding(ctx context.Context) error {
	for {
		if err := r.enter(ctx); err != nil {
			return err
		}
		n := r.size(r.expected)
		if r.p == nil || n <= max(r.held, smallAnswer) {
			r.likely = min(n, int64(r.expected.outputs.load()))
			return nil
		}
		r.leave()
		if err := r.reserve(ctx, n); err != nil {
			return err
		}
	}
}

// enter takes one of the slots of Server.encoding. Most of the time one is free.
func (r *reservation) enter(ctx context.Context) error {
	select {
	case r.s.encoding <- struct{}{}:
	default:
		select {
		case r.s.encoding <- struct{}{}:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	r.encoding = true
	return nil
}

// leave gives the slot back.
func (r *reservation) leave() {
	if r.encoding {
		r.encoding = false
		<-r.s.encoding
	}
}

// encoded ends what handle began: the output is encoded, and has n bytes.
func (c *Call) encoded(n int) {
	if c.discardsResult {
		return
	}
	r := &c.r.reservation
	if x := r.expected; !x.small(n) {
		r.s.sizes.learn(x, r.account.who, n)
		x.outputs.learn(n)
	}
	r.encoded()
}

func (r *reservation) encoded() {
	r.endProbe()
	r.leave()
	if r.estimated > 0 {
		r.s.coming.change(&r.account.coming, -r.estimated)
		r.estimated = 0
	}
}

// expected is how many bytes the answers of a handler have lately. What is known of a caller counts for that one: neither do the large
// answers of one make the small ones of others wait, nor the small ones of others let many large ones begin (TSK28).
type expected struct {
	last    sizeEstimate // of all callers: what is expected of one of whom nothing is known
	known   atomic.Int64 // how many callers have an entry in sizeCache
	probed  atomic.Bool  // nothing is known yet, and a run is to show it
	outputs sizeEstimate // of all callers, without what an answer has beside the output: a tool's has it twice, as text, too
}

// small reports whether all answers were small lately, and one of n bytes is. Then there is nothing to look up and nothing to learn.
func (x *expected) small(n int) bool {
	return n <= smallAnswer && x.last.load() == 1 && x.known.Load() == 0
}

// size is how many bytes to count for the next answer to the caller.
func (r *reservation) size(x *expected) int64 {
	if x.small(0) {
		return 0
	}
	return r.s.sizes.size(x, r.account.who)
}

// sizeEstimate is a decaying maximum of the sizes of answers; 1: small, 0: unknown.
type sizeEstimate int64

// size is what to count for the next answer. One of which nothing is known may be large: else many would start before the first is
// encoded.
func (e sizeEstimate) size() int64 {
	switch e {
	case 0:
		return largeOutput
	case 1:
		return 0
	default:
		return int64(e)
	}
}

// after is the estimate after one more answer, of n bytes.
func (e sizeEstimate) after(n int) sizeEstimate {
	size := max(sizeEstimate(n), e-e/8)
	if size <= smallAnswer {
		size = 1
	}
	return size
}

func (e *sizeEstimate) load() sizeEstimate { return sizeEstimate(atomic.LoadInt64((*int64)(e))) }

// learn takes note of an output or answer of n bytes.
func (e *sizeEstimate) learn(n int) sizeEstimate {
	last := e.load()
	size := last.after(n)
	if size != last {
		atomic.StoreInt64((*int64)(e), int64(size))
	}
	return size
}

// encoders is how many outputs of handlers are encoded at once: enough to keep the processors busy.
func encoders() int { return max(4, 2*runtime.GOMAXPROCS(0)) }

// largeOutput is beyond how many bytes an output is large. What handlers return can not be refused, so those of large outputs have
// reserved it before they start (TSK28).
const largeOutput = 256 << 10

// lendAfter is how long a handler of large outputs keeps what it reserved while it runs: many such handlers may wait for
// something else.
const lendAfter = 2 * time.Second
