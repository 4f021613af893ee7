package server

import (
	"context"
	"errors"

	"github.com/mcpkiln/mcpkiln/runtime/inflight"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

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
		if msg.WantsReply() {
			s.observeUnrouted(&to, err)
		}
		return to, err
	}
	v, refused := rd.route(&msg)
	to.Method = v.name(&msg)
	to.Handshake = msg.Kind == rpc.KindRequest && v.method != nil && v.method.Op == wire.OpInitialize
	if v.revision != nil && !v.revision.Handshake {
		to.revision, to.Revision, to.method = v.revision, v.revision.Revision, v.method
		if refused == nil && msg.Kind == rpc.KindRequest {
			refused = rd.validate(&v, &msg)
		}
	}
	if refused != nil {
		to.Status = refused.status
		if msg.Kind == rpc.KindRequest {
			s.observeUnrouted(&to, refused.err)
		}
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

// Answers reports whether the frame may be an answer to a question, however malformed.
func (to *Routed) Answers() bool { return to.msg.Answers() }

// Reserved reports whether the request is served also when the limit of requests in flight is reached: it ends others, or asks whether the
// server is there. Of those, a thousand at once are enough.
func (to *Routed) Reserved() bool { return to.method != nil && reserved(to.method) }

// name fills in what headers repeat of the body (EXT14).
func (to *Routed) name(s *Server) {
	if to.method == nil {
		return
	}
	to.Named = to.method.Header != ""
	switch {
	case to.method.Op == wire.OpCallTool:
		to.Name, to.Tool, to.Arguments = to.params.Name, s.tools.get(to.params.Name), to.params.Arguments
	case to.Named:
		to.Name = member(to.msg.Params, to.method.Header)
	}
}

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
func (s *Server) newExchange(ctx context.Context, rev *revision, out Outlet) *peer {
	who := RequestorFrom(ctx)
	tracked, _ := out.(Tracked)
	if tracked != nil {
		ctx = context.WithoutCancel(ctx)
	}
	p := &peer{s: s, out: out, tracked: tracked, id: s.ids.Add(1), principal: who.principal, who: who, revision: rev, ctx: ctx, streams: true, exchange: true, ended: Result{Silent: true}}
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
	for _, rev := range s.revisions {
		if rev.Version == revision {
			return rev.Revision
		}
	}
	return nil
}

// Handshakes reports whether there is a revision with sessions.
func (s *Server) Handshakes() bool { return s.handshake() != nil }
