package server

import (
	"context"
	"slices"

	"github.com/mcpkiln/mcpkiln/runtime/check"
	"github.com/mcpkiln/mcpkiln/runtime/wire/edit"
)

// MethodHandler serves the requests of one method, such as prompts/get or one that the protocol does not define; tools and tasks have other
// handlers. BindMethod makes one.
type MethodHandler struct {
	name   string
	codecs []methodCodec
}

// methodCodec is a MethodCodec that is bound to its handler.
type methodCodec struct {
	revision string
	run      func(ctx context.Context, call *Call, params, b []byte) ([]byte, error)
	check    func(d *check.Decoder) // of results; nil: any JSON will do
}

// codec returns the codec of the revision, or else the one for all that have none of their own; nil without either.
func (h *MethodHandler) codec(revision string) (found *methodCodec) {
	for i := range h.codecs {
		switch h.codecs[i].revision {
		case revision:
			return &h.codecs[i]
		case "":
			found = &h.codecs[i]
		}
	}
	return found
}

// MethodCodec decodes the params and encodes the result of a method in the form of one revision.
type MethodCodec[In, Out any] struct {
	// Revision is the name of the protocol revision; "" is for all that have no codec of their own.
	Revision string
	// Decode reads the whole params, "{}" when they are absent.
	Decode func(d *check.Decoder, in *In)
	// Append writes the whole result. It leaves out the members that wire.ResultRules names if they are zero: the runtime adds them, and the
	// server's name (EXT20). nil: the result is empty, whatever the handler returns.
	Append func(b []byte, out *Out) []byte
	// DecodeResult validates the encoded result, instead of Check, for a method that the protocol does not define. Decode then gets the
	// params without the _meta that every request may have.
	DecodeResult func(d *check.Decoder, out *Out)
	// Check validates the encoded result against its definition (LET01). nil: any JSON will do.
	Check func(d *check.Decoder)
}

// BindMethod joins a handler with its codecs. Params that Decode refuses never reach fn; they are answered with -32602. Errors of fn are
// answered as follows: an *rpc.Error as it is, unless its code is reserved; a *ResourceError, *URLElicitationError or *UnsupportedError with
// the revision's code, or if it has none, with its text as an internal error; ErrQuestionTimeout, task.ErrWithdrawn, a *QuestionError and the Message
// of a *ToolError also with their text as internal errors; an *AnswerError as invalid params; any other as an internal error, whose text is only
// logged.
func BindMethod[In, Out any](name string, fn func(ctx context.Context, call *Call, in *In) (*Out, error), codecs ...MethodCodec[In, Out]) MethodHandler {
	h := MethodHandler{name: name}
	for _, c := range codecs {
		if c.DecodeResult != nil {
			c.Check = func(d *check.Decoder) { c.DecodeResult(d, new(Out)) }
		}
		h.codecs = append(h.codecs, methodCodec{c.Revision, c.bind(fn), c.Check})
	}
	return h
}

// BindAck is BindMethod for methods whose result is empty; the codecs need no Append.
func BindAck[In any](name string, fn func(ctx context.Context, call *Call, in *In) error, codecs ...MethodCodec[In, struct{}]) MethodHandler {
	return BindMethod(name, func(ctx context.Context, call *Call, in *In) (*struct{}, error) { return nil, fn(ctx, call, in) }, codecs...)
}

func (c MethodCodec[In, Out]) bind(fn func(ctx context.Context, call *Call, in *In) (*Out, error)) func(ctx context.Context, call *Call, params, b []byte) ([]byte, error) {
	answers := new(answerSizes)
	return func(ctx context.Context, call *Call, params, b []byte) ([]byte, error) {
		in := new(In)
		if c.DecodeResult != nil {
			params = call.revision.withoutMeta(params)
		}
		err := call.r.takeInput(func() error {
			return decode(check.GetScanned(params, call.s.cfg.limits), (*callAccount)(call), c.Decode, in)
		})
		if err != nil {
			return b, invalidInput(err)
		}
		if c.Append == nil {
			_, err := fn(ctx, call, in)
			return append(b, "{}"...), call.returned(err)
		}
		var out *Out
		err = call.runWithinBudgets(ctx, answers, func() (err error) {
			out, err = fn(ctx, call, in)
			return call.returned(err)
		})
		if err != nil {
			return b, err
		}
		start := len(b)
		if out == nil {
			b = append(b, "{}"...)
		} else {
			b = c.Append(b, out)
		}
		n := len(b) - start
		b = call.adaptResult(b, start)
		err = call.s.validate(b[start:], c.Check)
		call.encoded(n)
		if err != nil {
			return b[:start], &outputError{err}
		}
		return b, nil
	}
}

func (rev *revision) withoutMeta(params []byte) []byte {
	if rev.metaMember == "" || !check.Mentions(params, rev.metaMember) {
		return params
	}
	rest := slices.DeleteFunc(edit.ObjectOf(params), func(m edit.Member) bool { return m.Name == rev.metaMember })
	return rest.AppendJSON(nil)
}
