package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"sync"

	"github.com/mcpkiln/mcpkiln/runtime/check"
)

// Handler is a tool's code behind its decoder and encoder. Bind makes one.
//
// Generic code is compiled again for each tool, which was nearly all of the time that a thousand tools take to build. So here it only
// gives values their types, and all other code takes them as any. They are pointers, so nothing is allocated for that.
type Handler struct {
	// read decodes arguments into a new *In.
	read func(d *check.Decoder) any
	// call runs the tool; its output is a *Out, or nil.
	call func(ctx context.Context, call *Call, in any) (any, error)
	// hidden are the properties whose values stay out of logs and violations, see sensitive.
	hidden string
	// validate validates what read returned, JSON, by a schema that is not generated; nil: read did.
	validate func(arguments []byte) check.Violations
	// in and out are nil pointers of the types that call takes and returns, for middleware.
	in, out any
	codec
}

// Codec turns a handler's output into a tool result. Structured and Unstructured make one.
type Codec[Out any] struct{ codec }

// codec is a Codec of any output.
type codec struct {
	appendTo func(b []byte, out any) []byte
	// decode reads an output to check it; nil: the output is the protocol's own result, not structured content.
	decode func(d *check.Decoder, out any)
	// spare holds values for decode to write to while an output is checked; they are never read.
	spare *sync.Pool
	// clear forgets what decode wrote.
	clear   func(out any)
	answers *expected
}

// Structured is the codec of a tool with an outputSchema: outputs are checked by decode before they are sent (VAL01).
//
//go:noinline
func Structured[Out any](appendTo func(b []byte, out *Out) []byte, decode func(d *check.Decoder, out *Out)) Codec[Out] {
	return Codec[Out]{codec{
		appendTo: func(b []byte, out any) []byte { return appendTo(b, out.(*Out)) },
		decode:   func(d *check.Decoder, out any) { decode(d, out.(*Out)) },
		spare:    &sync.Pool{New: func() any { return new(Out) }},
		clear:    func(out any) { *out.(*Out) = *new(Out) },
		answers:  new(expected),
	}}
}

// Unstructured is the codec of a tool that returns the protocol's own result type.
//
//go:noinline
func Unstructured[Out any](appendTo func(b []byte, out *Out) []byte) Codec[Out] {
	return Codec[Out]{codec{
		appendTo: func(b []byte, out any) []byte { return appendTo(b, out.(*Out)) },
		answers:  new(expected),
	}}
}

// Bind joins a handler with its decoder and codec. Input that decode refuses never reaches fn. Inlined, it would be compiled
// twice for each tool.
//
//go:noinline
func Bind[In, Out any](decode func(d *check.Decoder, in *In), fn func(ctx context.Context, call *Call, in *In) (*Out, error), codec Codec[Out]) Handler {
	return Handler{
		codec: codec.codec, in: (*In)(nil), out: (*Out)(nil),
		read: func(d *check.Decoder) any {
			in := new(In)
			decode(d, in)
			return in
		},
		call: func(ctx context.Context, call *Call, in any) (any, error) {
			out, err := fn(ctx, call, in.(*In))
			if out == nil {
				return nil, err
			}
			return out, err
		},
	}
}

// check reads args without running anything (TSK24).
func (h *Handler) check(args []byte, limits check.Limits, account check.Account) error {
	_, err := h.input(check.Get(args, limits), account)
	return err
}

// input ends with d. The account pays for the input.
func (h *Handler) input(d *check.Decoder, account check.Account) (any, error) {
	d.Charge(account)
	d.Hide(h.hidden)
	in := h.read(d)
	err := d.FinishAfter(func(d *check.Decoder) { h.read(d) })
	d.Put()
	if err == nil && h.validate != nil {
		if wrong := h.validate(*in.(*json.RawMessage)); len(wrong) > 0 {
			err = wrong.Hidden(h.hidden)
		}
	}
	return in, err
}

// run appends the tool's encoded output to b.
func (h *Handler) run(ctx context.Context, call *Call, args, b []byte) ([]byte, error) {
	d := check.GetScanned
	if call.r.repeated {
		d = check.Get
	}
	var in any
	err := call.r.takeInput(func() (err error) {
		in, err = h.input(d(args, call.s.cfg.limits), (*callAccount)(call))
		return err
	})
	if err != nil {
		return b, invalidInput(err)
	}
	out, err := h.handle(ctx, call, in)
	if err != nil {
		if out != nil && errors.Is(err, context.Canceled) {
			call.partial(out, err, h.hidden != "")
		}
		return b, err
	}
	b, err = h.encode(call, out, b, h.hidden)
	call.encoded(len(b))
	return b, err
}

// takeInput has decode take params or arguments. When half of the budget is used, one input at a time goes on to take more: if all did, all
// could be refused for what the others took in part. What was taken for input that is refused is given back at once, whether or not the
// client reads why.
func (r *request) takeInput(decode func() error) error {
	held := r.countedBytes
	r.decodes = true
	err := decode()
	r.decodes = false
	if n := r.countedBytes - held; err != nil && n > 0 {
		r.uncountBytes(n)
	}
	if r.turn {
		r.endTurn()
	}
	return err
}

// handle runs the handler, in one of the tool's slots, when its answer would fit into the budgets.
func (h *Handler) handle(ctx context.Context, call *Call, in any) (out any, err error) {
	if slots := call.tool.slots; slots != nil {
		if call.slot, err = slots.enter(ctx, call); err != nil {
			return nil, err
		}
		defer call.slot.leave()
	}
	err = call.handle(ctx, h.answers, func() (err error) {
		if call.slot != nil {
			defer call.slot.leave() // encoding may wait for those who read
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

// returned is the error of a handler. A nil pointer in it is a defect of the handler: it is not a nil error, and has no text.
func (c *Call) returned(err error) error {
	if err == nil {
		return nil
	}
	if v := reflect.ValueOf(err); v.Kind() == reflect.Pointer && v.IsNil() {
		return defect(fmt.Errorf("the handler returned a nil %T as its error: return nil", err), c.Log())
	}
	return err
}

func (c *codec) encode(call *Call, out any, b []byte, hidden string) ([]byte, error) {
	switch {
	case out == nil && c.decode == nil:
		return b, nil
	case out == nil:
		return b, &outputError{errNoOutput}
	}
	if n := call.r.reservation.likely; n > 0 {
		b = growLarge(b, int(n))
	}
	if own := call.revision.AppendOutput; own != nil && c.decode == nil {
		b = own(b, out)
	} else {
		b = c.appendTo(b, out)
	}
	if c.decode == nil {
		return b, nil
	}
	d, read := check.Get(b, call.s.cfg.limits), c.spare.Get()
	if !call.discardsResult {
		d.Charge(&call.r.reservation)
	}
	d.Hide(hidden)
	d.Discard()
	c.decode(d, read)
	err := d.Finish()
	d.Put()
	if err != nil {
		return b, &outputError{err}
	}
	c.clear(read)
	c.spare.Put(read)
	return b, nil
}

// inputError is an argument that breaks the tool's inputSchema: the model reads it (VAL02).
type inputError struct{ err error }

func (e *inputError) Error() string { return "invalid arguments:\n" + e.err.Error() }
func (e *inputError) Unwrap() error { return e.err }

// outputError is an output that breaks the tool's outputSchema: a defect of the server, for its log (VAL01).
type outputError struct{ err error }

func (e *outputError) Error() string { return "invalid output: " + e.err.Error() }
func (e *outputError) Unwrap() error { return e.err }

// contentError is content or metadata that the handler added and no client may get (LET01).
type contentError struct{ error }

var errNoOutput = errors.New("the handler returned neither output nor error")

// message is what the client reads after "the tool's output". Output beyond a limit need not break the schema.
func (e *outputError) message() string {
	if limit := (*check.LimitError)(nil); errors.As(e.err, &limit) {
		return "can not be sent: it is " + limit.Error()
	}
	if errors.Is(e.err, errNoOutput) {
		return "is missing: it gave no result"
	}
	if wrong := (*contentError)(nil); errors.As(e.err, &wrong) {
		return "can not be sent: what was added to it breaks a rule of the protocol"
	}
	return "breaks its own schema"
}
