package server

import (
	"context"
	"crypto/rand"
	"errors"

	"github.com/mcpkiln/mcpkiln/runtime/inflight"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

// Session is a session in a handshake revision. A transport gives it the client's messages one by one.
type Session struct{ p *peer }

// NewSession opens a session for the principal and quota key of ctx (WithPrincipal, WithQuotaKey). Nothing else of ctx is used: a request
// is served with the values of its own context; see Receive. Close the session.
func (s *Server) NewSession(ctx context.Context, out Outlet) *Session {
	return s.startSession(s.newSessionPeer(ctx, out))
}

func (s *Server) newSessionPeer(ctx context.Context, out Outlet) *peer {
	p := s.newPeer(context.WithValue(withRequestor(context.Background(), RequestorFrom(ctx)), outletKey{}, out), out)
	p.streams = true
	if s.SealsSessions() { // another process may resume it: a caller without an identity owns its tasks by this name, which is sealed with it
		p.setOwner(ownedBySession + rand.Text())
	}
	return p
}

// startSession returns the session of p. If an observer ends the goroutine by runtime.Goexit, no caller gets the session, which is closed.
func (s *Server) startSession(p *peer) *Session {
	ss, opened := &Session{p}, false
	s.addPeer(p)
	defer func() {
		if !opened {
			s.log.Error("an observer ended the goroutine that opens a session: runtime.Goexit", "peer", p.id)
			_ = ss.Close(&inflight.Cause{Source: inflight.SourceDisconnect, Err: errOpeningExited}) // nothing runs in it
		}
	}()
	p.observe(ConnectionOpened)
	opened = true
	if p.ready { // resumed: its handshake is done
		p.startPings()
	}
	return ss
}

// errOpeningExited is the error of a session that no caller got.
var errOpeningExited = errors.New("server: an observer ended the goroutine that opens a session: runtime.Goexit")

// Receive takes one frame, in order: one call at a time, none after Close. It parses, registers, cancels, and starts what is to be
// served; the handshake is served before it returns. frame may be reused afterwards. Handlers see the values of ctx, not those of
// the context that opened the session (LET07); the end of ctx has no effect.
func (ss *Session) Receive(ctx context.Context, frame []byte) Receipt {
	return ss.ReceiveWithHeader(ctx, nil, frame)
}

// ReceiveWithHeader is Receive for a message that came with the header of an HTTP request, which is not changed afterwards: handlers read
// it with Call.Header (SRV03).
func (ss *Session) ReceiveWithHeader(ctx context.Context, header Header, frame []byte) (got Receipt) {
	r := ss.p.s.newRequest(ss.p)
	r.values, r.header = ctx, header
	r.frame = append(r.frame[:0], frame...)
	if !ss.p.receive(r, nil, &got) {
		r.release()
	}
	return got
}

// ReceiveRouted is ReceiveWithHeader for a message that Route has read as a session's, without an error. It keeps the buffer of frame, which is no
// longer the caller's however the call ends, and returns another one that the caller may use.
func (ss *Session) ReceiveRouted(ctx context.Context, to *Routed, frame []byte) (got Receipt, spare []byte) {
	r := ss.p.s.newRequest(ss.p)
	r.trim()
	r.values, r.header = ctx, to.Header
	spare, r.frame = r.frame[:0], frame
	if !ss.p.receive(r, to, &got) {
		r.release()
	}
	return got, spare
}

// Batch returns the ids of the requests in an array of messages, or the error of an array that can not be received.
func (s *Server) Batch(frame []byte) (ids []rpc.ID, err *rpc.Error) {
	messages, err := rpc.Batch(frame, s.cfg.limits)
	for _, m := range messages {
		if msg, _ := rpc.Parse(m, s.cfg.limits); msg.Kind == rpc.KindRequest && !msg.ID.IsZero() {
			ids = append(ids, msg.ID)
		}
	}
	return ids, err
}

// ReceiveBatch is ReceiveWithHeader for an array of messages, in revisions that have them. Its answers are written as one array, as far as
// they fit into the account; about is the id, of the caller's choice, that the array is written about. Other messages, before the array, are written about
// the id of their request.
func (ss *Session) ReceiveBatch(ctx context.Context, header Header, frame []byte, about rpc.ID) (got Receipt) {
	r := ss.p.s.newRequest(ss.p)
	r.values, r.header, r.about = ctx, header, about
	r.frame = append(r.frame[:0], frame...)
	ss.p.receive(r, nil, &got)
	r.release() // each message of the array has a request of its own
	return got
}

// Interrupt cancels the contexts of middleware that runs within Receive, so that it returns: Close must not be called before. Call it with the cause
// that Close gets.
func (ss *Session) Interrupt(cause *inflight.Cause) {
	if p := ss.p; p.s.middleware != nil {
		p.closing.Store(true)
		p.cancel(cause)
	}
}

type outletKey struct{}

// OutletFrom returns the outlet of the session that a handler's context belongs to, nil without one. Transports use it for functions that they
// offer to handlers.
func OutletFrom(ctx context.Context) Outlet {
	out, _ := ctx.Value(outletKey{}).(Outlet)
	return out
}

// Version is the name of the revision that the handshake agreed on, "" before the handshake.
func (ss *Session) Version() string {
	if rev := ss.p.agreed.Load(); rev != nil {
		return rev.Version
	}
	return ""
}

// Revision is the revision that the handshake agreed on, nil before the handshake.
func (ss *Session) Revision() *wire.Revision {
	if rev := ss.p.agreed.Load(); rev != nil {
		return rev.Revision
	}
	return nil
}

// Close ends the session: what is in flight is cancelled with cause, tasks go on if somebody can ask for them (TSK06). Close waits for handlers up to the
// grace period and then returns ErrGrace; calls that can not be cancelled go on after that, unless cause is a shutdown (CAN14). The Outlet is not used
// after Close has returned nil. Call Close once, when the last Receive has returned (Interrupt).
func (ss *Session) Close(cause *inflight.Cause) error {
	p := ss.p
	p.end(cause)
	err := p.wait()
	p.gone.Store(true) // a task that goes on must not write to the outlet any more
	p.drainWriters()
	p.s.removePeer(p)
	return err
}

// EndsTasks reports whether tasks that are not finished would end with the session, because its client has no identity and no other process can resume it.
func (ss *Session) EndsTasks() bool { return ss.p.ownTasks.Load() > 0 }

// Done is closed when the server shuts down: close sessions then.
func (s *Server) Done() <-chan struct{} { return s.down }
