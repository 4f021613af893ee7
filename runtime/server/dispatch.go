package server

import (
	"errors"
	"runtime/debug"

	"github.com/mcpkiln/mcpkiln/runtime/check"
	"github.com/mcpkiln/mcpkiln/runtime/inflight"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
)

// receive handles the frame in r. It runs in the read loop, so it does what has to happen in order: parse, register
// (CAN09), cancel. True: r is a request in flight now, and somebody else's.
func (p *peer) receive(r *request) bool {
	msg, err := rpc.Parse(r.frame, p.s.cfg.limits)
	if err != nil {
		p.s.log.Debug("message refused", "peer", p.id, "error", err)
		if msg.WantsReply() {
			p.refuse(msg.ID, err)
		}
		return false
	}
	switch msg.Kind {
	case rpc.KindRequest:
		if err := p.accept(r, &msg); err != nil {
			p.refuse(msg.ID, err)
			return false
		}
		return true
	case rpc.KindNotification:
		p.notified(&msg)
	default:
		p.answered(&msg)
	}
	return false
}

// accept registers the request and starts serving it, or says why not.
func (p *peer) accept(r *request, msg *rpc.Message) *rpc.Error {
	m := p.wire.methods[string(msg.Method)]
	if m == nil || m.Notification || !p.serves(m.Op) {
		return rpc.Errorf(rpc.CodeMethodNotFound, "unknown method %q", msg.Method)
	}
	switch {
	case p.closing.Load():
		return rpc.Errorf(rpc.CodeInvalidRequest, "the server is shutting down")
	case !p.ready && m.Op != OpInitialize && m.Op != OpPing:
		return rpc.Errorf(rpc.CodeInvalidRequest, "%q comes after the handshake", msg.Method)
	case p.ready && m.Op == OpInitialize:
		return rpc.Errorf(rpc.CodeInvalidRequest, "the handshake is done already")
	case p.live.n.Load() > int64(p.s.cfg.maxInFlight):
		return rpc.Errorf(rpc.CodeInvalidRequest, "limit reached: at most %d requests in flight", p.s.cfg.maxInFlight)
	}
	// r may have held a request that was refused.
	r.wire, r.method, r.id, r.tool, r.params = p.wire, m, msg.ID, nil, Params{}
	r.since = p.cancelled
	if err := p.s.read(m, msg.Params, &r.params); err != nil {
		return err
	}
	if m.Op == OpCallTool {
		if err := r.chooseTool(); err != nil {
			return err
		}
	}
	return r.start()
}

// read reads params; absent ones are an empty object.
func (s *Server) read(m *Method, params []byte, into *Params) *rpc.Error {
	if m.Read == nil {
		return nil
	}
	if params == nil {
		params = []byte("{}")
	}
	if err := check.Decode(params, s.cfg.limits, m.Read, into); err != nil {
		return rpc.Errorf(rpc.CodeInvalidParams, "invalid params of %s: %v", m.Name, err)
	}
	return nil
}

// serves tells whether what the method belongs to was declared to p (TSK01).
func (p *peer) serves(op Op) bool {
	switch op {
	case OpNone:
		return false
	case OpListTools, OpCallTool:
		return len(p.s.tools) > 0
	case OpGetTask, OpTaskResult, OpCancelTask:
		return p.wire.tasks
	case OpListTasks:
		return p.serves(OpGetTask) && p.listsTasks()
	}
	return true
}

// start registers the request and serves it in a goroutine of its own. The handshake is served here: what follows it
// on the connection depends on it.
func (r *request) start() *rpc.Error {
	p := r.p
	entry, err := p.s.tracker.Register(p.ctx, p.key(r.id, inflight.Incoming), r.info())
	if err != nil {
		return rpc.Errorf(rpc.CodeInvalidRequest, "%v", err)
	}
	r.entry = entry
	if !p.live.add() {
		entry.Retire()
		return rpc.Errorf(rpc.CodeInvalidRequest, "the server is shutting down")
	}
	if r.method.Op == OpInitialize {
		r.serve()
	} else {
		go r.run()
	}
	return nil
}

func (r *request) info() inflight.Info {
	info := inflight.Info{Method: r.method.Name, Principal: r.p.principal, Uncancellable: r.method.Uncancellable}
	if r.tool != nil {
		info.Tool = r.tool.Name
		if !r.params.Task {
			info.Timeout = r.tool.Cancel.Timeout
			info.Uncancellable = r.tool.Cancel.Uncancellable
		}
	}
	return info
}

// serve runs the request to its end, also when the handler ends its goroutine.
func (r *request) serve() {
	var answer []byte
	var err error = errInternal
	defer func() { r.finish(answer, err) }()
	answer, err = r.perform()
}

func (r *request) finish(answer []byte, err error) {
	p := r.p
	defer p.live.done()
	r.respond(answer, err)
	if r.after != nil {
		r.after()
	}
	r.release()
}

// perform returns the answer, its result in place. A panic becomes an internal error; the stack is for the log alone.
func (r *request) perform() (answer []byte, err error) {
	defer func() {
		if v := recover(); v != nil {
			r.p.s.log.Error("panic", "id", r.id.String(), "method", r.method.Name, "panic", v, "stack", string(debug.Stack()))
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
		b, err = r.listTools(b)
	case OpCallTool:
		b, err = r.callTool(b)
	default:
		b, err = r.taskMethod(b)
	}
	return append(b, '}'), err
}

var errInternal = rpc.Errorf(rpc.CodeInternalError, "internal error")

// respond is the one place where answers are written. The tracker says whether this request may still be answered.
func (r *request) respond(answer []byte, err error) {
	if err != nil {
		answer = rpc.AppendError(r.out[:0], r.id, asRPC(err))
	}
	r.p.settle(r.since)
	r.p.gate.RLock()
	if r.entry.Retire() {
		r.p.write(answer)
	}
	r.p.gate.RUnlock()
	r.out = answer
}

// asRPC is err as a JSON-RPC error. What has no code of its own is internal, and its text is not for the peer.
func asRPC(err error) *rpc.Error {
	if own := (*rpc.Error)(nil); errors.As(err, &own) {
		return own
	}
	return errInternal
}
