package server

import (
	"context"
	"errors"

	"github.com/mcpkiln/mcpkiln/runtime/inflight"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

// Exchange serves one message of a stateless revision on the caller's goroutine until its last frame is written: also a
// subscription, which lasts. The frame that to aliases must not change meanwhile. The end of ctx is the client's disconnect
// (CAN18), unless its cause is an *inflight.Cause, which is passed on. A Tracked outlet says itself when the client is gone.
// ctx carries the principal.
func (s *Server) Exchange(ctx context.Context, to *Routed, out Outlet) Result {
	if to.Kind != rpc.KindRequest || to.revision == nil {
		s.exchangeNotification(ctx, to, out)
		return Result{Silent: true}
	}
	p := s.newExchange(ctx, to.revision, out)
	s.addPeer(p)
	defer s.dropPeer(p)
	r := s.newRequest(p)
	r.trim()
	r.size = len(to.reading.frame)
	r.revision, r.method, r.id, r.params, r.raw = to.revision, to.method, to.ID, to.params, to.msg.Params
	r.repeated, r.header = to.msg.Repeated, to.Header
	refused := r.admitStateless(&to.msg)
	if refused == nil {
		refused = r.register()
	}
	if refused != nil {
		p.refuse(r, r.id, refused.err)
		r.release()
	} else {
		stop := r.follow(p.ctx)
		r.serve()
		stop()
	}
	p.live.done()
	<-p.live.idle
	p.barrier() // what a handler left running may be writing
	return p.ended
}

// follow ends the exchange with ctx, and lets the transport end it.
func (r *request) follow(ctx context.Context) (stop func() bool) {
	e := r.entry
	if r.p.tracked != nil {
		r.p.tracked.InFlight(e)
	}
	if ctx.Done() == nil {
		return func() bool { return true }
	}
	return context.AfterFunc(ctx, func() { e.Cancel(disconnected(ctx)) })
}

// newExchange is a peer for one request.
func (s *Server) newExchange(ctx context.Context, w *revision, out Outlet) *peer {
	who := RequestorFrom(ctx)
	tracked, _ := out.(Tracked)
	if tracked != nil {
		ctx = context.WithoutCancel(ctx)
	}
	p := &peer{s: s, out: out, tracked: tracked, id: s.ids.Add(1), principal: who.principal, who: who, revision: w, ctx: ctx, streams: true, exchange: true, ended: Result{Silent: true}}
	p.refuser, _ = out.(Refuser)
	p.cost = requestBytes(out)
	p.own(ownedByNobody)
	p.live.start()
	return p
}

func (s *Server) dropPeer(p *peer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.peers, p.id)
	s.leaveAccount(p.account)
}

// disconnected is why an exchange ends with ctx: the transport's cause, else that the client is gone.
func disconnected(ctx context.Context) *inflight.Cause {
	if own := (*inflight.Cause)(nil); errors.As(context.Cause(ctx), &own) {
		return own
	}
	return &inflight.Cause{Source: inflight.SourceDisconnect, Err: context.Cause(ctx)}
}

// Revision returns the revision of a name, or nil when it is not served.
func (s *Server) Revision(revision string) *wire.Revision {
	for _, w := range s.revisions {
		if w.Version == revision {
			return w.Revision
		}
	}
	return nil
}

// Handshakes reports whether there is a revision with sessions.
func (s *Server) Handshakes() bool { return s.handshake() != nil }
