package server

import (
	"errors"
	"runtime/debug"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/inflight"
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
	if err != nil {
		answer = r.out
	}
	// What the answer was made of is not needed any more.
	if cap(r.scratch) > keptBuffer {
		r.scratch, r.result = nil, CallResult{}
	}
	about := r.subject()
	answer, err = about.answer(statement{frame: answer, retires: r.entry, wire: r.wire}, &r.room, err)
	r.out = answer
	if err != nil && r.p.exchange {
		_ = r.p.answerTimedOut(r.entry) // the exchange may end before its timer does
	}
}

// respond answers a call with the questions of its try, while the handler may still run: so it uses nothing of the request.
func (t *statelessRecord) respond() {
	c := t.call
	space := room{s: c.s, p: c.peer}
	if space.reserve(c.entry) != nil {
		return
	}
	defer space.free()
	t.mu.Lock()
	b, err := t.append(rpc.AppendResultHead(nil, c.ID()))
	t.mu.Unlock()
	if c.progress != nil {
		c.progress.flush() // its last value is not lost when the exchange ends here (PRO05)
	}
	about := c.subject()
	_, _ = about.answer(statement{frame: append(b, '}'), retires: c.entry, wire: c.wire}, &space, err) // silenced: nothing is left to do
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

// answerTimeout answers a call that took too long: the handler may never return, and whatever it returns now is dropped.
// It is called by a timer, so the write happens elsewhere.
func (s *Server) answerTimeout(e *inflight.Entry) {
	p := s.peer(e.Key().Peer)
	if p == nil || !p.live.add() {
		e.AnswerTimeout() // to nobody
		return
	}
	go func() {
		defer p.live.done()
		if p.answerTimedOut(e) != nil {
			p.endStream(e.Key().ID) // it was cancelled before this could be written
		}
	}()
}

// answerTimedOut writes the answer, unless the call was cancelled or that was done already.
func (p *peer) answerTimedOut(e *inflight.Entry) error {
	if cause := e.Cause(); cause == nil || cause.Source != inflight.SourceTimeout {
		return errSilenced
	}
	info := e.Info()
	w := p.s.wires[info.Variant]
	result := timeoutResult(info.Tool, info.Timeout)
	result.ServerInfo = p.s.infoFor(w)
	about := subject{peer: p, id: e.Key().ID}
	p.barrier() // what the call was permitted to say before its timeout comes first (PRO01)
	return about.write(statement{frame: rpc.AppendResult(nil, about.id, w.AppendCallResult(nil, &result)), retires: timedOut{e}, wire: w})
}

// timeoutResult is what a call that took too long gives: the model that chose the tool should see it.
func timeoutResult(tool string, after time.Duration) CallResult {
	return CallResult{IsError: true, Content: appendText(nil, tool+" timed out after "+after.String())}
}

// timedOut is a request whose timeout has passed and was not answered yet. The client may still cancel it: then it is not answered.
type timedOut struct{ *inflight.Entry }

// Retire implements retirer.
func (t timedOut) Retire() bool { return t.AnswerTimeout() }
