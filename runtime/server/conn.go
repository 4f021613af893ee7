package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os/signal"
	"slices"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/inflight"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
)

// ErrGrace: handlers were still running when the grace period was over. They keep their goroutines.
var ErrGrace = errors.New("server: handlers did not return within the grace period")

// ErrUnanswered: the input ended, and requests were still running when the grace period after that was over. They got no answer.
var ErrUnanswered = errors.New("server: requests outlived the end of the input and were not answered")

// ErrShutdown is what Serve returns after Shutdown.
var ErrShutdown = errors.New("server: shut down")

// errReaderExited ends a connection whose read loop ended by runtime.Goexit, in code of the application that is called when a connection opens
// or a message is read.
var errReaderExited = errors.New("server: a filter or an observer ended the goroutine that reads the connection: runtime.Goexit")

// Serve serves conn and closes it. It returns after everything it started has ended: nil when the peer is done, the error of a read or write, the
// cause of ctx or ErrShutdown when it was stopped, ErrStalled when others waited for what the peer did not read, ErrSilent when it did not answer a
// ping; joined with ErrGrace when a handler did not return. At the end of input, requests that were read are answered within the grace period
// (CAN26); those in flight after that end with cause disconnect, or shutdown, and the error is ErrUnanswered with their number. Calls that can not be
// cancelled go on after a disconnect (CAN14), and Shutdown waits for them. Tasks outlive the
// connection (TSK06) if their owner does: an identity, or the process that started this one (rpc.Stdio). Those of any other connection end with it.
func (s *Server) Serve(ctx context.Context, conn rpc.Conn) error {
	why, late := s.serve(ctx, conn)
	return errors.Join(why, late)
}

// serve is Serve with two errors: why the connection ended, and late, that handlers did not return in time or closing failed.
func (s *Server) serve(ctx context.Context, conn rpc.Conn) (why, late error) {
	if why = s.stopped(ctx); why != nil {
		return why, conn.Close() // whether or not the peer is done as well
	}
	out := newConnOutlet(conn)
	p := s.newPeer(ctx, out)
	p.inputOver = make(chan struct{})
	p.workers.keepOne()
	defer p.workers.release()
	if l, ok := conn.(local); ok && l.Local() && p.who.principal == "" {
		p.owner = ownedByLocal
	}
	s.addPeer(p)
	defer s.removePeer(p)

	var gone <-chan struct{}
	if watched, ok := conn.(rpc.Watched); ok {
		gone = watched.Gone()
	}
	read := make(chan error, 1)
	go func() {
		why := errReaderExited
		defer func() { read <- why }()
		p.observe(ConnectionOpened) // here, so that an observer which exits ends the connection
		why = p.readLoop(conn)
	}()
	select {
	case why = <-read:
		read <- nil
		if why == nil {
			why = p.drain(ctx, gone, out.failed)
		}
		cause := &inflight.Cause{Source: inflight.SourceDisconnect, Err: why}
		if s.stopped(ctx) != nil { // while it was drained
			cause.Source, cause.Reason = inflight.SourceShutdown, s.stopReason(ctx)
		}
		p.end(cause)
	case why = <-out.failed:
		p.end(&inflight.Cause{Source: inflight.SourceDisconnect, Err: why})
	case <-gone:
		p.end(&inflight.Cause{Source: inflight.SourceDisconnect, Reason: "the client closed its input"})
	case <-ctx.Done():
		why = context.Cause(ctx)
		p.end(&inflight.Cause{Source: inflight.SourceShutdown, Reason: s.stopReason(ctx)})
	case <-s.down:
		why = ErrShutdown
		p.end(&inflight.Cause{Source: inflight.SourceShutdown, Reason: s.stopReason(ctx)})
	}
	if errors.Is(why, ErrStalled) || errors.Is(why, ErrSilent) {
		_ = conn.Close() // what is being written ends; finish returns the same error
	}
	return why, p.finish(conn, read)
}

// stopped returns why nothing is served any more, nil if the server still serves.
func (s *Server) stopped(ctx context.Context) error {
	select {
	case <-s.down:
		return ErrShutdown
	default:
		return context.Cause(ctx)
	}
}

// stopReason is why what ctx belongs to stops, for handlers and the log (CAN13): the end of ctx, else the server's shutdown; "" while neither has come.
func (s *Server) stopReason(ctx context.Context) string {
	if err := context.Cause(ctx); err != nil {
		return err.Error()
	}
	select {
	case <-s.down:
		return s.downReason
	default:
		return ""
	}
}

// end stops taking requests and cancels what is in flight (CAN21). The read loop refuses requests until its connection is closed:
// nothing else can interrupt the loop.
func (p *peer) end(cause *inflight.Cause) {
	p.closing.Store(true)
	p.pulse.stop()
	if p.stops = cause.Source == inflight.SourceShutdown; p.stops {
		p.s.endListens(p)
	}
	p.cancel(cause)
	p.s.tracker.CancelPeer(p.id, cause)
	p.release()
}

// drain waits until the requests that were read are answered, after the end of input (CAN26): a peer that sends no more may still read. It returns
// when nothing of the peer runs any more, when the grace period is over, or when there is another reason to end. Questions to the peer end at once,
// because nothing can answer them, and so do subscriptions, because nothing can end them. The error is ErrUnanswered,
// or why the connection ends.
func (p *peer) drain(ctx context.Context, gone <-chan struct{}, failed <-chan error) error {
	close(p.inputOver)
	p.begin() // allows questions: whoever waits to ask goes on, and fails
	p.s.tracker.CancelOutgoing(p.id, errInputEnded)
	select {
	case <-gone:
		return nil
	default:
	}
	p.s.endListens(p)
	p.release()
	grace := time.NewTimer(p.s.cfg.grace)
	defer grace.Stop()
	select {
	case <-gone:
	case <-p.live.idle():
	case <-grace.C:
		return p.unanswered()
	case err := <-failed:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-p.s.down:
		return ErrShutdown
	}
	return nil
}

// unanswered cancels the requests that are left when the grace period after the end of input is over.
func (p *peer) unanswered() error {
	late := &inflight.Cause{Source: inflight.SourceDisconnect, Reason: "the client closed its output, and the grace period is over"}
	if n := p.s.tracker.CancelPeer(p.id, late); n > 0 {
		return fmt.Errorf("%w: %d after %v", ErrUnanswered, n, p.s.cfg.grace)
	}
	return nil
}

// inputEnded reports whether nothing is read any more from the peer's connection.
func (p *peer) inputEnded() bool {
	select {
	case <-p.inputOver:
		return true
	default: // also where there is no connection
		return false
	}
}

// errInputEnded is the error of questions to a peer that sends no more.
var errInputEnded = &inflight.Cause{Source: inflight.SourceDisconnect, Reason: "the client closed its output, so it can not answer"}

// release takes the peer itself out of live, which is idle from then on when nothing of the peer runs any more.
func (p *peer) release() {
	if !p.released.Swap(true) {
		p.live.done()
	}
}

// wait returns when nothing of the peer runs any more, or with ErrGrace after the grace period. Then a shutdown also cancels the calls that can not be
// cancelled by their client; after a disconnect they run to their end (CAN14).
func (p *peer) wait() error {
	grace := time.NewTimer(p.s.cfg.grace)
	defer grace.Stop()
	select {
	case <-p.live.idle():
		return nil
	case <-grace.C:
	}
	if p.live.n.Load() == 0 { // select chooses at random if both have come
		return nil
	}
	if p.stops {
		p.s.tracker.CancelPeer(p.id, &inflight.Cause{Source: inflight.SourceShutdown, Reason: "the grace period is over", Force: true})
	} else if left, writing := p.unfinished(); left > writing { // Shutdown does not wait once more for a client that does not read
		p.s.leaveRunning(p)
	}
	for {
		left, writing := p.unfinished()
		if left > writing || !p.streams { // a connection is about to be closed, which ends its writers
			return fmt.Errorf("%w: %s", ErrGrace, leftText(left, writing))
		}
		p.giveUp()
		grace.Reset(LateStall)
		select {
		case <-p.live.idle():
			return nil
		case <-grace.C:
		}
	}
}

// unfinished returns how many requests of the peer are not over, and how many of them only wait for their answers to be written.
func (p *peer) unfinished() (left, writing int64) {
	writing = p.writing.Load() // before left, so that a writer that ends in between does not count as a late handler
	left = p.live.n.Load()
	return left, min(writing, left)
}

func leftText(left, writing int64) string {
	return fmt.Sprintf("%d are left, %d of them have returned and wait for the client to read", left, writing)
}

// leaveRunning notes that handlers of a peer that is gone still run, so that Shutdown waits for them.
func (s *Server) leaveRunning(p *peer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.late = append(slices.DeleteFunc(s.late, func(p *peer) bool { return p.live.n.Load() == 0 }), p)
}

// Grace is the time that requests in flight have at the end; see WithGrace.
func (s *Server) Grace() time.Duration { return s.cfg.grace }

// local is a connection that may lead to the process that started this one; see rpc.LineOptions.
type local interface{ Local() bool }

// finish waits for what runs, closes the connection and waits for the read loop, unless that is in middleware that does not return.
func (p *peer) finish(conn rpc.Conn, read <-chan error) error {
	late := p.wait()
	closed := conn.Close()
	if late == nil || !p.passing.Load() {
		<-read
	}
	if late != nil {
		return late
	}
	return closed
}

// readLoop takes frames until the peer is done. Each one is read into the buffer of a request, so that the frame of a
// request needs no copy.
func (p *peer) readLoop(conn rpc.Conn) error {
	r := p.s.newRequest(p)
	var got Receipt // for transports
	for {
		frame, err := conn.ReadFrame(r.frame[:0])
		if err != nil {
			if tooLarge := (*rpc.FrameError)(nil); errors.As(err, &tooLarge) {
				p.refuseFrame(r, tooLarge)
				continue
			}
			r.release()
			if broken := (*rpc.BrokenOffError)(nil); errors.As(err, &broken) {
				p.s.log.Warn("the client closed its output within a message, which is dropped", "peer", p.id, "bytes", broken.Bytes)
			}
			if errors.Is(err, io.EOF) || errors.Is(err, rpc.ErrClosed) {
				return nil
			}
			return err
		}
		r.frame = frame
		if p.receive(r, nil, &got) {
			r = p.s.newRequest(p)
		} else {
			r.reuse()
		}
	}
}

// refuseFrame refuses a frame that was too large to be read, if its beginning says what it was: a request is answered with an error, and the question
// to which it was the answer ends.
func (p *peer) refuseFrame(r *request, large *rpc.FrameError) {
	err := rpc.Errorf(rpc.CodeInvalidRequest, "frame larger than the limit of %d bytes", large.Limit)
	if m := &large.Begun; m.Answers() {
		p.endMalformedAnswer(m, err)
	} else if m.WantsReply() {
		p.refuse(r, m.ID, err)
	}
}

// Shutdown ends all connections and tasks gracefully, until ctx ends (CAN21). The server serves nothing afterwards.
func (s *Server) Shutdown(ctx context.Context) error { return s.shutdown(ctx, "") }

// shutdown is Shutdown for a reason, which what it ends is told (CAN13).
func (s *Server) shutdown(ctx context.Context, reason string) error {
	s.mu.Lock()
	select {
	case <-s.down:
	default:
		s.downReason = reason
		close(s.down)
	}
	reason = s.downReason
	peers := slices.AppendSeq(slices.Clone(s.late), maps.Values(s.peers))
	s.mu.Unlock()
	s.endListens(nil)
	s.tracker.Shutdown(reason, false)
	var err error
	if s.engine != nil {
		err = s.engine.CloseFor(ctx, reason)
	}
	for _, p := range peers {
		err = cmp.Or(err, p.waitIdle(ctx))
	}
	s.tracker.Shutdown(reason, true)
	s.records.Flush(ctx)
	return err
}

// waitIdle waits until nothing of the peer runs. If nothing does, it returns nil even when ctx has ended.
func (p *peer) waitIdle(ctx context.Context) error {
	select {
	case <-p.live.idle():
		return nil
	default:
	}
	select {
	case <-p.live.idle():
		return nil
	case <-ctx.Done():
		return fmt.Errorf("the handlers of a client did not return in the time for the shutdown: %s: %w", leftText(p.unfinished()), context.Cause(ctx))
	}
}

// Run serves conn until its end or the first signal of EndSignals, then shuts the server down gracefully; a
// second signal ends the process at once (CAN21). It is what the main function of a stdio server calls.
func (s *Server) Run(ctx context.Context, conn rpc.Conn) error {
	ctx, stop := signal.NotifyContext(ctx, EndSignals()...)
	defer stop()
	// After the first signal the next one has its usual effect again.
	context.AfterFunc(ctx, stop)
	served := make(chan struct{})
	var why, late error
	go func() {
		defer close(served)
		why, late = s.serve(ctx, conn)
	}()
	select {
	case <-served:
	case <-ctx.Done(): // connection and tasks share one grace period
	}
	stopped := ctx.Err() != nil
	ended, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.cfg.grace+LateStall) // tasks that end with the grace period have a moment to return
	defer cancel()
	down := s.shutdown(ended, s.stopReason(ctx))
	<-served
	s.records.Flush(context.WithoutCancel(ctx)) // ended may be over
	if stopped {
		why = nil // being stopped is no failure
	}
	return errors.Join(why, late, down)
}
