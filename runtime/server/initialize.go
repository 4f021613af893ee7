package server

import "github.com/mcpkiln/mcpkiln/runtime/rpc"

// initialize agrees on a revision: the one the client names if it is served, else our newest one, which the client
// may refuse. It runs in the read loop.
func (r *request) initialize(b []byte) ([]byte, error) {
	p := r.p
	if r.params.ProtocolVersion == "" {
		return nil, rpc.Errorf(rpc.CodeInvalidParams, "the protocol version is missing")
	}
	w := p.s.handshake()
	for _, other := range p.s.wires {
		if other.Handshake && other.Revision == r.params.ProtocolVersion {
			w = other
		}
	}
	p.wire, p.ready = w, true
	p.can = w.abilities(r.params.Capabilities)
	p.agreed.Store(w)
	p.startPings()
	p.s.log.Debug("handshake", "peer", p.id, "revision", w.Revision, "asked", r.params.ProtocolVersion, "client", string(r.params.ClientInfo))
	return w.AppendInitializeResult(b, &InitializeResult{
		ProtocolVersion: w.Revision,
		Capabilities:    p.capabilities(w),
		ServerInfo:      p.s.info,
		Instructions:    p.s.def.Instructions,
	}), nil
}

// discover tells a client of a stateless revision what it may use (EXT01).
func (r *request) discover(b []byte) ([]byte, error) {
	s := r.p.s
	return r.wire.AppendDiscoverResult(b, &DiscoverResult{
		SupportedVersions: s.revisions,
		Capabilities:      r.p.capabilities(r.wire),
		Instructions:      s.def.Instructions,
		CacheTTL:          MillisOf(s.cfg.cacheTTL),
		CacheScope:        s.cfg.cacheScope,
		ServerInfo:        s.info,
	}), nil
}
