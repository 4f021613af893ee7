package server

import (
	"context"
	"errors"
	"sync"

	"github.com/mcpkiln/mcpkiln/runtime/check"
)

// Handler is a tool's code behind its decoder and encoder. Bind makes one.
type Handler struct {
	// check reads args without running anything (TSK24).
	check func(args []byte, limits check.Limits) error
	// run appends the tool's encoded output to b.
	run func(ctx context.Context, call *Call, args, b []byte) ([]byte, error)
	// whole: the output is the protocol's own result, not structured content.
	whole bool
}

// Codec turns a handler's output into a tool result. Structured and Unstructured make one.
type Codec[Out any] struct {
	appendTo func(b []byte, out *Out) []byte
	decode   func(d *check.Decoder, out *Out)
	// spare holds values for decode to write to while an output is checked; they are never read.
	spare *sync.Pool
}

// Structured is the codec of a tool with an outputSchema: outputs are checked by decode before they are sent (VAL01).
func Structured[Out any](appendTo func(b []byte, out *Out) []byte, decode func(d *check.Decoder, out *Out)) Codec[Out] {
	return Codec[Out]{appendTo: appendTo, decode: decode, spare: &sync.Pool{New: func() any { return new(Out) }}}
}

// Unstructured is the codec of a tool that returns the protocol's own result type.
func Unstructured[Out any](appendTo func(b []byte, out *Out) []byte) Codec[Out] {
	return Codec[Out]{appendTo: appendTo}
}

// Bind joins a handler with its decoder and codec. Input that decode refuses never reaches fn.
func Bind[In, Out any](decode func(d *check.Decoder, in *In), fn func(ctx context.Context, call *Call, in *In) (*Out, error), codec Codec[Out]) Handler {
	return Handler{
		whole: codec.decode == nil,
		check: func(args []byte, limits check.Limits) error { return check.Check(args, limits, decode) },
		run: func(ctx context.Context, call *Call, args, b []byte) ([]byte, error) {
			in := new(In)
			if err := check.DecodeScanned(args, call.s.cfg.limits, decode, in); err != nil {
				return b, &inputError{err}
			}
			out, err := fn(ctx, call, in)
			if err != nil {
				if out != nil && errors.Is(err, context.Canceled) {
					call.partial(out, err)
				}
				return b, err
			}
			return codec.encode(call, out, b)
		},
	}
}

func (c Codec[Out]) encode(call *Call, out *Out, b []byte) ([]byte, error) {
	if out == nil {
		return b, &outputError{errors.New("the handler returned neither output nor error")}
	}
	b = c.appendTo(b, out)
	if c.decode == nil {
		return b, nil
	}
	read := c.spare.Get().(*Out)
	if err := check.Decode(b, call.s.cfg.limits, c.decode, read); err != nil {
		return b, &outputError{err}
	}
	*read = *new(Out)
	c.spare.Put(read)
	return b, nil
}

// inputError is an argument that breaks the tool's inputSchema: the model is told (VAL02).
type inputError struct{ err error }

func (e *inputError) Error() string { return "invalid arguments:\n" + e.err.Error() }
func (e *inputError) Unwrap() error { return e.err }

// outputError is an output that breaks the tool's outputSchema: a defect of the server, for its log (VAL01).
type outputError struct{ err error }

func (e *outputError) Error() string { return "invalid output: " + e.err.Error() }
func (e *outputError) Unwrap() error { return e.err }
