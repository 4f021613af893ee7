package server

import (
	"cmp"

	"github.com/mcpkiln/mcpkiln/runtime/check"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

// refusal is why a request is not served, with the HTTP status for it; 0 if the revision has none.
type refusal struct {
	err    *rpc.Error
	status int
}

func refuse(code int, format string, args ...any) *refusal {
	return &refusal{err: rpc.Errorf(code, format, args...)}
}

func refuseParam(at, format string, args ...any) *refusal {
	return &refusal{err: refusedParam(at, format, args...)}
}

// admit decides whether the request is served, and how.
func (r *request) admit(to *route, msg *rpc.Message) *refusal {
	r.revision, r.method = to.revision, to.method
	if !to.revision.Handshake {
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
	known := m != nil && !m.Notification && p.serves(to.revision, m)
	switch {
	case !p.ready && (!known || m.Op != wire.OpInitialize && m.Op != wire.OpPing):
		return p.s.early(msg, known)
	case !known:
		return unknownMethod(to.revision, msg)
	case p.ready && m.Op == wire.OpInitialize:
		return refuse(rpc.CodeInvalidRequest, "the handshake is done already")
	case to.err != nil:
		return &refusal{err: invalidParams(m.Name, to.err)}
	case p.alone:
		return p.needsSession(m)
	}
	return nil
}

// early refuses a request before the handshake. A client of a stateless revision may have sent it, which is told what is spoken here.
func (s *Server) early(msg *rpc.Message, known bool) *refusal {
	refused := s.legacy(rpc.Quoted(msg.Method)+" comes after the handshake", "")
	if !known {
		refused.err.Code = rpc.CodeMethodNotFound
	}
	return refused
}

// validate refuses a request that lacks what every request of a stateless revision carries (EXT19).
func (rd *reading) validate(to *route, msg *rpc.Message) *refusal {
	p, missing := rd.params, ""
	switch {
	case p.ProtocolVersion == "" && rd.at.headers && rd.at.hint == "":
		return rd.s.unversioned(to.revision)
	case to.method == nil && rd.at.session == nil && string(msg.Method) == handshakeMethod:
		refused := unknownMethod(to.revision, msg)
		refused.err.Data = rd.s.supported(to.revision, cmp.Or(p.ProtocolVersion, member(msg.Params, "protocolVersion")))
		return refused
	case to.method == nil || to.method.Notification:
		return unknownMethod(to.revision, msg)
	case p.ProtocolVersion == "":
		missing = "the protocol version"
	case len(p.ClientCapabilities) == 0:
		missing = "the client's capabilities"
	case to.err != nil:
		return &refusal{err: invalidParams(to.method.Name, to.err)}
	case p.LogLevel != "" && !Level(p.LogLevel).known():
		return &refusal{err: unknownLevel("/_meta", p.LogLevel)}
	default:
		return nil
	}
	code := to.revision.Codes.MissingMeta
	if code == 0 {
		code = rpc.CodeInvalidParams
	}
	refused := refuse(code, "_meta of %s lacks %s", to.method.Name, missing)
	if code == rpc.CodeInvalidParams && to.err != nil {
		refused.err.Data = violationsData(violations(to.err))
	}
	refused.status = to.revision.HTTP.Statuses.MissingMeta
	return refused
}

// unversioned refuses a message whose revision neither the header nor _meta says (LET19). The client may be of an older revision, so the
// error lists those that are served.
func (s *Server) unversioned(w *revision) *refusal {
	refused := refuse(w.Codes.HeaderMismatch, "neither the header %s nor _meta says the protocol version", w.HTTP.VersionHeader)
	refused.err.Data, refused.status = s.supported(w, ""), w.HTTP.Statuses.HeaderMismatch
	return refused
}

// handshakeMethod begins a session in every revision with a handshake. Servers without such a revision have it nowhere.
const handshakeMethod = "initialize"

func unknownMethod(w *revision, msg *rpc.Message) *refusal {
	refused := refuse(rpc.CodeMethodNotFound, "unknown method %s", rpc.Quoted(msg.Method))
	refused.status = w.HTTP.Statuses.MethodNotFound
	return refused
}

// serves reports whether the capability of the method was declared to p (TSK01).
func (p *peer) serves(w *revision, m *wire.Method) bool {
	switch m.Op {
	case wire.OpNone:
		return false
	case wire.OpMethod, wire.OpSubscribe, wire.OpUnsubscribe:
		return w.answers(m)
	case wire.OpListTools, wire.OpCallTool:
		return p.s.hasTools(w)
	case wire.OpGetTask, wire.OpTaskResult, wire.OpCancelTask, wire.OpUpdateTask:
		return w.tasks
	case wire.OpListTasks:
		return w.tasks && p.listsTasks()
	case wire.OpSetLevel:
		return w.names[wire.OpLog] != ""
	}
	return true
}

// admitStateless admits a request that is valid in its stateless revision.
func (r *request) admitStateless(msg *rpc.Message) *refusal {
	if !r.p.serves(r.revision, r.method) {
		return unknownMethod(r.revision, msg)
	}
	r.can = r.p.s.declared.abilities(r.revision, r.params.ClientCapabilities)
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
	case wire.OpCallTool:
		return r.admitTool()
	case wire.OpGetTask, wire.OpUpdateTask, wire.OpCancelTask:
		if r.revision.Task.ByReceiver && r.can&canTasks == 0 {
			return r.revision.lacks(r.revision.Capabilities.ClientTasks) // EXT06
		}
	case wire.OpSubscribe:
		return checkURIs("/uri", r.params.URI)
	case wire.OpListen:
		if len(r.params.TaskIDs) > 0 && r.can&canTasks == 0 {
			return r.revision.lacks(r.revision.Capabilities.ClientTasks) // EXT13
		}
		return checkURIs("/notifications/resourceSubscriptions", r.params.ResourceURIs...)
	}
	return nil
}

// maxURI is the longest URI that is subscribed to, in bytes.
const maxURI = 64 << 10

// checkURIs refuses URIs that are too long to be kept for the life of a subscription (TSK28).
func checkURIs(at string, uris ...string) *refusal {
	for _, uri := range uris {
		if len(uri) > maxURI {
			return refuseParam(at, "the URI %s has %d bytes: a subscription takes at most %d", rpc.Quoted(uri), len(uri), maxURI)
		}
	}
	return nil
}

// admitTool finds the tool and decides between inline and task (TSK02, TSK03, EXT03). It runs before the request is registered,
// because the tool's policy is registered with it.
func (r *request) admitTool() *refusal {
	t := r.p.s.tool(r.params.Name)
	if t == nil || !r.shows(r.p.s.cfg.toolFilter, t.Name) {
		return refuseParam("/name", "unknown tool %s", rpc.Quoted(r.params.Name))
	}
	r.tool = t
	switch {
	case !r.revision.offers(t):
		return refuseParam("/name", "tool %q runs as a task only, and protocol revision %s has no tasks", t.Name, r.revision.Version)
	case !r.revision.tasks || !r.method.Task: // what the member holds does not matter (LET10)
	case r.revision.Task.ByReceiver:
		r.task = t.Task.Support != TaskForbidden && r.can&canTasks != 0
		if t.Task.Support == TaskRequired && !r.task {
			return r.revision.lacks(r.revision.Capabilities.ClientTasks) // EXT05
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

// offers reports whether calls of the tool can be made in the revision.
func (w *revision) offers(t *Tool) bool { return t.Task.Support != TaskRequired || w.tasks }

// readTaskParams makes a task of the call, as its params ask for.
func (r *request) readTaskParams() *refusal {
	r.task = true
	if err := check.DecodeScanned(r.params.Task, r.p.s.cfg.limits, r.revision.ReadTaskParams, &r.params); err != nil {
		return &refusal{err: invalidParams(r.method.Name, below("/task", err))}
	}
	return nil
}

// tool returns the tool of a name, nil if there is none or it is switched off.
func (s *Server) tool(name string) *Tool {
	if off := s.off.Load(); off != nil && (*off)[name] {
		return nil
	}
	return s.tools.get(name)
}

// lacks refuses a request that takes a capability which the client did not declare.
func (w *revision) lacks(capability string) *refusal {
	err := w.missing(capability)
	return &refusal{err: err, status: w.status(err)}
}

func (w *revision) missing(capability string) *rpc.Error {
	required := declaration{}
	required.add(capability)
	err := rpc.Errorf(w.Codes.MissingCapability, "the client did not declare a capability that this takes: %s", wire.UnescapeStep(capability))
	err.Data = w.AppendMissingCapability(nil, &wire.MissingCapability{RequiredCapabilities: required.appendJSON(nil)})
	return err
}

// status is the HTTP status for an answer, by its code.
func (w *revision) status(err *rpc.Error) int {
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
