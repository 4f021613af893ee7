package server

import (
	"errors"
	"runtime/debug"

	"github.com/mcpkiln/mcpkiln/runtime/rpc"
)

// serve runs the request to its end, also when the handler ends its goroutine.
func (r *request) serve() {
	var answer []byte
	var err error = errInternal
	returned := false
	defer func() {
		if !returned {
			r.p.s.log.Error("the handler ended its goroutine: runtime.Goexit", "id", r.id.String(), "method", r.method.Name, "tool", r.toolName())
		}
		r.finish(answer, err)
	}()
	answer, err = r.perform()
	returned = true
}

// perform returns the answer, its result in place. A panic becomes an internal error; the stack is for the log alone.
func (r *request) perform() (answer []byte, err error) {
	defer func() {
		if v := recover(); v != nil {
			r.p.s.log.Error("panic", "id", r.id.String(), "method", r.method.Name, "tool", r.toolName(), "panic", v, "stack", string(debug.Stack()))
			err = errInternal
		}
	}()
	if r.entry.Err() != nil {
		return nil, r.entry.Err() // cancelled before it began
	}
	b := rpc.AppendResultHead(r.out[:0], r.id)
	switch r.method.Op {
	case OpInitialize:
		b, err = r.initialize(b)
	case OpPing:
		b = append(b, "{}"...)
	case OpListTools:
		if err = r.room.reserve(r.entry); err == nil {
			b, err = r.listTools(b)
		}
	case OpCallTool:
		b, err = r.callTool(b)
	case OpMethod, OpSubscribe, OpUnsubscribe:
		b, err = r.callMethod(b)
	case OpDiscover:
		b, err = r.discover(b)
	case OpListen:
		b, err = r.listen(b)
	case OpSetLevel:
		b, err = r.setLevel(b)
	default:
		b, err = r.taskMethod(b)
	}
	return append(b, '}'), err
}

func (r *request) finish(answer []byte, err error) {
	p := r.p
	defer p.live.done()
	r.respond(answer, err)
	r.endTelling()
	if r.after != nil {
		r.after()
	}
	r.release()
}

// respond answers, if the tracker says that the request may still be answered.
func (r *request) respond(answer []byte, err error) {
	var own *rpc.Error
	if err != nil {
		own = asRPC(err)
		answer = rpc.AppendError(r.out[:0], r.id, own)
	}
	// What the answer was made of is not needed any more.
	if cap(r.scratch) > keptBuffer {
		r.scratch, r.result = nil, CallResult{}
	}
	r.room.weigh(len(answer))
	about := r.subject()
	_ = about.write(statement{frame: answer, retires: r.entry, wire: r.wire, err: own}) // silenced: nothing is left to do
	r.out = answer
}

var errInternal = rpc.Errorf(rpc.CodeInternalError, "internal error")

// asRPC is err as a JSON-RPC error. What has no code of its own is internal, and its text is not for the peer.
func asRPC(err error) *rpc.Error {
	if own := (*rpc.Error)(nil); errors.As(err, &own) {
		return own
	}
	return errInternal
}

// toolName is the tool that is called, "" for other methods.
func (r *request) toolName() string {
	if r.tool == nil {
		return ""
	}
	return r.tool.Name
}
