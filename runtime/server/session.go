package server

import (
	"context"

	"github.com/mcpkiln/mcpkiln/runtime/inflight"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
)

// Session is one peer of a handshake revision whose messages a transport brings one by one.
type Session struct{ p *peer }

// NewSession opens a session. ctx carries the principal; only its values are used, so it may be a request's.
func (s *Server) NewSession(ctx context.Context, out Outlet) *Session { return &Session{} }

// Receive takes one frame, in order: one call at a time. It parses, registers, cancels, and starts what is to be served; the
// handshake is served before it returns. frame may be used again afterwards.
func (ss *Session) Receive(frame []byte) Receipt { return Receipt{} }

// Revision is what the handshake agreed on, "" before it. Call it after Receive or from the goroutine that receives.
func (ss *Session) Revision() string { return "" }

// Wire is what the handshake agreed on, nil before it. Call it after Receive or from the goroutine that receives.
func (ss *Session) Wire() *Wire { return nil }

// Close ends the session: what is in flight is cancelled with cause, tasks go on. It waits for handlers up to the grace
// period and then returns ErrGrace. The Outlet is not used after it returned nil.
func (ss *Session) Close(cause *inflight.Cause) error { return nil }

// Done is closed when the server shuts down: close the session then.
func (s *Server) Done() <-chan struct{} { return s.down }

// Judge reads frame as far as it takes to know who serves it. hint is the revision that the transport was told of ("" for
// none): it decides for messages that do not say it themselves. An error is the answer to the message; a notification
// or an answer that it comes with is to be dropped.
func (s *Server) Judge(frame []byte, hint string) (Judged, *rpc.Error) { return Judged{}, nil }

// Exchange serves one message of a stateless revision on the caller's goroutine until its last frame is written: also a
// subscription, which lasts. The frame that was judged must not change meanwhile. The end of ctx is the client's disconnect
// (CAN18), unless its cause is an *inflight.Cause, which is passed on. ctx carries the principal.
func (s *Server) Exchange(ctx context.Context, j *Judged, out Outlet) Result { return Result{} }
