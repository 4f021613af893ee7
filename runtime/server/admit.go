package server

import (
	"cmp"
	"hash/maphash"
	"sync/atomic"

	"github.com/mcpkiln/mcpkiln/runtime/check"
	"github.com/mcpkiln/mcpkiln/runtime/check/format"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

// admit decides whether the request is served, and how.
func (r *request) admit(to *route, msg *rpc.Message) *refusal {
	r.revision, r.method = to.revision, to.method
	if !to.revision.Handshake {
		if refused := r.p.reading.validate(to, msg); refused != nil {
			return refused
		}
		return r.admitStateless(msg)
	}
	if refused := r.validateSession(to, msg); refused != nil {
		return refused
	}
	return r.admitMethod()
}

// validateSession refuses a request that can not be served in a session, or before the session has begun. For stateless revisions there is
// reading.validate.
func (r *request) validateSession(to *route, msg *rpc.Message) *refusal {
	p, m := r.p, to.method
	known := m != nil && !m.Notification && p.serves(to.revision, m)
	switch {
	case !p.ready && (!known || m.Op != wire.OpInitialize && m.Op != wire.OpPing):
		return p.s.beforeHandshake(msg, known)
	case !known:
		return unknownMethod(to.revision, msg)
	case p.ready && m.Op == wire.OpInitialize:
		return refuse(rpc.CodeInvalidRequest, "the handshake is done already")
	case to.err != nil:
		return &refusal{err: invalidParams(m.Name, to.err)}
	case p.sessionless:
		return p.refuseWithoutSession(m)
	}
	return nil
}

// validate refuses a request that lacks what every request of a stateless revision carries (EXT19).
func (rd *reading) validate(to *route, msg *rpc.Message) *refusal {
	p, missing := rd.params, ""
	switch {
	case p.ProtocolVersion == "" && rd.peer.headers && rd.peer.hint == "":
		return rd.s.unversioned(to.revision)
	case to.method == nil && rd.peer.session == nil && string(msg.Method) == handshakeMethod: // of a client that has no session yet: it learns what is served
		refused := unknownMethod(to.revision, msg)
		refused.err.Data = to.revision.supported(cmp.Or(p.ProtocolVersion, member(msg.Params, "protocolVersion")), rd.s.stateless)
		return refused
	case to.method == nil || to.method.Notification:
		return unknownMethod(to.revision, msg)
	case p.ProtocolVersion == "":
		missing = "the protocol version"
	case len(p.ClientCapabilities) == 0:
		missing = "the client's capabilities"
	case to.err != nil:
		return &refusal{err: invalidParams(to.method.Name, to.err)}
	default:
		return nil
	}
	code := to.revision.Codes.MissingMeta
	if code == 0 {
		code = rpc.CodeInvalidParams
	}
	refused := refuse(code, "_meta of %s lacks %s", to.method.Name, missing)
	if code == rpc.CodeInvalidParams && to.err != nil { // then its data lists what else is wrong with them
		refused.err.Data = violationsData(violations(to.err))
	}
	refused.status = to.revision.HTTP.Statuses.MissingMeta
	return refused
}

// handshakeMethod begins a session in every revision with a handshake. It is a constant, since a server without such a revision has no name for it.
const handshakeMethod = "initialize"

// serves reports whether the server declares to p the capability that the method belongs to (TSK01).
func (p *peer) serves(rev *revision, m *wire.Method) bool {
	switch m.Op {
	case wire.OpNone:
		return false
	case wire.OpMethod, wire.OpSubscribe, wire.OpUnsubscribe:
		return rev.answers(m)
	case wire.OpListTools, wire.OpCallTool:
		return p.s.hasTools(rev)
	case wire.OpGetTask, wire.OpTaskResult, wire.OpCancelTask, wire.OpUpdateTask:
		return rev.tasks
	case wire.OpListTasks:
		return rev.tasks && p.listsTasks()
	case wire.OpSetLevel:
		return rev.names[wire.OpLog] != "" // only where log messages can be sent
	}
	return true
}

// hasTools reports whether tools are declared: there are some now, or the application may add some, because the package was generated with tools.
func (s *Server) hasTools(rev *revision) bool {
	return s.def.Tools != nil && rev.Capabilities.Tools != "" || len(s.tools.table.Load().entries) > 0
}

// admitStateless admits a request that is valid in its stateless revision.
func (r *request) admitStateless(msg *rpc.Message) *refusal {
	if !r.p.serves(r.revision, r.method) {
		return unknownMethod(r.revision, msg)
	}
	r.can = r.p.s.declared.abilities(r.revision, r.params.ClientCapabilities)
	return r.admitMethod()
}

// declarations caches the abilities of the declarations in requests of stateless revisions, since a client sends the same one with every request. The
// number of its places, found by hash, is fixed, so that clients can not make it grow.
type declarations struct {
	seed maphash.Seed
	seen [64]atomic.Pointer[declared]
}

type declared struct {
	revision *revision
	raw      string
	can      ability
}

// maxRemembered is the longest declaration that is remembered, in bytes.
const maxRemembered = 4 << 10

func (d *declarations) abilities(rev *revision, raw []byte) ability {
	place := &d.seen[maphash.Bytes(d.seed, raw)%uint64(len(d.seen))]
	if known := place.Load(); known != nil && known.revision == rev && known.raw == string(raw) {
		return known.can
	}
	can := rev.abilities(raw)
	if len(raw) <= maxRemembered {
		place.Store(&declared{rev, string(raw), can})
	}
	return can
}

// admitMethod applies the rules of the request's method: rates, capabilities, and for tools/call those of the tool.
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
	case wire.OpGetPrompt:
		r.policy = r.p.s.policyOf(r.method, &r.params)
	case wire.OpReadResource:
		r.policy = r.p.s.policyOf(r.method, &r.params)
		return checkURI(atURI, r.params.URI)
	case wire.OpGetTask, wire.OpUpdateTask, wire.OpCancelTask:
		if r.revision.Task.ServerDecides && r.can&canTasks == 0 {
			return r.revision.refuseWithout(r.revision.Capabilities.ClientTasks) // EXT06
		}
	case wire.OpSubscribe:
		return checkURIs(atURI, r.params.URI)
	case wire.OpListen:
		if len(r.params.TaskIDs) > 0 && r.can&canTasks == 0 {
			return r.revision.refuseWithout(r.revision.Capabilities.ClientTasks) // EXT13
		}
		return checkURIs(atURIs, r.params.ResourceURIs...)
	}
	return nil
}

// admitRate refuses a request if its caller sends too many.
func (r *request) admitRate() *refusal {
	kind, counts := rateOf(r.method)
	if !counts {
		return nil
	}
	err := r.countRate(kind, 1+len(r.params.ResourceURIs)) // each URI counts as a request
	if err == nil {
		err = r.countRate(ratedTasks, len(r.params.TaskIDs))
	}
	if err != nil {
		return &refusal{err: err}
	}
	return nil
}

// countRate counts n requests of a kind, if the caller has a limit for it.
func (r *request) countRate(kind rated, n int) *rpc.Error {
	if n == 0 || r.p.rates[kind].PerSecond <= 0 {
		return nil
	}
	return r.p.s.rates.take(r.p, kind, n)
}

// rateOf returns the kind that requests of the method count as; false for those without a limit, such as cancellations and pings.
func rateOf(m *wire.Method) (k rated, counts bool) {
	switch m.Op {
	case wire.OpCallTool:
		return ratedCalls, true
	case wire.OpMethod, wire.OpEmptyList, wire.OpSubscribe, wire.OpUnsubscribe, wire.OpListen,
		wire.OpListPrompts, wire.OpGetPrompt, wire.OpListResources, wire.OpListTemplates, wire.OpReadResource, wire.OpComplete:
		return ratedMethods, true
	case wire.OpGetTask, wire.OpTaskResult, wire.OpUpdateTask, wire.OpListTasks:
		return ratedTasks, true
	}
	return 0, false
}

// maxURI is the longest URI that can be subscribed to, in bytes.
const maxURI = 64 << 10

// checkURIs refuses URIs that are too long to be kept for the life of a subscription (TSK28).
func checkURIs(at string, uris ...string) *refusal {
	for _, uri := range uris {
		if refused := checkURI(at, uri); refused != nil {
			return refused
		}
		if len(uri) > maxURI {
			return refuseParam(at, "the URI %s has %d bytes: a subscription takes at most %d", rpc.Quoted(uri), len(uri), maxURI)
		}
	}
	return nil
}

// checkURI refuses an invalid URI before a template could match it.
func checkURI(at, uri string) *refusal {
	if !format.URI.Match(uri) {
		return refuseParam(at, "%s is no URI with a scheme: what RFC 3986 does not allow in one is written with %%", rpc.Quoted(uri))
	}
	return nil
}

// admitTool finds the tool and decides between inline and task (TSK02, TSK03, EXT03). It runs before the request is registered,
// because the tool's policy is registered with it.
func (r *request) admitTool() *refusal {
	t := r.p.s.tool(r.params.Name)
	if t == nil || !r.shows(r.p.s.cfg.toolFilter, t.Name) {
		return refuseParam(atName, "unknown tool %s", rpc.Quoted(r.params.Name))
	}
	if r.tool = t; r.params.Arguments == nil {
		r.params.Arguments = emptyObject
	}
	// r.task: this call becomes a task; r.params.Task: the client asks for one; t.Task: the tool's policy; r.revision.tasks: some tool runs as a
	// task; r.method.Task: calls may become tasks; r.revision.Task: who decides that.
	switch {
	case !r.revision.offers(t):
		return refuseParam(atName, "tool %q runs as a task only, and protocol revision %s has no tasks", t.Name, r.revision.Version)
	case !r.revision.tasks || !r.method.Task: // it runs inline: params.task is ignored, whatever it is (LET10)
	case r.revision.Task.ServerDecides:
		r.task = t.Task.Support != TaskForbidden && r.can&canTasks != 0
		if t.Task.Support == TaskRequired && !r.task {
			return r.revision.refuseWithout(r.revision.Capabilities.ClientTasks) // EXT05
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

// readTaskParams makes the call a task, as its params ask.
func (r *request) readTaskParams() *refusal {
	r.task = true
	if err := check.DecodeScanned(r.params.Task, r.p.s.cfg.limits, r.revision.ReadTaskParams, &r.params); err != nil {
		return &refusal{err: invalidParams(r.method.Name, below(atTask, err))}
	}
	return nil
}
