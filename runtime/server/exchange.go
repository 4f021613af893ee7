package server

import (
	"context"
	"errors"

	"github.com/mcpkiln/mcpkiln/runtime/inflight"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
)

// Judge reads frame as far as it takes to know who serves it. hint is the revision that the transport was told of ("" for
// none): it decides for messages that do not say it themselves. An error is the answer to the message; a notification
// or an answer that it comes with is to be dropped.
func (s *Server) Judge(frame []byte, hint string) (j Judged, err *rpc.Error) {
	at := situation{session: s.handshake(), ready: true, hint: hint, headers: true}
	rd := &j.reading
	*rd = reading{s: s, at: at, frame: frame, params: &j.params, glance: true}
	msg, err := rpc.ParseInto(frame, s.cfg.limits, rd)
	j.Kind, j.ID, j.msg = msg.Kind, msg.ID, msg
	if err != nil {
		j.Method = string(msg.Method)
		return j, err
	}
	v, refused := rd.judge(&msg)
	j.Method = v.name(&msg)
	if v.wire != nil && !v.wire.Handshake {
		j.wire, j.Wire, j.method = v.wire, v.wire.Wire, v.method
		if refused == nil && msg.Kind == rpc.KindRequest {
			refused = rd.stands(&v, &msg, &j.params)
		}
	}
	if refused != nil {
		j.Status = refused.status
		return j, refused.err
	}
	j.name(s)
	return j, nil
}

// Answers tells whether the frame may be an answer to a question, however malformed.
func (j *Judged) Answers() bool { return j.msg.Answers() }

// name is the method's; for one that is known it costs nothing.
func (v *verdict) name(msg *rpc.Message) string {
	if v.method != nil {
		return v.method.Name
	}
	return string(msg.Method)
}

// Reserved tells whether the request is served also when the limit of requests in flight is reached: it ends others, or asks whether the
// server is there. Of those, a thousand at once are enough.
func (j *Judged) Reserved() bool { return j.method != nil && j.method.reserved() }

// name fills in what headers repeat of the body (EXT14).
func (j *Judged) name(s *Server) {
	if j.method == nil {
		return
	}
	j.Named = j.method.Header != ""
	switch {
	case j.method.Op == OpCallTool:
		j.Name, j.Tool, j.Arguments = j.params.Name, s.tools[j.params.Name], j.params.Arguments
	case j.Named:
		j.Name = member(j.msg.Params, j.method.Header)
	}
}

// Exchange serves one message of a stateless revision on the caller's goroutine until its last frame is written: also a
// subscription, which lasts. The frame that was judged must not change meanwhile. The end of ctx is the client's disconnect
// (CAN18), unless its cause is an *inflight.Cause, which is passed on; but for an outlet that is Tracked, which says itself when the
// client is gone. ctx carries the principal.
func (s *Server) Exchange(ctx context.Context, j *Judged, out Outlet) Result {
	if j.Kind != rpc.KindRequest || j.wire == nil {
		return Result{Silent: true}
	}
	p := s.newExchange(ctx, j.wire, out)
	s.addPeer(p)
	defer s.dropPeer(p)
	r := s.newRequest(p)
	r.size = len(j.reading.frame)
	r.wire, r.method, r.id, r.params, r.raw = j.wire, j.method, j.ID, j.params, j.msg.Params
	if refused := r.admitExchange(&j.msg); refused != nil {
		p.refuse(r.id, refused.err)
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
	return context.AfterFunc(ctx, func() { e.Cancel(left(ctx)) })
}

// newExchange is a peer for one request. Its requests have no other one to be confused with.
func (s *Server) newExchange(ctx context.Context, w *wire, out Outlet) *peer {
	who := RequestorFrom(ctx)
	tracked, _ := out.(Tracked)
	if tracked != nil {
		ctx = context.WithoutCancel(ctx)
	}
	p := &peer{s: s, out: out, tracked: tracked, id: s.ids.Add(1), principal: who.principal, who: who, wire: w, ctx: ctx, streams: true, exchange: true, ended: Result{Silent: true}}
	p.refuser, _ = out.(Refuser)
	p.own(ownedByNobody)
	p.live.start()
	return p
}

func (s *Server) dropPeer(p *peer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.peers, p.id)
	s.leaveAccount(p)
}

// left is why an exchange ends: its client is gone, or what the transport says.
func left(ctx context.Context) *inflight.Cause {
	if own := (*inflight.Cause)(nil); errors.As(context.Cause(ctx), &own) {
		return own
	}
	return &inflight.Cause{Source: inflight.SourceDisconnect, Err: context.Cause(ctx)}
}

// admitExchange is admit for what was judged already.
func (r *request) admitExchange(msg *rpc.Message) *refusal {
	p := r.p
	r.repeated = msg.Repeated
	if !p.serves(r.wire, r.method) {
		return unknownMethod(r.wire, msg)
	}
	r.can = p.s.declared.abilities(r.wire, r.params.ClientCapabilities)
	if refused := r.choose(); refused != nil {
		return refused
	}
	if err := r.register(); err != nil {
		return &refusal{err: err}
	}
	return nil
}
