package server

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mcpkiln/mcpkiln/runtime/check"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

// refusal is why a request is not served, with the HTTP status for that; 0 if the revision has none.
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

// beforeHandshake refuses a request before the handshake. A client of a stateless revision may have sent it, so the error lists the revisions that are
// served. known reports whether some revision has the method.
func (s *Server) beforeHandshake(msg *rpc.Message, known bool) *refusal {
	refused := s.refuseWithoutStateless(rpc.Quoted(msg.Method)+" comes after the handshake", "")
	if !known {
		refused.err.Code = rpc.CodeMethodNotFound
	}
	return refused
}

// unversioned refuses a message whose revision neither the header nor _meta states (LET19). The client may be of an older revision, so
// the error lists those that are served.
func (s *Server) unversioned(rev *revision) *refusal {
	refused := refuse(rev.Codes.HeaderMismatch, "neither the header %s nor _meta says the protocol version", rev.HTTP.VersionHeader)
	refused.err.Data, refused.status = rev.supported("", s.stateless), rev.HTTP.Statuses.HeaderMismatch
	return refused
}

func unknownMethod(rev *revision, msg *rpc.Message) *refusal {
	refused := refuse(rpc.CodeMethodNotFound, "unknown method %s", rpc.Quoted(msg.Method))
	refused.status = rev.HTTP.Statuses.MethodNotFound
	return refused
}

// refuseWithout refuses a request that requires a capability which the client did not declare.
func (rev *revision) refuseWithout(capability string) *refusal {
	err := rev.missing(capability)
	return &refusal{err: err, status: rev.status(err)}
}

// missing is the error of a request that requires a capability which the client did not declare.
func (rev *revision) missing(capability string) *rpc.Error {
	required := declaration{}
	required.add(capability)
	err := rpc.Errorf(rev.Codes.MissingCapability, "the client did not declare a capability that this takes: %s", wire.UnescapeStep(capability))
	err.Data = rev.AppendMissingCapability(nil, &wire.MissingCapability{RequiredCapabilities: required.appendJSON(nil)})
	return err
}

// status is the HTTP status for the answer to a request that was admitted. Only a missing capability is refused so late: unknown and malformed
// requests were refused before, with statuses of their own, and whatever code a handler's error has, the method exists and was served (LET20).
func (rev *revision) status(err *rpc.Error) int {
	if rev.Handshake || err.Code != rev.Codes.MissingCapability {
		return 0
	}
	return rev.HTTP.Statuses.MissingCapability
}

// mismatched refuses a message whose header names another revision than its _meta (EXT14), whether or not either is served: a gateway
// may have routed it by the header.
func mismatched(rev *revision, hint, version string) *refusal {
	refused := refuse(rev.Codes.HeaderMismatch, "the transport was told of protocol version %s, the message says %s", rpc.Quoted(hint), rpc.Quoted(version))
	refused.status = rev.HTTP.Statuses.HeaderMismatch
	return refused
}

// unsupported refuses a revision that _meta names, or the transport's header alone, and lists those that are served (EXT19, LET19): also those that begin
// with initialize, as server/discover does, for clients that have no other in common. If _meta names one of these, it is refused with those that _meta may
// name, so that no client chooses the same again.
func (s *Server) unsupported(version string) *refusal {
	rev, served := s.stateless[0], s.revisions
	refused := refuse(rev.Codes.UnsupportedVersion, "protocol version %s is not supported", rpc.Quoted(version))
	if slices.Contains(s.versions, version) {
		served = s.stateless
		refused.err.Message = fmt.Sprintf("protocol version %s begins with initialize, and its messages do not name it in _meta", rpc.Quoted(version))
	}
	refused.err.Data, refused.status = rev.supported(version, served), rev.HTTP.Statuses.UnsupportedVersion
	return refused
}

// refuseWithoutStateless refuses the revision of a message where no stateless revision is served. Its code is not about versions, because clients of
// stateless revisions fall back to the handshake when they get a code that they do not know; the text and the data are for people.
func (s *Server) refuseWithoutStateless(why, requested string) *refusal {
	refused := refuse(rpc.CodeInvalidRequest, "%s: this server speaks %s, and begins with initialize", why, strings.Join(s.versions, ", "))
	data := check.AppendSlice([]byte(`{"supported":`), s.versions, check.AppendString)
	if requested != "" {
		data = check.AppendString(append(data, `,"requested":`...), rpc.Cut(requested))
	}
	refused.err.Data = append(data, '}')
	return refused
}

// supported is the data of an error that lists served revisions.
func (rev *revision) supported(requested string, served []*revision) []byte {
	u := wire.UnsupportedVersion{Requested: rpc.Cut(requested)}
	for _, one := range served {
		u.Supported = append(u.Supported, one.Version)
	}
	return rev.AppendUnsupportedVersion(nil, &u)
}

// The places in params that errors are about, as JSON Pointers: the same in every revision that has the member.
const (
	atURI             = "/uri"
	atURIs            = "/notifications/resourceSubscriptions"
	atName            = "/name"
	atArguments       = "/arguments"
	atTask            = "/task"
	atTTL             = "/task/ttl"
	atTaskID          = "/taskId"
	atCursor          = "/cursor"
	atLevel           = "/level"
	atReference       = "/ref"
	atPromptName      = "/ref/name"
	atTemplateURI     = "/ref/uri"
	atArgumentName    = "/argument/name"
	atProtocolVersion = "/protocolVersion"
	atRequestState    = "/requestState"
	atInputResponses  = "/inputResponses"
	atAction          = "/action" // of an answer
)
