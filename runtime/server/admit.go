package server

import (
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
)

// accept registers the request and starts serving it, or says why not.
func (p *peer) accept(r *request, msg *rpc.Message) *rpc.Error {
	r.wire, r.id, r.since, r.can, r.raw = p.wire, msg.ID, p.cancelled, p.can, msg.Params
	v, refused := r.reading.judge(msg)
	if refused == nil {
		refused = r.admit(&v, msg)
	}
	if refused != nil {
		return refused.err
	}
	return r.start()
}

// admit takes what was judged, or says why the request is not served.
func (r *request) admit(v *verdict, msg *rpc.Message) *refusal {
	p := r.p
	r.wire, r.method = v.wire, v.method
	if v.wire.Handshake {
		if refused := r.admitSession(v, msg); refused != nil {
			return refused
		}
	} else {
		if refused := r.reading.stands(v, msg, &r.params); refused != nil {
			return refused
		}
		if !p.serves(v.wire, v.method) {
			return unknownMethod(v.wire, msg)
		}
		r.can = p.s.declared.abilities(v.wire, r.params.ClientCapabilities)
	}
	if p.closing.Load() {
		return refuse(rpc.CodeInvalidRequest, "the server is shutting down")
	}
	return r.choose()
}

// admitSession is admit for a revision with a handshake.
func (r *request) admitSession(v *verdict, msg *rpc.Message) *refusal {
	p, m := r.p, v.method
	if m == nil || m.Notification || !p.serves(v.wire, m) {
		return unknownMethod(v.wire, msg)
	}
	switch {
	case !p.ready && m.Op != OpInitialize && m.Op != OpPing:
		return refuse(rpc.CodeInvalidRequest, "%s comes after the handshake", rpc.Quoted(msg.Method))
	case p.ready && m.Op == OpInitialize:
		return refuse(rpc.CodeInvalidRequest, "the handshake is done already")
	}
	if err := r.reading.readSession(m, msg.Params); err != nil {
		return &refusal{err: err}
	}
	return nil
}

// choose decides what can be decided before the request is registered.
func (r *request) choose() *refusal {
	if refused := r.admitRate(); refused != nil {
		return refused
	}
	switch r.method.Op {
	case OpCallTool:
		return r.chooseTool()
	case OpGetTask, OpUpdateTask, OpCancelTask:
		if r.wire.Task.ByReceiver && r.can&canTasks == 0 {
			return r.wire.lacks(r.wire.Capabilities.ClientTasks) // EXT06
		}
	case OpListen:
		if len(r.params.TaskIDs) > 0 && r.can&canTasks == 0 {
			return r.wire.lacks(r.wire.Capabilities.ClientTasks) // EXT13
		}
	}
	return nil
}

// lacks answers a client that did not declare what the request takes.
func (w *wire) lacks(capability string) *refusal {
	err := w.missing(capability)
	return &refusal{err: err, status: w.status(err)}
}

func (w *wire) missing(capability string) *rpc.Error {
	required := declaration{}
	required.add(capability)
	err := rpc.Errorf(w.Codes.MissingCapability, "the client did not declare a capability that this takes: %s", unescape(capability))
	err.Data = w.AppendMissingCapability(nil, &MissingCapability{RequiredCapabilities: required.appendJSON(nil)})
	return err
}

// serves tells whether what the method belongs to was declared to p (TSK01).
func (p *peer) serves(w *wire, m *Method) bool {
	switch m.Op {
	case OpNone:
		return false
	case OpMethod, OpSubscribe, OpUnsubscribe:
		return w.handlers[m.Name] != nil
	case OpListTools, OpCallTool:
		return len(p.s.tools) > 0
	case OpGetTask, OpTaskResult, OpCancelTask, OpUpdateTask:
		return w.tasks
	case OpListTasks:
		return w.tasks && p.listsTasks()
	case OpSetLevel:
		return w.names[OpLog] != ""
	}
	return true
}
