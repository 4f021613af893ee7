package server

import (
	"context"

	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

// Answers reports whether the frame may be an answer to a question, however malformed.
func (to *Routed) Answers() bool { return to.msg.Answers() }

// Reserved reports whether the request is served also when the limit of requests in flight is reached, because it cancels a task or is a ping. At
// most a thousand of these exceed the limit at once.
func (to *Routed) Reserved() bool { return to.reserved }

// Exchange serves one message of a stateless revision on the caller's goroutine. It returns when the last frame is written: of a
// subscription, when that ends. The frame that to aliases must not change meanwhile. The end of ctx is the client's disconnect
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
	r.size = to.size
	r.revision, r.method, r.id, r.params, r.raw = to.revision, to.method, to.ID, to.params, to.msg.Params
	r.repeatedKey, r.header = to.msg.Repeated, to.Header
	refused := r.admitStateless(&to.msg)
	if refused == nil {
		refused = r.register()
	}
	if refused != nil {
		p.outcome.Status = refused.status
		p.refuse(r, to.ID, refused.err)
		r.release()
	} else {
		stop := r.follow(p.ctx)
		r.serve().Start()
		stop()
	}
	if p.live.done(); p.live.n.Load() > 0 {
		<-p.live.idle()
	}
	p.drainWriters() // what a handler left running may be writing
	return p.outcome
}

// Revision returns the revision with that version, or nil when it is not served.
func (s *Server) Revision(revision string) *wire.Revision {
	for _, rev := range s.revisions {
		if rev.Version == revision {
			return rev.Revision
		}
	}
	return nil
}

// Handshakes reports whether there is a revision with sessions.
func (s *Server) Handshakes() bool { return s.handshake() != nil }
