package server

import (
	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

// handshake is what initialize agreed on. It takes effect if the answer is a result: middleware may replace the result by an error (SRV01).
type handshake struct {
	revision *revision
	can      ability
	client   *Client
}

// initialize agrees on a revision: the one the client names if it is served, else our newest one, which the client
// may refuse. It runs in the read loop.
func (r *request) initialize(b []byte) ([]byte, error) {
	p := r.p
	if r.params.ProtocolVersion == "" {
		return nil, refusedParam(atProtocolVersion, "the protocol version is missing")
	}
	rev := p.s.handshake()
	if asked := p.s.sessionRevision(r.params.ProtocolVersion); asked != nil {
		rev = asked
	}
	r.handshake = &handshake{rev, rev.abilities(r.params.Capabilities), readClient(r.params.ClientInfo)}
	return rev.AppendInitializeResult(b, &wire.InitializeResult{
		ProtocolVersion: rev.Version,
		Capabilities:    p.capabilities(rev),
		ServerInfo:      rev.info,
		Instructions:    p.s.def.Instructions,
	}), nil
}

// beginSession makes the handshake take effect. It runs in the read loop, before the answer is written: with the answer, the client may go on.
func (r *request) beginSession() {
	p, h := r.p, r.handshake
	p.agree(h.revision)
	p.can, p.client = h.can, h.client
	p.startPings()
	p.s.log.Debug("handshake", "peer", p.id, "revision", h.revision.Version, "asked", r.params.ProtocolVersion, "client", string(r.params.ClientInfo))
}

// discover tells a client of a stateless revision what it may use (EXT01).
func (r *request) discover(b []byte) ([]byte, error) {
	s := r.p.s
	return r.revision.AppendDiscoverResult(b, &wire.DiscoverResult{
		SupportedVersions: s.versions,
		Capabilities:      r.p.capabilities(r.revision),
		Instructions:      s.def.Instructions,
		CacheTTL:          wire.MillisOf(s.cfg.cacheTTL),
		CacheScope:        s.cfg.cacheScope,
		ServerInfo:        r.revision.info,
	}), nil
}
