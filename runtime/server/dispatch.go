package server

import (
	"errors"
	"runtime/debug"

	"github.com/mcpkiln/mcpkiln/runtime/inflight"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
)

// receive handles the frame in r. It runs in the read loop, so it does what has to happen in order: parse, register
// (CAN09), cancel. True: r is a request in flight now, and somebody else's. got tells a transport what the frame was.
func (p *peer) receive(r *request, got *Receipt) bool {
	r.size = len(r.frame)
	p.pulse.note()
	r.reading = reading{s: p.s, at: p.situation(), frame: r.frame, params: &r.params}
	msg, err := rpc.ParseInto(r.frame, p.s.cfg.limits, &r.reading)
	got.Kind, got.ID, got.Refused = msg.Kind, msg.ID, err
	r.repeated = msg.Repeated
	if p.streams {
		got.Method = string(msg.Method)
	}
	if err != nil {
		p.s.log.Debug("message refused", "peer", p.id, "error", err)
		if msg.Answers() && p.misanswered(&msg, err) {
			return false
		}
		// What a session's transport hands over although it is unclear, it answers itself.
		if got.Answered = msg.WantsReply() && !(msg.Unclear && p.streams); got.Answered {
			p.refuse(msg.ID, err)
		}
		return false
	}
	switch msg.Kind {
	case rpc.KindRequest:
		got.Answered = true
		if err := p.accept(r, &msg); err != nil {
			got.Refused = err
			p.refuse(msg.ID, err)
			return false
		}
		return true
	case rpc.KindNotification:
		p.notified(r, &msg)
	default:
		p.answered(&msg)
	}
	return false
}

// start registers the request and serves it in a goroutine of its own. The handshake is served here: what follows it
// on the connection depends on it.
func (r *request) start() *rpc.Error {
	if err := r.register(); err != nil {
		return err
	}
	if r.method.Op == OpInitialize {
		r.p.answersInline(r.id)
		r.serve()
	} else {
		go r.run()
	}
	return nil
}

// register puts the request in flight.
func (r *request) register() *rpc.Error {
	if err := r.hold(); err != nil {
		return err
	}
	err := r.enter()
	if err != nil {
		r.letGo()
	}
	return err
}

func (r *request) enter() *rpc.Error {
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
	if r.method.Op == OpListen {
		r.openSubscription()
	}
	return nil
}

func (r *request) info() inflight.Info {
	info := inflight.Info{
		Method: r.method.Name, Principal: r.p.principal, Uncancellable: r.method.Uncancellable, AnswersTimeout: true, Variant: r.wire.place, Values: r.values,
	}
	if r.tool != nil {
		info.Tool = r.tool.Name
		if !r.task {
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

// toolName is the tool that is called, "" for other methods.
func (r *request) toolName() string {
	if r.tool == nil {
		return ""
	}
	return r.tool.Name
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

var errInternal = rpc.Errorf(rpc.CodeInternalError, "internal error")

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

// asRPC is err as a JSON-RPC error. What has no code of its own is internal, and its text is not for the peer.
func asRPC(err error) *rpc.Error {
	if own := (*rpc.Error)(nil); errors.As(err, &own) {
		return own
	}
	return errInternal
}
