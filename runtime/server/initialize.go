package server

import (
	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

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
	p.agree(rev)
	p.can, p.client = rev.abilities(r.params.Capabilities), readClient(r.params.ClientInfo)
	p.startPings()
	p.s.log.Debug("handshake", "peer", p.id, "revision", rev.Version, "asked", r.params.ProtocolVersion, "client", string(r.params.ClientInfo))
	return rev.AppendInitializeResult(b, &wire.InitializeResult{
		ProtocolVersion: rev.Version,
		Capabilities:    p.capabilities(rev),
		ServerInfo:      rev.info,
		Instructions:    p.s.def.Instructions,
	}), nil
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
