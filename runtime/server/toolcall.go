package server

import (
	"context"
	"encoding/json"
	"errors"
	"unsafe"

	"github.com/mcpkiln/mcpkiln/runtime/check"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/task"
)

// callTool runs the tool, or makes the task that will.
func (r *request) callTool(b []byte) ([]byte, error) {
	if r.task {
		return r.createTask(b)
	}
	call := r.newCall()
	if err := call.resume(); err != nil {
		return b, err
	}
	var err error
	r.result, err = r.p.s.execute(r.entry, call, arguments(r.params.Arguments), &r.scratch)
	if call.suspend() {
		return b, context.Cause(r.entry)
	}
	if f, ok := errors.AsType[*fault](err); ok { // unlike errors.As it does not allocate
		r.result, err = r.wire.answer(f)
	}
	if err != nil {
		return b, err
	}
	r.result.ServerInfo = r.p.s.infoFor(r.wire)
	return r.wire.AppendCallResult(b, &r.result), nil
}

// infoFor is the server's name for the results of a revision that have one (EXT20).
func (s *Server) infoFor(w *wire) []byte {
	if w.Handshake {
		return nil
	}
	return s.info
}

// arguments returns an empty object for absent ones.
func arguments(args []byte) []byte {
	if args == nil {
		return []byte("{}")
	}
	return args
}

// execute runs the tool's handler and makes the protocol's result of what it returns. Its parts live in buf. An error
// is answered as a JSON-RPC error, a *fault as the revision does; errors that the model should see are results.
func (s *Server) execute(ctx context.Context, call *Call, args []byte, buf *[]byte) (CallResult, error) {
	defer call.close()
	t := call.tool
	raw, err := t.Handler.run(ctx, call, args, (*buf)[:0])
	*buf = raw
	if err != nil {
		return s.failure(call, err)
	}
	if !t.Handler.unstructured() && call.run != nil {
		return CallResult{StructuredContent: raw}, nil // its text is made when it is read
	}
	if !t.Handler.unstructured() {
		*buf = appendText(raw, text(raw))
		n := len(raw)
		return CallResult{StructuredContent: (*buf)[:n:n], Content: (*buf)[n:]}, nil
	}
	if len(raw) == 0 {
		return CallResult{Content: []byte("[]")}, nil // the handler has nothing to say
	}
	var result CallResult
	if err = s.validate(raw, call.wire.CheckCallResult); err == nil {
		err = check.DecodeScanned(raw, s.cfg.limits, call.wire.ReadCallResult, &result)
	}
	if err != nil {
		return s.failure(call, &outputError{err})
	}
	result.Meta = s.withoutOwnKeys(result.Meta)
	return result, nil
}

// failure makes an answer of a handler's error; a *fault is for the revision to answer.
func (s *Server) failure(call *Call, err error) (CallResult, error) {
	if f := call.fault(err); f != nil {
		if f.kind == needsAbility {
			call.dropWithheld()
		}
		return CallResult{}, f
	}
	if broken := (*outputError)(nil); errors.As(err, &broken) {
		call.Log().Error("output refused", "error", broken.err)
		return CallResult{}, rpc.Errorf(rpc.CodeInternalError, "the tool's output %s", broken.message())
	}
	if misnamed := (*task.NameError)(nil); errors.As(err, &misnamed) {
		call.Log().Error("question or step not run", "error", err)
		return CallResult{}, errInternal
	}
	return CallResult{IsError: true, Content: appendText(nil, err.Error())}, nil
}

// appendText appends a tool result's content that is one text. This form is the same in every revision, so it is the
// one message that no Wire supplies.
func appendText(b []byte, s string) []byte {
	b = append(b, `[{"type":"text","text":`...)
	b = check.AppendString(b, s)
	return append(b, `}]`...)
}

// textOf returns the first text of a tool result's content, "" without one.
func textOf(content []byte) string {
	var blocks []struct{ Text string }
	if json.Unmarshal(content, &blocks) != nil {
		return ""
	}
	for _, b := range blocks {
		if b.Text != "" {
			return b.Text
		}
	}
	return ""
}

// text is b as a string, without a copy: the caller only reads it before b changes.
func text(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
