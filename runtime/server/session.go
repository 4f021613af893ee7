package server

import (
	"context"

	"github.com/mcpkiln/mcpkiln/runtime/inflight"
)

// Session is one peer of a handshake revision whose messages a transport brings one by one.
type Session struct {
	p    *peer
	next *request // for the frame to come
}

// NewSession opens a session for the principal and quota key of ctx (WithPrincipal, WithQuotaKey). Nothing else of ctx is used: a request
// is served with the values of its own context; see Receive. Close the session.
func (s *Server) NewSession(ctx context.Context, out Outlet) *Session {
	p := s.newPeer(context.WithValue(withRequestor(context.Background(), RequestorFrom(ctx)), outletKey{}, out), out)
	p.streams = true
	s.addPeer(p)
	return &Session{p: p, next: s.newRequest(p)}
}

// Receive takes one frame, in order: one call at a time, none after Close. It parses, registers, cancels, and starts what is
// to be served; the handshake is served before it returns. frame may be used again afterwards. Handlers see the values of ctx, and
// none of whoever opened the session (LET07); its end means nothing.
func (ss *Session) Receive(ctx context.Context, frame []byte) (got Receipt) {
	r := ss.next
	r.values = ctx
	r.frame = append(r.frame[:0], frame...)
	taken := ss.p.receive(r, &got)
	if taken {
		ss.next = ss.p.s.newRequest(ss.p)
	} else {
		r.reuse()
	}
	return got
}

type outletKey struct{}

// OutletFrom returns the outlet of the session that a handler's context belongs to, nil without one. Transports use it for what they
// offer to handlers.
func OutletFrom(ctx context.Context) Outlet {
	out, _ := ctx.Value(outletKey{}).(Outlet)
	return out
}

// Revision is what the handshake agreed on, "" before it.
func (ss *Session) Revision() string {
	if w := ss.p.agreed.Load(); w != nil {
		return w.Revision
	}
	return ""
}

// Wire is what the handshake agreed on, nil before it.
func (ss *Session) Wire() *Wire {
	if w := ss.p.agreed.Load(); w != nil {
		return w.Wire
	}
	return nil
}

// Close ends the session: what is in flight is cancelled with cause, tasks go on. It waits for handlers up to the grace
// period and then returns ErrGrace. The Outlet is not used after it returned nil. It is called once.
func (ss *Session) Close(cause *inflight.Cause) error {
	p := ss.p
	p.end(cause)
	err := p.wait()
	p.gone.Store(true) // tasks may have something to say still
	p.barrier()
	p.s.removePeer(p)
	return err
}

// Done is closed when the server shuts down: close sessions then.
func (s *Server) Done() <-chan struct{} { return s.down }
