package server

import (
	"bytes"

	"github.com/mcpkiln/mcpkiln/runtime/check"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
)

// receive handles the frame in r. It runs in the read loop, so it does what has to happen in order: parse, register
// (CAN09), cancel. It returns true if r is now a request in flight, which others use. got tells a transport what the frame was.
func (p *peer) receive(r *request, got *Receipt) bool {
	r.size = len(r.frame)
	p.pulse.note()
	r.reading = reading{s: p.s, at: p.state(), frame: r.frame, params: &r.params}
	msg, err := rpc.ParseInto(r.frame, p.s.cfg.limits, &r.reading)
	got.Kind, got.ID, got.Refused = msg.Kind, msg.ID, err
	r.repeated = msg.Repeated
	if p.streams {
		got.Method = string(msg.Method)
	}
	if err != nil {
		p.s.log.Debug("message refused", "peer", p.id, "error", err)
		if msg.Answers() && p.answeredMalformed(&msg, err) {
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
		if refused := r.start(&msg); refused != nil {
			got.Refused = refused.err
			p.refuse(msg.ID, refused.err)
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

// start takes a request in: route, admit, register. Then it is served in a goroutine of its own, but for the handshake, which
// what follows on the connection depends on.
func (r *request) start(msg *rpc.Message) *refusal {
	p := r.p
	r.wire, r.id, r.since, r.can, r.raw = p.wire, msg.ID, p.cancelled, p.can, msg.Params
	to, refused := r.reading.route(msg)
	if refused == nil {
		refused = r.admit(&to, msg)
	}
	if refused == nil {
		refused = r.register()
	}
	switch {
	case refused != nil:
		return refused
	case r.method.Op == OpInitialize:
		p.answersInline(r.id)
		r.serve()
	default:
		go r.run()
	}
	return nil
}

// peerState is what routing needs to know besides the message.
type peerState struct {
	session *wire  // of the session, or the one that a handshake would begin with; nil: no revision has a handshake
	ready   bool   // the session's handshake is done
	hint    string // the revision in the transport's header, "" for none
	headers bool   // the transport has headers
}

// agreedOn tells whether the session uses the revision.
func (at *peerState) agreedOn(revision string) bool {
	return at.ready && at.session != nil && at.session.Revision == revision
}

// state is what routing needs to know of the peer.
func (p *peer) state() peerState {
	if !p.wire.Handshake {
		return peerState{}
	}
	return peerState{session: p.wire, ready: p.ready}
}

// reading reads the params of one message. It does so while the frame is parsed, as params of the wire that classify expects. If
// route finds another wire, it reads them again.
type reading struct {
	s      *Server
	at     peerState
	frame  []byte
	params *Params
	peek   bool // leave the params of a session's messages unread

	method *Method // whose params were read; nil: unknown, or not read yet
	err    error   // of reading them
}

// ReadParams implements rpc.Reader.
func (rd *reading) ReadParams(d *check.Decoder, method []byte) bool {
	w := rd.classify(method)
	m := w.methods[string(method)]
	if m == nil || m.Read == nil || rd.peek && w.Handshake {
		return false
	}
	*rd.params = Params{}
	rd.method, rd.err = m, check.Within(d, m.Read, rd.params)
	rd.params.unset()
	return true
}

// ReadResult implements rpc.Reader. Whoever waits for an answer reads it.
func (rd *reading) ReadResult(*check.Decoder, rpc.ID) bool { return false }

// classify returns the wire that the message most likely belongs to, before its params were read.
func (rd *reading) classify(method []byte) *wire {
	s := rd.s
	if len(s.stateless) == 0 {
		return rd.at.session
	}
	if w := s.stateless[0]; w.mayNameRevision(rd.frame) {
		return w
	}
	return s.defaultWire(rpc.KindRequest, method, rd.at)
}

// mayNameRevision is false if the text can not have the member that names its revision. If it is true, only reading tells. JSON may write any character of the name as an escape (LET14): a slash as \/, ASCII as \u0020 to \u007f.
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

// defaultWire is the wire of a message that does not name its revision.
func (s *Server) defaultWire(kind rpc.Kind, method []byte, at peerState) *wire {
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
	return w // there is no session yet
}

// unset treats null as absent, because some clients write it.
func (p *Params) unset() {
	if string(p.Arguments) == "null" {
		p.Arguments = nil
	}
	if string(p.Task) == "null" {
		p.Task = nil
	}
}

// route is the wire and method that serve a message.
type route struct {
	wire   *wire
	method *Method // nil: unknown
	err    error   // of reading the params of a stateless message
}

// route finds the wire and method of each message by itself (REV02). A message that names a stateless revision in its _meta, or has
// a method that only such a revision has, is served by that; every other belongs to the session.
func (rd *reading) route(msg *rpc.Message) (to route, refused *refusal) {
	s, at := rd.s, rd.at
	if len(s.stateless) == 0 {
		return route{wire: at.session, method: at.session.methods[string(msg.Method)]}, nil
	}
	w := s.stateless[0]
	if w.mayNameRevision(msg.Params) {
		to = rd.readStateless(w, msg)
		switch version := rd.params.ProtocolVersion; {
		case version != "" && at.hint != "" && at.hint != version:
			return to, mismatched(w, at.hint, version)
		case version == w.Revision:
			return to, nil
		case version != "" && !at.agreedOn(version):
			return rd.otherRevision(msg)
		}
	}
	if w = s.defaultWire(msg.Kind, msg.Method, at); !w.Handshake {
		return rd.readStateless(w, msg), nil
	}
	return route{wire: w, method: w.methods[string(msg.Method)]}, nil
}

// readStateless reads the params of a message of a stateless revision. Those of an unknown method are read as any request's.
func (rd *reading) readStateless(w *wire, msg *rpc.Message) route {
	to := route{wire: w, method: w.methods[string(msg.Method)]}
	with := w.ReadRequest
	if to.method != nil && to.method.Read != nil {
		with = to.method.Read
	}
	to.err = rd.read(to.method, msg.Params, with)
	return to
}

// readSession reads the params of a method of a handshake revision.
func (rd *reading) readSession(m *Method, params []byte) *rpc.Error {
	if err := rd.read(m, params, m.Read); err != nil {
		return invalidParams(m.Name, err)
	}
	return nil
}

// read reads params with the Read function of m, unless that was done while the frame was parsed.
func (rd *reading) read(m *Method, params []byte, with func(*check.Decoder, *Params)) error {
	if m != nil && rd.method == m {
		return rd.err
	}
	*rd.params = Params{}
	rd.method, rd.err = m, nil
	if with != nil {
		rd.err = check.DecodeScanned(orEmpty(params), rd.s.cfg.limits, with, rd.params)
		rd.params.unset()
	}
	return rd.err
}

// orEmpty returns an empty object for absent params.
func orEmpty(params []byte) []byte {
	if params == nil {
		return []byte("{}")
	}
	return params
}

// mismatched refuses a message whose header names another revision than its _meta (EXT14), whether or not either is served: a gateway
// may have routed it by the header.
func mismatched(w *wire, hint, version string) *refusal {
	refused := refuse(w.Codes.HeaderMismatch, "the transport was told of protocol version %s, the message says %s", rpc.Quoted(hint), rpc.Quoted(version))
	refused.status = w.HTTP.Statuses.HeaderMismatch
	return refused
}

// otherRevision routes a message that names a stateless revision other than the newest.
func (rd *reading) otherRevision(msg *rpc.Message) (to route, refused *refusal) {
	s, version := rd.s, rd.params.ProtocolVersion
	for _, w := range s.stateless {
		if w.Revision == version {
			return rd.readStateless(w, msg), nil
		}
	}
	w := s.stateless[0]
	refused = refuse(w.Codes.UnsupportedVersion, "protocol version %s is not supported", rpc.Quoted(version))
	refused.err.Data, refused.status = s.supported(w, version), w.HTTP.Statuses.UnsupportedVersion
	return route{wire: w}, refused
}

// supported is the data of an error that lists the stateless revisions.
func (s *Server) supported(w *wire, requested string) []byte {
	u := UnsupportedVersion{Requested: rpc.Cut(requested)}
	for _, w := range s.stateless {
		u.Supported = append(u.Supported, w.Revision)
	}
	return w.AppendUnsupportedVersion(nil, &u)
}

// Route finds the revision and method of a frame. hint is the revision in the transport's header, "" for none: it counts for messages that
// do not name their revision. An error is the answer to a request; a notification or an answer with one is dropped.
func (s *Server) Route(frame []byte, hint string) (to Routed, err *rpc.Error) {
	at := peerState{session: s.handshake(), ready: true, hint: hint, headers: true}
	rd := &to.reading
	*rd = reading{s: s, at: at, frame: frame, params: &to.params, peek: true}
	msg, err := rpc.ParseInto(frame, s.cfg.limits, rd)
	to.Kind, to.ID, to.msg = msg.Kind, msg.ID, msg
	if err != nil {
		to.Method = string(msg.Method)
		return to, err
	}
	v, refused := rd.route(&msg)
	to.Method = v.name(&msg)
	if v.wire != nil && !v.wire.Handshake {
		to.wire, to.Wire, to.method = v.wire, v.wire.Wire, v.method
		if refused == nil && msg.Kind == rpc.KindRequest {
			refused = rd.validate(&v, &msg)
		}
	}
	if refused != nil {
		to.Status = refused.status
		return to, refused.err
	}
	to.name(s)
	return to, nil
}

// name is the method's; for one that is known it costs nothing.
func (to *route) name(msg *rpc.Message) string {
	if to.method != nil {
		return to.method.Name
	}
	return string(msg.Method)
}

// Answers tells whether the frame may be an answer to a question, however malformed.
func (to *Routed) Answers() bool { return to.msg.Answers() }

// Reserved tells whether the request is served also when the limit of requests in flight is reached: it ends others, or asks whether the
// server is there. Of those, a thousand at once are enough.
func (to *Routed) Reserved() bool { return to.method != nil && to.method.reserved() }

// name fills in what headers repeat of the body (EXT14).
func (to *Routed) name(s *Server) {
	if to.method == nil {
		return
	}
	to.Named = to.method.Header != ""
	switch {
	case to.method.Op == OpCallTool:
		to.Name, to.Tool, to.Arguments = to.params.Name, s.tools[to.params.Name], to.params.Arguments
	case to.Named:
		to.Name = member(to.msg.Params, to.method.Header)
	}
}
