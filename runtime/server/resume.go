package server

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"encoding/json"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

// sealedSession is the content of a sealed session name, so that any process with the key can resume the session.
type sealedSession struct {
	Revision     string          `json:"r"`
	Capabilities json.RawMessage `json:"c"`           // names of the declared capabilities
	Owner        string          `json:"o"`           // of its tasks, when it has no principal
	Client       *sealedClient   `json:"i,omitempty"` // nil: nothing is known, or it would be too long
}

type sealedClient struct {
	Name    string `json:"n,omitempty"`
	Title   string `json:"t,omitempty"`
	Version string `json:"v,omitempty"`
}

// maxSealedSession bounds the name of a session, in bytes: it is in a header of every request, and many servers and proxies accept only 8 KiB of headers.
// If it would get longer, the client's description of itself is left out.
const maxSealedSession = 2 << 10

// SealsSessions reports whether Session.Seal makes names that other processes can open: only with keys of the operator (WithSealKeys).
func (s *Server) SealsSessions() bool { return len(s.cfg.sealKeys) > 0 }

// Seal returns a name for the session by which any process with the same keys, Definition.Name and revisions can resume it until expires, for the
// same principal: see ResumeSession. Call it after the handshake.
func (ss *Session) Seal(expires time.Time) string {
	p := ss.p
	sealed := sealedSession{Revision: p.revision.Version, Capabilities: p.revision.appendAbilities(nil, p.can)}
	if p.who.principal == "" {
		sealed.Owner = p.owner
	}
	if c := p.client; c != nil {
		sealed.Client = &sealedClient{Name: c.Name, Title: c.Title, Version: c.Version}
	}
	name := p.s.sealSession(&sealed, p.who.principal, expires)
	if len(name) > maxSealedSession {
		sealed.Client = nil
		name = p.s.sealSession(&sealed, p.who.principal, expires)
	}
	return name
}

func (s *Server) sealSession(sealed *sealedSession, principal string, expires time.Time) string {
	text, _ := json.Marshal(sealed) // strings do not fail
	return s.sealer.sealText(text, s.sessionBinding(principal), expires)
}

// sessionBinding is what the name of a session is bound to: one server and one principal.
func (s *Server) sessionBinding(principal string) []byte {
	b := []byte("session\x00")
	for _, part := range [...]string{s.def.Name, principal} {
		b = append(binary.BigEndian.AppendUint64(b, uint64(len(part))), part...)
	}
	return b
}

// ResumeSession is NewSession for a session that was opened elsewhere and named by Seal. It begins after the handshake, with the outcome
// of that; its log level is the default one, and it is subscribed to nothing. ok is false when the name was changed, has expired, or
// belongs to another principal.
func (s *Server) ResumeSession(ctx context.Context, out Outlet, name string) (_ *Session, ok bool) {
	if !s.SealsSessions() || len(name) > maxSealedSession {
		return nil, false
	}
	who := RequestorFrom(ctx)
	text, err := s.sealer.openText(name, s.sessionBinding(who.principal), time.Now())
	var sealed sealedSession
	if err != nil || json.Unmarshal(text, &sealed) != nil {
		return nil, false
	}
	rev := s.sessionRevision(sealed.Revision)
	if rev == nil {
		return nil, false
	}
	var names []string
	_ = json.Unmarshal(sealed.Capabilities, &names) // Seal wrote it
	p := s.newSessionPeer(ctx, out)
	p.agree(rev)
	p.can = rev.abilitiesOf(names)
	if c := sealed.Client; c != nil {
		p.client = &Client{Name: c.Name, Title: c.Title, Version: c.Version}
	}
	p.setOwner(sealed.Owner)
	p.outgoingFrom = randomID() // requests of the other process have small ids (CAN15)
	p.outgoing.Store(p.outgoingFrom)
	p.begin()
	return s.startSession(p), true
}

// NewSessionless is NewSession for one message of a client that has no session. version is the revision that it is written in, which has a
// handshake; "" for the handshake itself. Nothing is known of the client, so it is not asked, and methods that need a session are refused.
func (s *Server) NewSessionless(ctx context.Context, out Outlet, version string) *Session {
	p := s.newSessionPeer(ctx, out)
	p.sessionless = true
	p.setOwner(ownedByNobody)
	p.level.Store(int32(silentLevel))
	if rev := s.sessionRevision(version); rev != nil {
		p.agree(rev)
		p.begin()
	}
	return s.startSession(p)
}

// sessionRevision is the revision of that name, nil if it is not served or has no handshake.
func (s *Server) sessionRevision(version string) *revision {
	for _, rev := range s.revisions {
		if rev.Handshake && rev.Version == version {
			return rev
		}
	}
	return nil
}

// agree sets the revision that the handshake agreed on.
func (p *peer) agree(rev *revision) {
	p.revision, p.ready = rev, true
	p.agreed.Store(rev)
}

// Discard ends the tasks of a session without a principal, whose client ended it.
func (ss *Session) Discard() {
	p := ss.p
	if p.s.engine != nil && p.who.principal == "" {
		p.s.engine.Discard(context.WithoutCancel(p.ctx), p.owner)
	}
}

// randomID is the number after which the ids of requests to the client begin in a session that was opened elsewhere. It is small enough to be exact as
// a JSON number, and another process is unlikely to use the same ids.
func randomID() int64 {
	var b [8]byte
	rand.Read(b[:]) // it does not fail
	return int64(binary.BigEndian.Uint64(b[:]) >> 12)
}

// refuseWithoutSession refuses methods that have no meaning for a single message.
func (p *peer) refuseWithoutSession(m *wire.Method) *refusal {
	switch m.Op {
	case wire.OpSetLevel, wire.OpSubscribe, wire.OpUnsubscribe:
		return refuse(rpc.CodeMethodNotFound, "%s needs a session, and this server is served without them", m.Name)
	}
	return nil
}
