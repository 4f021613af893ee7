package server

import (
	"github.com/mcpkiln/mcpkiln/runtime/check"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
)

// refusal is why a request is not served, with the HTTP status for it; 0 if the revision has none.
type refusal struct {
	err    *rpc.Error
	status int
}

func refuse(code int, format string, args ...any) *refusal {
	return &refusal{err: rpc.Errorf(code, format, args...)}
}

// admit decides whether the request is served, and how.
func (r *request) admit(to *route, msg *rpc.Message) *refusal {
	r.wire, r.method = to.wire, to.method
	if !to.wire.Handshake {
		if refused := r.reading.validate(to, msg); refused != nil {
			return refused
		}
		return r.admitStateless(msg)
	}
	if refused := r.validateSession(to, msg); refused != nil {
		return refused
	}
	return r.admitMethod()
}

// validateSession is validate for a revision with a handshake.
func (r *request) validateSession(to *route, msg *rpc.Message) *refusal {
	p, m := r.p, to.method
	if m == nil || m.Notification || !p.serves(to.wire, m) {
		return unknownMethod(to.wire, msg)
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

// validate refuses a request that lacks what every request of a stateless revision carries (EXT19).
func (rd *reading) validate(to *route, msg *rpc.Message) *refusal {
	p, missing := rd.params, ""
	switch {
	case p.ProtocolVersion == "" && rd.at.headers && rd.at.hint == "":
		return rd.s.unversioned(to.wire)
	case to.method == nil && rd.at.session == nil && string(msg.Method) == handshakeMethod:
		refused := unknownMethod(to.wire, msg)
		refused.err.Data = rd.s.supported(to.wire, p.ProtocolVersion)
		return refused
	case to.method == nil || to.method.Notification:
		return unknownMethod(to.wire, msg)
	case p.ProtocolVersion == "":
		missing = "the protocol version"
	case len(p.ClientCapabilities) == 0 || p.ClientCapabilities[0] != '{':
		missing = "the client's capabilities"
	case to.err != nil:
		return &refusal{err: invalidParams(to.method.Name, to.err)}
	case p.LogLevel != "" && !Level(p.LogLevel).known():
		return &refusal{err: unknownLevel(p.LogLevel)}
	default:
		return nil
	}
	code := to.wire.Codes.MissingMeta
	if code == 0 {
		code = rpc.CodeInvalidParams
	}
	refused := refuse(code, "_meta of %s lacks %s", to.method.Name, missing)
	refused.status = to.wire.HTTP.Statuses.MissingMeta
	return refused
}

// unversioned refuses a message whose revision neither the header nor _meta says (LET19). The client may be of an older revision, so the
// error lists those that are served.
func (s *Server) unversioned(w *wire) *refusal {
	refused := refuse(w.Codes.HeaderMismatch, "neither the header %s nor _meta says the protocol version", w.HTTP.VersionHeader)
	refused.err.Data, refused.status = s.supported(w, ""), w.HTTP.Statuses.HeaderMismatch
	return refused
}

// handshakeMethod begins a session in every revision with a handshake. Servers without such a revision have it in no wire.
const handshakeMethod = "initialize"

func unknownMethod(w *wire, msg *rpc.Message) *refusal {
	refused := refuse(rpc.CodeMethodNotFound, "unknown method %s", rpc.Quoted(msg.Method))
	refused.status = w.HTTP.Statuses.MethodNotFound
	return refused
}

// serves tells whether the capability of the method was declared to p (TSK01).
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

// admitStateless admits a request that is valid in its stateless revision.
func (r *request) admitStateless(msg *rpc.Message) *refusal {
	if !r.p.serves(r.wire, r.method) {
		return unknownMethod(r.wire, msg)
	}
	r.can = r.p.s.declared.abilities(r.wire, r.params.ClientCapabilities)
	return r.admitMethod()
}

// admitMethod applies the rules of its method: rates, capabilities, and for tools/call those of the tool.
func (r *request) admitMethod() *refusal {
	if r.p.closing.Load() {
		return refuse(rpc.CodeInvalidRequest, "the server is shutting down")
	}
	if refused := r.admitRate(); refused != nil {
		return refused
	}
	switch r.method.Op {
	case OpCallTool:
		return r.admitTool()
	case OpGetTask, OpUpdateTask, OpCancelTask:
		if r.wire.Task.ByReceiver && r.can&canTasks == 0 {
			return r.wire.lacks(r.wire.Capabilities.ClientTasks) // EXT06
		}
	case OpSubscribe:
		return fitURIs(r.params.URI)
	case OpListen:
		if len(r.params.TaskIDs) > 0 && r.can&canTasks == 0 {
			return r.wire.lacks(r.wire.Capabilities.ClientTasks) // EXT13
		}
		return fitURIs(r.params.ResourceURIs...)
	}
	return nil
}

// maxURI is the longest URI that is subscribed to, in bytes.
const maxURI = 64 << 10

// fitURIs refuses what is too long to be kept as long as a subscription (TSK28).
func fitURIs(uris ...string) *refusal {
	for _, uri := range uris {
		if len(uri) > maxURI {
			return refuse(rpc.CodeInvalidParams, "the URI %s has %d bytes: a subscription takes at most %d", rpc.Quoted(uri), len(uri), maxURI)
		}
	}
	return nil
}

// admitTool finds the tool and decides between inline and task (TSK02, TSK03, EXT03). It runs before the request is registered,
// because the tool's policy is registered with it.
func (r *request) admitTool() *refusal {
	if args := r.params.Arguments; args != nil && args[0] != '{' {
		return refuse(rpc.CodeInvalidParams, "arguments must be an object") // LET05
	}
	t := r.p.s.tool(r.params.Name)
	if t == nil {
		return refuse(rpc.CodeInvalidParams, "unknown tool %s", rpc.Quoted(r.params.Name))
	}
	r.tool = t
	switch {
	case !r.wire.tasks || !r.method.Task: // what the member holds does not matter (LET10)
	case r.wire.Task.ByReceiver:
		r.task = t.Task.Support != TaskForbidden && r.can&canTasks != 0
		if t.Task.Support == TaskRequired && !r.task {
			return r.wire.lacks(r.wire.Capabilities.ClientTasks) // EXT05
		}
	case r.params.Task != nil && t.Task.Support == TaskForbidden:
		return refuse(rpc.CodeMethodNotFound, "tool %q does not run as a task", t.Name)
	case r.params.Task != nil:
		return r.readTaskParams()
	case t.Task.Support == TaskRequired:
		return refuse(rpc.CodeMethodNotFound, "tool %q runs as a task only", t.Name)
	}
	return nil
}

// readTaskParams makes a task of the call, as its params ask for.
func (r *request) readTaskParams() *refusal {
	r.task = true
	if err := check.DecodeScanned(r.params.Task, r.p.s.cfg.limits, r.wire.ReadTaskParams, &r.params); err != nil {
		return refuse(rpc.CodeInvalidParams, "invalid task of %s: %v", r.method.Name, err)
	}
	return nil
}

// tool returns the tool of a name, nil if there is none or it is switched off.
func (s *Server) tool(name string) *Tool {
	if off := s.off.Load(); off != nil && (*off)[name] {
		return nil
	}
	return s.tools[name]
}

// lacks refuses a request that takes a capability which the client did not declare.
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

// status is the HTTP status for an answer, by its code.
func (w *wire) status(err *rpc.Error) int {
	at := &w.HTTP.Statuses
	switch {
	case w.Handshake:
		return 0
	case err.Code == rpc.CodeMethodNotFound:
		return at.MethodNotFound
	case err.Code == w.Codes.MissingCapability:
		return at.MissingCapability
	case err.Code == w.Codes.UnsupportedVersion:
		return at.UnsupportedVersion
	case err.Code == w.Codes.HeaderMismatch:
		return at.HeaderMismatch
	}
	return 0
}
