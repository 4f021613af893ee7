package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"sync/atomic"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/check"
	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

// execute runs the tool's handler and makes the protocol's result of its output. An
// error is answered as a JSON-RPC error, a *fault in the revision's form; errors that the model should see are
// results. Parts of the result alias scratch of the call's request.
func (s *Server) execute(ctx context.Context, call *Call, args []byte) (wire.CallResult, error) {
	defer call.close()
	t, r := call.tool, call.r
	raw, err := t.Handler.run(ctx, call, args)
	more := call.takeAdded()
	switch {
	case err != nil:
		return s.failureWith(call, err, more)
	case !t.Handler.structured():
		return s.protocolResult(call, raw, more)
	case more != nil:
		return s.addTo(call, wire.CallResult{StructuredContent: raw}, more)
	case call.taskRun != nil, call.textIsLate(len(raw)):
		return wire.CallResult{StructuredContent: raw}, nil // its text block is made when it is read, or written
	}
	n := len(raw)
	r.scratch = appendTextOf(raw, raw)
	return wire.CallResult{StructuredContent: r.scratch[:n:n], Content: r.scratch[n:]}, nil
}

// textIsLate reports whether the text block of an output of n bytes is made in the answer itself, so that there is no other copy of a large one.
func (c *Call) textIsLate(n int) bool { return c.taskRun == nil && n > smallAnswer }

// run returns the tool's encoded output, in scratch of the call's request.
func (h *Handler) run(ctx context.Context, call *Call, args []byte) ([]byte, error) {
	newDecoder, r := check.GetScanned, call.r
	if r.repeatedKey { // decoding has to find the repeated key: nothing is skipped unread
		newDecoder = check.Get
	}
	var in any
	err := r.takeInput(func() (err error) {
		in, err = h.input(newDecoder(args, call.s.cfg.limits), (*callAccount)(call))
		return err
	})
	if err != nil {
		return nil, invalidInput(err)
	}
	out, err := h.runLending(ctx, call, in)
	if err != nil {
		if out != nil && errors.Is(err, context.Canceled) {
			call.reportPartial(out, err, h.hidden != "")
		}
		return nil, err
	}
	r.scratch, err = h.encode(call, out, r.scratch[:0], h.hidden)
	call.encoded(len(r.scratch))
	return r.scratch, err
}

// runLending runs the handler. Meanwhile it lends the body to other requests (lendBody), except that of an inline call of a revision without a handshake:
// there the handler may need the body, which says who the client is and what its questions are bound to.
func (h *Handler) runLending(ctx context.Context, call *Call, in any) (any, error) {
	if r := call.r; call.taskRun != nil || call.revision.Handshake {
		r.lendBody()
		defer r.takeBody()
	}
	return h.runInSlot(ctx, call, in)
}

// takeInput calls decode, which counts the bytes that params or arguments decode to. When half of Server.bytes is used, one input at a time
// goes on to count more: if all did, all could be refused for what the others have counted in part. What was counted for refused input is
// given back at once, whether or not the client reads the refusal.
func (r *request) takeInput(decode func() error) error {
	held := r.countedBytes
	r.decoding = true
	err := decode()
	r.decoding = false
	if n := r.countedBytes - held; err != nil && n > 0 {
		r.uncountBytes(n)
	}
	if r.holdsDecoding {
		r.unlockDecoding()
	}
	return err
}

// input decodes the input with d, which goes back to its pool. The input counts in account.
func (h *Handler) input(d *check.Decoder, account check.Account) (any, error) {
	d.Charge(account)
	d.Hide(h.hidden)
	in := h.read(d)
	err := d.FinishAfter(func(d *check.Decoder) { h.read(d) }) // invalid input is read again in canonical form, see FinishAfter
	d.Put()
	if err == nil && h.validate != nil {
		if wrong := h.validate(*in.(*json.RawMessage)); len(wrong) > 0 {
			err = wrong.Hidden(h.hidden)
		}
	}
	return in, err
}

// runInSlot runs the handler, in one of the tool's slots, when its answer would fit into the budgets.
func (h *Handler) runInSlot(ctx context.Context, call *Call, in any) (out any, err error) {
	if slots := call.tool.slots; slots != nil {
		if call.slot, err = slots.enter(ctx, call); err != nil {
			return nil, err
		}
		defer call.slot.leave()
	}
	err = call.runWithinBudgets(ctx, h.answers, func() (err error) {
		if call.slot != nil {
			defer call.slot.leave() // encoding may wait for slow readers; a second leave does nothing
		}
		if call.s.toolMiddleware != nil {
			out, err = call.s.runAround(ctx, call, in)
		} else {
			out, err = h.call(ctx, call, in)
		}
		return call.returned(err)
	})
	return out, err
}

// runWithinBudgets runs a handler when its answer would fit, and reserves bytes for it (TSK28). x estimates the answer's size; a small one
// does not wait.
func (c *Call) runWithinBudgets(ctx context.Context, x *answerSizes, run func() error) error {
	if c.discardsResult {
		return run()
	}
	r := &c.r.reservation
	r.sizes, r.counts = x, true
	for {
		n := r.size(x)
		if n > largeOutput {
			return r.handleLarge(ctx, n, run)
		}
		if err := r.awaitFit(ctx, n); err != nil {
			return err
		}
		if x.overall.load() == 0 {
			if err := r.startProbe(ctx, x); err != nil {
				return err
			}
			if x.overall.load() != 0 { // another run has shown the size meanwhile
				r.endProbe()
				continue
			}
		} else if r.size(x) > n { // another has answered since, and showed more
			continue
		}
		if err := run(); err != nil {
			r.endProbe()
			return err
		}
		return r.awaitEncoding(ctx)
	}
}

// awaitFit returns when an answer of n bytes would fit. Handlers start after it: otherwise their output would wait in memory.
func (r *reservation) awaitFit(ctx context.Context, n int64) error {
	if coming := &r.account.coming; coming.held.Load() > 0 {
		if err := r.s.coming.await(ctx, coming, 0); err != nil { // other answers of the caller are larger than expected
			return err
		}
	}
	if n == 0 || r.p == nil {
		return nil
	}
	return r.s.unread.await(ctx, r.share(), n)
}

// startProbe takes a slot for the run of a handler whose output size is unknown, until the output is encoded: if many runs began before the first output
// is encoded, all of their outputs could be in memory. The first run of each handler needs no slot.
func (r *reservation) startProbe(ctx context.Context, x *answerSizes) error {
	if x.probed.CompareAndSwap(false, true) {
		r.firstRun = true
		return nil
	}
	slots := &r.s.probes
	if err := slots.enter(ctx, r.account); err != nil {
		return err
	}
	r.probeTimer.Store(time.AfterFunc(lendProbe, func() { slots.add(2) })) // its own slot and one more, which endProbe removes
	return nil
}

// returned checks the error of a handler. A nil pointer as an error is a defect of the handler: it is not a nil error, and has no text.
func (c *Call) returned(err error) error {
	if err == nil {
		return nil
	}
	if v := reflect.ValueOf(err); v.Kind() == reflect.Pointer && v.IsNil() {
		return defect(fmt.Errorf("the handler returned a nil %T as its error: return nil", err), c.Log())
	}
	if toolErr, ok := errors.AsType[*ToolError](err); ok && toolErr != nil {
		c.r.noteReaders(toolErr.Content)
	}
	return err
}

// awaitEncoding returns when an output may be encoded: few are encoded at once, so that their sizes are known before others begin.
func (r *reservation) awaitEncoding(ctx context.Context) error {
	for {
		if err := r.enter(ctx); err != nil {
			return err
		}
		n := r.size(r.sizes)
		if r.p == nil || n <= max(r.unread, smallAnswer) { // r.unread bytes of Server.unread are reserved
			r.outputSize = min(n, int64(r.sizes.outputs.load()))
			return nil
		}
		r.leave()
		if err := r.reserve(ctx, n); err != nil {
			return err
		}
	}
}

// enter takes one of the slots of Server.encoding.
func (r *reservation) enter(ctx context.Context) error {
	err := r.s.encoding.enter(ctx)
	r.encoding = err == nil
	return err
}

// encode appends the output, and validates what it wrote (VAL01).
func (c *codec) encode(call *Call, out any, b []byte, hidden string) ([]byte, error) {
	switch {
	case out == nil && !c.structured():
		return b, nil
	case out == nil:
		return b, &outputError{errNoOutput}
	}
	if n := call.r.reservation.outputSize; n > 0 {
		b = call.s.large.grow(b, int(n))
	}
	if appendOutput := call.revision.AppendOutput; appendOutput != nil && !c.structured() {
		b = appendOutput(b, out)
	} else {
		b = c.appendTo(b, out)
	}
	if !c.structured() {
		return b, nil
	}
	return b, c.validateWritten(call, b, hidden)
}

// validateWritten validates an output that the codec has written, by decoding it into a value of c.spare. The decoder is kept in the request for
// writing the output's text.
func (c *codec) validateWritten(call *Call, output []byte, hidden string) error {
	d, decoded := check.Get(output, call.s.cfg.limits), c.spare.Get()
	if !call.discardsResult {
		d.Charge(&call.r.reservation)
	}
	d.Hide(hidden)
	d.Discard()
	late := call.textIsLate(len(output))
	if late {
		d.MarkEscapes()
	}
	c.decode(d, decoded)
	err := d.Finish()
	if err == nil && c.validateOutput != nil {
		err = c.validateOutput(output)
	}
	if late && err == nil {
		call.r.output = d
	} else {
		d.Put()
	}
	if err != nil {
		return &outputError{err}
	}
	c.clear(decoded)
	c.spare.Put(decoded)
	return nil
}

// encoded ends what runWithinBudgets began: the output is encoded, and has n bytes.
func (c *Call) encoded(n int) {
	if c.discardsResult {
		return
	}
	r := &c.r.reservation
	if x := r.sizes; !x.small(n) {
		r.s.sizeCache.learn(x, r.account.who, n)
		x.outputs.learn(n)
	}
	r.encoded()
}

// answerSizes estimates the sizes of a handler's answers, in bytes, from the last ones. Each caller has an estimate of its own: the large answers of
// one do not make the small ones of others wait, and the small ones of others do not let many large ones begin (TSK28).
type answerSizes struct {
	overall sizeEstimate // of all callers: for those without an estimate of their own
	known   atomic.Int64 // how many callers have an entry in sizeCache
	probed  atomic.Bool  // nothing is known yet, and the first run has begun
	outputs sizeEstimate // of all callers, of the output alone: a tool's answer has it twice, also as text
}

// small reports whether all answers were small lately, and one of n bytes is small, too. Then there is nothing to look up and nothing to learn.
func (x *answerSizes) small(n int) bool {
	return n <= smallAnswer && x.overall.load() == 1 && x.known.Load() == 0
}

// size is how many bytes to count for the next answer to the caller.
func (r *reservation) size(x *answerSizes) int64 {
	if x.small(0) {
		return 0
	}
	return r.s.sizeCache.size(x, r.account.who)
}

// sizeEstimate is a decaying maximum of the sizes of answers; 1: small, 0: unknown.
type sizeEstimate int64

func (e *sizeEstimate) load() sizeEstimate { return sizeEstimate(atomic.LoadInt64((*int64)(e))) }
