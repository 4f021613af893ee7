package server

import (
	"bytes"

	"github.com/mcpkiln/mcpkiln/runtime/rpc"
)

// Each message is judged by itself (REV02): one that says in its _meta which stateless revision it is written in, or that
// only such a revision has, is served by that; every other one belongs to the session.

// refusal is why a request is not served, with the HTTP status for it; 0 if the revision has none.
type refusal struct {
	err    *rpc.Error
	status int
}

func refuse(code int, format string, args ...any) *refusal {
	return &refusal{err: rpc.Errorf(code, format, args...)}
}

// verdict is what judging a message found out.
type verdict struct {
	wire   *wire
	method *Method // nil: unknown
	err    error   // what was wrong with the params of a stateless message
}

// situation is what the message does not say itself.
type situation struct {
	session *wire  // what the session agreed on, or would begin with; nil: there is no handshake
	ready   bool   // the session's handshake is done
	hint    string // the revision that the transport was told of
	headers bool   // the transport has headers, which can tell it
}

// speaks tells whether a message that names the revision may be the session's all the same.
func (at *situation) speaks(revision string) bool {
	return at.ready && at.session != nil && at.session.Revision == revision
}

// judge finds the wire and the method of a message. It reads the params where that decides.
func (rd *reading) judge(msg *rpc.Message) (v verdict, refused *refusal) {
	s, at := rd.s, rd.at
	if len(s.stateless) == 0 {
		return verdict{wire: at.session, method: at.session.methods[string(msg.Method)]}, nil
	}
	w := s.stateless[0]
	if w.mayNameRevision(msg.Params) {
		v = rd.readStateless(w, msg)
		switch version := rd.params.ProtocolVersion; {
		case version != "" && at.hint != "" && at.hint != version:
			return v, mismatched(w, at.hint, version)
		case version == w.Revision:
			return v, nil
		case version != "" && !at.speaks(version):
			return rd.otherRevision(msg)
		}
	}
	if w = s.silent(msg.Kind, msg.Method, at); !w.Handshake {
		return rd.readStateless(w, msg), nil
	}
	return verdict{wire: w, method: w.methods[string(msg.Method)]}, nil
}

// mayNameRevision is false when the text certainly has no member that says which revision it is written in. True means: read it
// and see. JSON may write any character of the name as an escape (LET14): a slash as \/, ASCII as \u0020 to \u007f.
func (w *wire) mayNameRevision(text []byte) bool {
	if bytes.Contains(text, w.versionKey) {
		return true
	}
	for {
		i := bytes.IndexByte(text, '\\')
		if i < 0 || i+1 == len(text) {
			return false
		}
		if text[i+1] == '/' || bytes.HasPrefix(text[i+1:], escapedASCII) {
			return true
		}
		text = text[i+2:]
	}
}

// escapedASCII begins the escapes of ASCII characters.
var escapedASCII = []byte("u00")

// silent is the wire of a message that does not say its revision.
func (s *Server) silent(kind rpc.Kind, method []byte, at situation) *wire {
	for _, w := range s.stateless {
		if w.Revision == at.hint {
			return w
		}
	}
	w := s.stateless[0]
	if at.session == nil {
		return w
	}
	own, other := at.session.methods[string(method)], w.methods[string(method)]
	switch {
	case at.ready || other == nil || kind != rpc.KindRequest:
		return at.session
	case own != nil && (own.Op == OpInitialize || own.Op == OpPing):
		return at.session
	}
	return w // before the handshake: it lacks the one thing or the other
}

// mismatched refuses a message whose transport was told of another revision than the message says: whoever routed it by
// the one would be served by the other (EXT14). It comes before the question whether either is served.
func mismatched(w *wire, hint, version string) *refusal {
	refused := refuse(w.Codes.HeaderMismatch, "the transport was told of protocol version %s, the message says %s", rpc.Quoted(hint), rpc.Quoted(version))
	refused.status = w.HTTP.Statuses.HeaderMismatch
	return refused
}

// otherRevision is for messages of a stateless revision that is not the newest.
func (rd *reading) otherRevision(msg *rpc.Message) (v verdict, refused *refusal) {
	s, version := rd.s, rd.params.ProtocolVersion
	for _, w := range s.stateless {
		if w.Revision == version {
			return rd.readStateless(w, msg), nil
		}
	}
	w := s.stateless[0]
	refused = refuse(w.Codes.UnsupportedVersion, "protocol version %s is not supported", rpc.Quoted(version))
	refused.err.Data, refused.status = s.supported(w, version), w.HTTP.Statuses.UnsupportedVersion
	return verdict{wire: w}, refused
}

// supported is the data of an error that names what a message without a handshake can be written in.
func (s *Server) supported(w *wire, requested string) []byte {
	u := UnsupportedVersion{Requested: rpc.Cut(requested)}
	for _, w := range s.stateless {
		u.Supported = append(u.Supported, w.Revision)
	}
	return w.AppendUnsupportedVersion(nil, &u)
}

// stands tells whether the request carries what every request of a stateless revision carries (EXT19).
func (rd *reading) stands(v *verdict, msg *rpc.Message, p *Params) *refusal {
	missing := ""
	switch {
	case p.ProtocolVersion == "" && rd.at.headers && rd.at.hint == "":
		return rd.s.unversioned(v.wire)
	case v.method == nil && rd.at.session == nil && string(msg.Method) == handshakeMethod:
		refused := unknownMethod(v.wire, msg)
		refused.err.Data = rd.s.supported(v.wire, p.ProtocolVersion)
		return refused
	case v.method == nil || v.method.Notification:
		return unknownMethod(v.wire, msg)
	case p.ProtocolVersion == "":
		missing = "the protocol version"
	case len(p.ClientCapabilities) == 0 || p.ClientCapabilities[0] != '{':
		missing = "the client's capabilities"
	case v.err != nil:
		return &refusal{err: invalidParams(v.method.Name, v.err)}
	case p.LogLevel != "" && !Level(p.LogLevel).known():
		return &refusal{err: unknownLevel(p.LogLevel)}
	default:
		return nil
	}
	code := v.wire.Codes.MissingMeta
	if code == 0 {
		code = rpc.CodeInvalidParams
	}
	refused := refuse(code, "_meta of %s lacks %s", v.method.Name, missing)
	refused.status = v.wire.HTTP.Statuses.MissingMeta
	return refused
}

// unversioned refuses a message of which neither header nor body says its revision (LET19). One that has the header alone lacks what
// its _meta requires; a client of an older revision may not know of either, so it is told what is spoken here.
func (s *Server) unversioned(w *wire) *refusal {
	refused := refuse(w.Codes.HeaderMismatch, "neither the header %s nor _meta says the protocol version", w.HTTP.VersionHeader)
	refused.err.Data, refused.status = s.supported(w, ""), w.HTTP.Statuses.HeaderMismatch
	return refused
}

// handshakeMethod begins a session in every revision that has some. A server without such a revision knows it by its name.
const handshakeMethod = "initialize"

func unknownMethod(w *wire, msg *rpc.Message) *refusal {
	refused := refuse(rpc.CodeMethodNotFound, "unknown method %s", rpc.Quoted(msg.Method))
	refused.status = w.HTTP.Statuses.MethodNotFound
	return refused
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
