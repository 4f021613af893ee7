package server

import (
	"context"
	"errors"
	"log/slog"
	"runtime/debug"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/inflight"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/task"
	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

// serve runs the request to its end, also when the handler ends its goroutine (runtime.Goexit). The caller begins the task that the request has
// created, if it has.
func (r *request) serve() (created task.Beginning) {
	var answer []byte
	var err error = errInternal
	performed, finished := false, false
	defer func() {
		if !performed {
			r.log().Error("the handler or an observer ended its goroutine: runtime.Goexit")
		}
		created = r.created
		defer func() {
			if !performed || !finished { // the goroutine ends
				created.Start()
			}
		}()
		r.finish(answer, err)
		finished = true
	}()
	if r.p.s.observed {
		r.p.s.observe(r.event(RequestBegan))
	}
	answer, err = r.perform()
	performed = true
	return created
}

// perform returns the frame of the answer to a request that succeeded. A panic becomes an internal error; the stack is only logged.
func (r *request) perform() (answer []byte, err error) {
	defer func() {
		if v := recover(); v != nil {
			logPanic(r.log(), v)
			err = errInternal
		}
	}()
	if r.entry.Err() != nil {
		return nil, r.entry.Err() // cancelled before it began
	}
	var b []byte
	if r.p.s.middleware != nil {
		b, err = r.performWithMiddleware()
	} else {
		b, err = r.dispatch()
	}
	if err != nil {
		return nil, err
	}
	if b = append(b, '}'); r.placeholders == nil {
		return b, nil
	}
	if b, err = r.fillOrStream(b); err != nil && r.entry.Err() == nil {
		r.log().Error("data not sent", "error", err)
	}
	return b, err
}

// log is the server's log with the request's attributes. The run of a task has no request of a client, so it has no attributes.
func (r *request) log() *slog.Logger {
	if r.method == nil {
		return r.reservation.s.log
	}
	return r.p.s.log.With("id", r.requestID().String(), "method", r.method.Name, "tool", r.toolName())
}

// logPanic is called where v was recovered: the stack is that of the panic.
func logPanic(log *slog.Logger, v any) {
	log.Error("panic", "panic", v, "stack", string(debug.Stack()))
}

// dispatch appends the result of the request to the beginning of the answer.
func (r *request) dispatch() (b []byte, err error) {
	if r.method.Op == wire.OpCallTool {
		return r.callTool()
	}
	b = r.beginAnswer()
	switch r.method.Op {
	case wire.OpInitialize:
		b, err = r.initialize(b)
	case wire.OpPing:
		b = append(b, "{}"...)
	case wire.OpListTools:
		if err = r.reservation.list(r.ctx, &r.p.s.toolLists); err == nil {
			b, err = r.listTools(b)
		}
	case wire.OpMethod:
		b, err = r.callMethod(b)
	case wire.OpSubscribe, wire.OpUnsubscribe:
		b, err = r.changeSubscription(b)
	case wire.OpListPrompts:
		b, err = r.listPrompts(b)
	case wire.OpGetPrompt:
		b, err = r.getPrompt(b)
	case wire.OpListResources:
		b, err = r.listResources(b)
	case wire.OpListTemplates:
		b, err = r.listTemplates(b)
	case wire.OpReadResource:
		b, err = r.readResource(b)
	case wire.OpComplete:
		b, err = r.completeArgument(b)
	case wire.OpEmptyList:
		b, err = r.emptyList(b)
	case wire.OpDiscover:
		b, err = r.discover(b)
	case wire.OpListen:
		b, err = r.listen(b)
	case wire.OpSetLevel:
		b, err = r.setLevel(b)
	default:
		b, err = r.taskMethod(b)
	}
	return b, err
}

// finish answers the request unless its answer has begun already, and then releases it. From then on the engine counts the task that the request has
// created, so that a shutdown waits for the one or the other.
func (r *request) finish(answer []byte, err error) {
	p := r.p
	p.writing.Add(1)
	defer p.endWriter()
	if err == nil && r.handshake != nil {
		r.beginSession()
	}
	if err != nil && r.outcome == BecameTask { // middleware, or its panic, has replaced the answer with the task
		r.entry.Unprotect()
	}
	if !r.streamed {
		r.respond(answer, err)
	}
	r.unlockTaskState()
	if r.spooled != nil && !r.spooled.kept {
		r.spooled.close()
	}
	r.spooled = nil
	defer r.created.Enter() // the last before endWriter; r is released by then
	defer func() {          // also when an observer ends the goroutine
		if r.after != nil {
			r.after()
		}
		r.release()
	}()
	if p.s.observed {
		r.observeEnd(err)
	}
}

// respond answers, if the tracker says that the request may still be answered.
func (r *request) respond(answer []byte, err error) {
	if err != nil {
		answer = r.out
	}
	r.dropParts()
	m := outgoing{frame: answer, long: r.longAnswer(), trailer: r.trailer, retires: r.entry, revision: r.revision}
	r.reservation.answer(r.entry, &m, r.requestID(), err)
	r.out = m.frame
	r.torn = false
	m.torn = &r.torn
	if r.taken = false; r.reservation.unread > largeOutput {
		m.taken = &r.taken
	}
	about := r.subject()
	if silenced := about.write(m); silenced != nil && r.p.exchange {
		_ = r.p.answerTimedOut(r.entry) // an exchange ends when this returns: the answer can not be left to the goroutine of the timer
	}
	if r.taken {
		r.p.s.reputations.hasRead(r.p.who)
	}
	if r.torn {
		r.out = nil // the HTTP/2 server may still be reading it
	}
}

// dropParts gives back the buffer with the parts of an answer that is complete, if it is large.
func (r *request) dropParts() {
	if cap(r.scratch) > keptBuffer {
		r.reservation.s.large.give(r.scratch)
		r.scratch, r.result = nil, wire.CallResult{}
	}
}

// respond answers a call with the questions of its run, while the handler may still run: so it uses nothing of the request.
func (t *statelessJournal) respond() {
	c := t.call
	space := reservation{s: c.s, p: c.peer, account: c.peer.account, counts: true}
	defer space.free()
	t.mu.Lock()
	b, err := t.append(rpc.AppendResultHead(nil, c.ID()))
	t.mu.Unlock()
	if c.withheld != nil {
		c.sendWithheld()
	}
	c.progress.close() // its last value is not lost when the exchange ends here (PRO05)
	c.mu.Lock()        // so that what the handler is writing comes first
	defer c.mu.Unlock()
	m := outgoing{frame: append(b, '}'), retires: c.entry, revision: c.revision}
	space.answer(c.entry, &m, c.ID(), err)
	about := c.subject()
	_ = about.write(m) // silenced: nothing is left to do
}

// answer completes m, the answer to a request: if err is not nil, err is the answer. The answer counts in the budgets until it is written.
func (r *reservation) answer(ctx context.Context, m *outgoing, id rpc.ID, err error) {
	if err != nil {
		m.err, m.trailer, m.long = asRPC(err), nil, nil
		m.frame = rpc.AppendError(m.frame[:0], id, m.err)
	}
	if m.long == nil { // else what it has in memory is counted already
		r.countAnswer(ctx, len(m.frame))
	}
}

var errInternal = rpc.Errorf(rpc.CodeInternalError, "internal error")

// asRPC returns err as a JSON-RPC error. An error without a code is internal, and its text is not sent.
func asRPC(err error) *rpc.Error {
	if own := (*rpc.Error)(nil); errors.As(err, &own) && own != nil {
		return own
	}
	return errInternal
}

func (r *request) toolName() string {
	if r.tool == nil {
		return ""
	}
	return r.tool.Name
}

// answerTimeout answers a call that took too long: the handler may never return, and whatever it returns now is dropped.
// It is called by a timer, so another goroutine writes.
func (s *Server) answerTimeout(e *inflight.Entry) {
	p := s.peer(e.Key().Peer)
	if p == nil || !p.live.add() {
		e.AnswerTimeout() // to nobody
		return
	}
	p.writing.Add(1)
	go func() {
		defer p.endWriter()
		_ = p.answerTimedOut(e) // if it was cancelled before this could be written, the cancellation ends its stream
	}()
}

// answerTimedOut writes the answer to a call that timed out, unless it was cancelled or answered already.
func (p *peer) answerTimedOut(e *inflight.Entry) error {
	if cause := e.Cause(); cause == nil || cause.Source != inflight.SourceTimeout {
		return errSilenced
	}
	info := e.Info()
	rev := p.s.revisions[info.Variant]
	about := subject{peer: p, id: e.ID()}
	m := outgoing{retires: timedOut{e}, revision: rev}
	if t := p.s.tools.get(info.Tool); t != nil && e.Waiting() {
		m.err = t.busy()
		m.frame = rpc.AppendError(nil, about.id, m.err)
	} else if info.Tool == "" { // only a tool's result can say that it failed
		m.err = rpc.Errorf(rpc.CodeInternalError, "%s", timeoutText(info.Method, info.Timeout, e.LacksRoom()))
		m.frame = rpc.AppendError(nil, about.id, m.err)
	} else {
		result := timeoutResult(info.Tool, info.Timeout, e.LacksRoom())
		result.ServerInfo = rev.resultInfo
		m.frame = rpc.AppendResult(nil, about.id, rev.AppendCallResult(nil, &result))
	}
	p.drainWriters() // messages of the call that were permitted before its timeout come first (PRO01)
	return about.write(m)
}

// timeoutResult is the result of a call that took too long: the model that chose the tool should see it.
func timeoutResult(tool string, after time.Duration, lackedRoom bool) wire.CallResult {
	return wire.CallResult{IsError: true, Content: appendText(nil, timeoutText(tool, after, lackedRoom))}
}

// timeoutText says what took too long, and whether it waited for room for its answer (CAN20).
func timeoutText(what string, after time.Duration, lackedRoom bool) string {
	text := what + " timed out after " + after.String()
	if lackedRoom {
		text += ": it waited for room for its answer, which other answers take"
	}
	return text
}

// timedOut is a request whose timeout has passed and was not answered yet. The client may still cancel it: then it is not answered.
type timedOut struct{ *inflight.Entry }

// Retire implements retirer.
func (t timedOut) Retire() bool { return t.AnswerTimeout() }
