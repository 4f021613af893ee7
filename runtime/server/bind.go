package server

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/mcpkiln/mcpkiln/runtime/check"
)

// Handler is a tool's code behind its decoder and encoder. Bind makes one.
//
// Generic code is compiled again for each tool, which was nearly all of the time that a thousand tools take to build. So the generic
// code here only gives values their types, and all other code takes them as any: they are pointers, so the conversion allocates nothing.
type Handler struct {
	// read decodes arguments into a new *In.
	read func(d *check.Decoder) any
	// call runs the tool; its output is a *Out, or nil.
	call func(ctx context.Context, call *Call, in any) (any, error)
	// hidden names the properties whose values stay out of logs and violations (check.Sensitive).
	hidden string
	// validate validates the JSON that read returned, by a schema that is not generated; nil: read has validated it.
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
	// validateOutput validates an output of which decode knows only the type; nil: decode knows all.
	validateOutput func(output []byte) error
	// spare holds values that decode writes to while an output is checked; nothing reads them.
	spare *sync.Pool
	// clear resets a value of spare.
	clear   func(out any)
	answers *answerSizes
}

// structured reports whether the output is structured content, for which the tool has an outputSchema.
func (c *codec) structured() bool { return c.decode != nil }

// Structured is the codec of a tool with an outputSchema: outputs are checked by decode before they are sent (VAL01).
//
//go:noinline
func Structured[Out any](appendTo func(b []byte, out *Out) []byte, decode func(d *check.Decoder, out *Out)) Codec[Out] {
	return Codec[Out]{codec{
		appendTo: func(b []byte, out any) []byte { return appendTo(b, out.(*Out)) },
		decode:   func(d *check.Decoder, out any) { decode(d, out.(*Out)) },
		spare:    &sync.Pool{New: func() any { return new(Out) }},
		clear:    func(out any) { *out.(*Out) = *new(Out) },
		answers:  new(answerSizes),
	}}
}

// Unstructured is the codec of a tool that returns the protocol's own result type.
//
//go:noinline
func Unstructured[Out any](appendTo func(b []byte, out *Out) []byte) Codec[Out] {
	return Codec[Out]{codec{
		appendTo: func(b []byte, out any) []byte { return appendTo(b, out.(*Out)) },
		answers:  new(answerSizes),
	}}
}

// Bind joins a handler with its decoder and codec. Input that decode refuses never reaches fn. Inlined, Bind would be compiled
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

// check validates args without running the tool (TSK24).
func (h *Handler) check(args []byte, limits check.Limits, account check.Account) error {
	_, err := h.input(check.Get(args, limits), account)
	return err
}

// inputError says how arguments break the tool's inputSchema, for the model to read (VAL02).
type inputError struct{ err error }

func (e *inputError) Error() string { return "invalid arguments:\n" + e.err.Error() }
func (e *inputError) Unwrap() error { return e.err }

// outputError says how an output breaks the tool's outputSchema: a defect of the server, for its log (VAL01).
type outputError struct{ err error }

func (e *outputError) Error() string { return "invalid output: " + e.err.Error() }
func (e *outputError) Unwrap() error { return e.err }

// contentError is an error of content or metadata that the handler added (LET01).
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

// logged is what the log says. Only the author can follow its advice, so the client does not get it.
func (e *outputError) logged() error {
	limit := (*check.LimitError)(nil)
	if errors.As(e.err, &limit) && limit.Max > 0 && limit.Reason != check.NumberTooLarge {
		return fmt.Errorf("%w: give out less, or raise the limit with server.WithLimits", e.err)
	}
	return e.err
}
