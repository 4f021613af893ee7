package server

import (
	"slices"
	"sync"

	"github.com/mcpkiln/mcpkiln/runtime/check"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

// receive handles the frame in r. It runs in the read loop, so it does what has to happen in order: parse, register
// (CAN09), cancel. It returns true if r is now a request in flight, which other goroutines use. got tells a transport what the frame was.
// to is the message if Route has read it already, nil otherwise.
func (p *peer) receive(r *request, to *Routed, got *Receipt) bool {
	if p.ready && p.revision.Batches && rpc.IsBatch(r.frame) { // before the handshake there are none
		if p.receiving != nil {
			p.refuse(r, rpc.ID{}, rpc.Errorf(rpc.CodeInvalidRequest, "an array is no message of a batch: put its messages into the outer one"))
		} else {
			p.receiveBatch(r, got)
		}
		return false
	}
	if !p.pulse.received.Load() { // a sign of life, for WithPing (ping.go)
		p.pulse.received.Store(true)
	}
	msg, err := p.read(r, to, got)
	defer p.reading.forget()
	if err != nil {
		p.s.log.Debug("message refused", "peer", p.id, "error", err)
		if msg.Answers() && p.endMalformedAnswer(&msg, err) {
			return false
		}
		// A message that may be a request or an answer (rpc.Message.Unclear) is answered by the session's transport itself, unless an array has it.
		if got.Answered = msg.WantsReply() && !(msg.Unclear && p.streams && p.receiving == nil); got.Answered {
			p.refuse(r, msg.ID, err)
		}
		return false
	}
	switch msg.Kind {
	case rpc.KindRequest:
		got.Answered = true
		if refused := r.start(&msg); refused != nil {
			got.Refused = refused.err
			p.refuse(r, msg.ID, refused.err)
			return false
		}
		return true
	case rpc.KindNotification:
		p.notified(r, &msg)
	default:
		var rec *recording
		if rec, got.Refused = p.answered(&msg); rec != nil {
			got.recordings = append(got.recordings, rec)
		}
	}
	return false
}

// read reads the frame in r, unless Route has read it.
func (p *peer) read(r *request, to *Routed, got *Receipt) (msg rpc.Message, err *rpc.Error) {
	if to == nil {
		r.trim()
	}
	r.size = len(r.frame)
	*p.reading = reading{s: p.s, peer: p.state(), frame: r.frame, params: &r.params}
	switch {
	case to != nil:
		msg, r.params, p.reading.paramsRead = to.msg, to.params, to.read
		got.Method = to.Method
	default:
		if msg, err = rpc.ParseInto(r.frame, p.s.cfg.limits, p.reading); p.streams {
			got.Method = string(msg.Method)
		}
	}
	got.Kind, got.ID, got.Refused = msg.Kind, msg.ID, err
	r.repeatedKey = msg.Repeated
	return msg, err
}

// spareCalls is how many requests may be in flight before trim takes effect. Earlier, larger messages leave large buffers, which are kept
// while handlers run and count nowhere (TSK28).
const spareCalls = 256

// trim frees memory when many requests are in flight: the part of the frame's buffer beyond the message, and the other buffers if they are
// large. It is called before anything aliases the frame.
func (r *request) trim() {
	if r.reservation.s.calls.Used() <= spareCalls {
		return
	}
	if cap(r.frame) > 2*len(r.frame)+smallMessage {
		r.frame = append(make([]byte, 0, len(r.frame)), r.frame...)
	}
	r.out, r.scratch = trimmed(r.out), trimmed(r.scratch)
}

func trimmed(b []byte) []byte {
	if cap(b) > smallMessage {
		return nil
	}
	return b
}

// start routes, admits and registers a request. Then a goroutine of workers serves it; only the handshake is served before
// the next message is read, because that depends on it.
func (r *request) start(msg *rpc.Message) *refusal {
	p := r.p
	r.revision, r.id, r.can, r.raw = p.revision, msg.ID, p.can, msg.Params
	to, refused := p.reading.route(msg)
	if refused == nil && p.receiving != nil && !to.revision.Batches {
		refused = refuse(rpc.CodeInvalidRequest, "protocol revision %s has no batches: send the message alone", to.revision.Version)
	}
	if refused == nil {
		refused = r.admit(&to, msg)
	}
	if refused == nil {
		refused = r.register()
	}
	if refused == nil && p.receiving != nil {
		p.receiving.expect(r.entry)
	}
	switch {
	case refused != nil:
		return refused
	case r.method.Op == wire.OpInitialize:
		p.announceInReadLoop(msg.ID)
		p.inOrder(func() { r.serve() })
	default:
		p.workers.serve(r)
	}
	return nil
}

// peerState is what routing needs to know besides the message.
type peerState struct {
	session *revision // the session's revision, before the handshake the newest that has one; nil: the peer is of a stateless revision, or no other is served
	ready   bool      // the session's handshake is done
	hint    string    // the revision that the transport's header names, "" for none
	headers bool      // the transport has headers
}

// agreedOn reports whether the session uses the revision.
func (at *peerState) agreedOn(revision string) bool {
	return at.ready && at.session != nil && at.session.Version == revision
}

func (p *peer) state() peerState {
	if !p.revision.Handshake {
		return peerState{}
	}
	return peerState{session: p.revision, ready: p.ready}
}

// reading reads the params of one message. It does so while the frame is parsed, as params of the revision that classify expects. If
// route finds another one, it reads them again.
type reading struct {
	s      *Server
	peer   peerState
	frame  []byte
	params *wire.Params
	paramsRead
}

// paramsRead says which params were read, and by which revision.
type paramsRead struct {
	unnamed  bool         // the frame has no member with the newest stateless revision's version key, so its params need not be searched
	revision *revision    // of method, if the params were read while the frame was parsed
	method   *wire.Method // whose params were read; nil: unknown, or not read yet
	err      error        // of reading them
}

// forget drops what aliases the message.
func (rd *reading) forget() { *rd = reading{} }

// release puts a reading of Route back into its pool. As an rpc.Reader it escapes to the heap with its params, so both are reused, and Route
// copies the params: that costs less than allocating them.
func (rd *reading) release(to *sync.Pool) {
	*rd.params = wire.Params{}
	*rd = reading{params: rd.params}
	to.Put(rd)
}

// ReadParams implements rpc.Reader.
func (rd *reading) ReadParams(d *check.Decoder, method []byte) bool {
	rev := rd.classify(method)
	m := rev.methods[string(method)]
	if m == nil || m.Read == nil {
		return false
	}
	if rd.method != nil { // the message has params twice
		*rd.params = wire.Params{}
	}
	rd.revision, rd.method, rd.err = rev, m, check.Within(d, m.Read, rd.params)
	return true
}

// ReadResult implements rpc.Reader. An answer is decoded by the goroutine that waits for it.
func (rd *reading) ReadResult(*check.Decoder, rpc.ID) bool { return false }

// classify returns the revision that the message most likely belongs to, before its params were read.
func (rd *reading) classify(method []byte) *revision {
	s := rd.s
	if len(s.stateless) == 0 {
		return rd.peer.session
	}
	rev := s.stateless[0] // newest first
	if rd.unnamed = !rev.mayNameRevision(rd.frame); !rd.unnamed {
		return rev
	}
	return s.defaultRevision(rpc.KindRequest, method, rd.peer)
}

// mayNameRevision reports whether the text may contain the member that names its revision.
func (rev *revision) mayNameRevision(text []byte) bool { return check.Mentions(text, rev.versionKey) }

// defaultRevision is the revision of a message that does not name its revision.
func (s *Server) defaultRevision(kind rpc.Kind, method []byte, at peerState) *revision {
	for _, rev := range s.stateless {
		if rev.Version == at.hint {
			return rev
		}
	}
	rev := s.stateless[0]
	switch {
	case at.session == nil:
		return rev
	case at.ready || kind != rpc.KindRequest || rev.methods[string(method)] == nil:
		return at.session
	}
	if own := at.session.methods[string(method)]; own != nil && (own.Op == wire.OpInitialize || own.Op == wire.OpPing) {
		return at.session
	}
	return rev // there is no session yet
}

// route is the revision and method that serve a message.
type route struct {
	revision *revision
	method   *wire.Method // nil: unknown
	err      error        // of reading the params
}

// route finds the revision and method of each message by itself (REV02), as "Revisions side by side" in doc.go says.
func (rd *reading) route(msg *rpc.Message) (to route, refused *refusal) {
	s, at := rd.s, rd.peer
	served := at.hint == "" || slices.Contains(s.versions, at.hint)
	if len(s.stateless) == 0 {
		if !served {
			refused = s.refuseWithoutStateless("protocol version "+rpc.Quoted(at.hint)+" is not supported", at.hint)
		}
		return rd.readSession(at.session, msg), refused
	}
	rev := s.stateless[0]
	if !rd.unnamed && rev.mayNameRevision(msg.Params) {
		to = rd.readStateless(rev, msg)
		switch version := rd.params.ProtocolVersion; {
		case version != "" && at.hint != "" && at.hint != version:
			return to, mismatched(rev, at.hint, version)
		case version == rev.Version:
			return to, nil
		case version != "" && !at.agreedOn(version):
			return rd.otherRevision(msg)
		}
	}
	if !served { // the header of a message that does not name its revision may name that of a session, too
		return route{revision: rev}, s.unsupported(at.hint)
	}
	if rev = s.defaultRevision(msg.Kind, msg.Method, at); !rev.Handshake {
		return rd.readStateless(rev, msg), nil
	}
	return rd.readSession(rev, msg), nil
}

// readStateless reads the params of a message of a stateless revision. Of an unknown method, or a known one without Read, it reads the
// members that all requests have.
func (rd *reading) readStateless(rev *revision, msg *rpc.Message) route {
	to := route{revision: rev, method: rd.methodOf(rev, msg)}
	with := rev.ReadRequest
	if to.method != nil && to.method.Read != nil {
		with = to.method.Read
	}
	to.err = rd.read(to.method, msg.Params, with)
	return to
}

// readSession reads the params of a message of a handshake revision.
func (rd *reading) readSession(rev *revision, msg *rpc.Message) route {
	to := route{revision: rev, method: rd.methodOf(rev, msg)}
	if to.method != nil {
		to.err = rd.read(to.method, msg.Params, to.method.Read)
	}
	return to
}

// methodOf returns the revision's method that the message names; nil: unknown. Mostly it was looked up while the frame was parsed.
func (rd *reading) methodOf(rev *revision, msg *rpc.Message) *wire.Method {
	if rd.revision == rev && rd.method != nil && rd.method.Name == string(msg.Method) {
		return rd.method
	}
	return rev.methods[string(msg.Method)]
}

// read reads params by with, unless that was done while the frame was parsed.
func (rd *reading) read(m *wire.Method, params []byte, with func(*check.Decoder, *wire.Params)) error {
	if m != nil && rd.method == m {
		return rd.err
	}
	*rd.params = wire.Params{}
	rd.revision, rd.method, rd.err = nil, m, nil
	if with != nil {
		rd.err = check.DecodeScanned(orEmpty(params), rd.s.cfg.limits, with, rd.params)
	}
	return rd.err
}

// otherRevision routes a message that names another revision than the newest stateless one.
func (rd *reading) otherRevision(msg *rpc.Message) (to route, refused *refusal) {
	s, version := rd.s, rd.params.ProtocolVersion
	for _, rev := range s.stateless {
		if rev.Version == version {
			return rd.readStateless(rev, msg), nil
		}
	}
	return route{revision: s.stateless[0]}, s.unsupported(version)
}

// name returns the name of the method; for a known one without an allocation.
func (to *route) name(msg *rpc.Message) string {
	if to.method != nil {
		return to.method.Name
	}
	return string(msg.Method)
}

// handshake is the newest revision that begins with a handshake, nil without one.
func (s *Server) handshake() *revision {
	for _, rev := range s.revisions {
		if rev.Handshake {
			return rev
		}
	}
	return nil
}
