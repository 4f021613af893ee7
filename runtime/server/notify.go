package server

import (
	"context"
	"log/slog"
	"runtime/debug"

	"github.com/mcpkiln/mcpkiln/runtime/inflight"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

// notified handles a notification in the read loop. An invalid one is ignored (CAN04).
func (p *peer) notified(r *request, msg *rpc.Message) {
	if p.s.takesNotices && p.queueNotice(r, msg) {
		return
	}
	m := p.revision.methods[string(msg.Method)]
	if m == nil && p.revision.Handshake && len(p.s.stateless) > 0 { // both kinds of revisions may be used on one connection (REV02)
		m = p.s.stateless[0].methods[string(msg.Method)]
	}
	if m != nil && m.Op == wire.OpCancelled {
		p.cancelOne(r, m, msg) // before middleware, which can not prevent a cancellation
	}
	if p.s.middleware == nil {
		p.handleNotification(r.ownValues(), m)
		return
	}
	p.passNotification(r, string(msg.Method), msg.Params, func(ctx context.Context) { p.handleNotification(ctx, m) })
}

// handleNotification handles any notification but a cancellation.
func (p *peer) handleNotification(ctx context.Context, m *wire.Method) {
	switch {
	case m == nil || !p.ready:
	case m.Op == wire.OpInitialized:
		p.begin()
	case m.Op == wire.OpRootsChanged && p.can&p.revision.tellsRoots != 0: // a client reports changes only if it has declared that it does
		p.rootsChanged(ctx)
	}
}

// rootsChanged calls the application's hook (LET12) in a goroutine of its own, because the hook may take long.
func (p *peer) rootsChanged(values context.Context) {
	changed := p.s.cfg.rootsChanged
	if changed == nil || !p.live.add() {
		return
	}
	values = context.WithoutCancel(values)
	go func() {
		defer p.live.done()
		defer func() {
			if v := recover(); v != nil {
				p.s.log.Error("panic", "handler", "WithRootsChanged", "panic", v, "stack", string(debug.Stack()))
			}
		}()
		ctx, done := p.bound(values)
		defer done()
		changed(ctx)
	}()
}

// cancelOne cancels the request that a cancellation names, or takes back its answer if that waits to be written (CAN02).
func (p *peer) cancelOne(r *request, m *wire.Method, msg *rpc.Message) {
	_ = p.reading.read(m, msg.Params, m.Read) // whatever else is wrong, an id that can be read counts (CAN27)
	if r.params.RequestID.IsZero() {
		return
	}
	key := p.key(r.params.RequestID, inflight.Incoming)
	p.cancels.Add(1) // see drainAfterCancel
	if p.batches.came.Load() {
		if e := p.s.tracker.Find(key); e == nil || !e.Protected() {
			p.batches.withdraw(key.ID, heldAnswer.isRefusal) // before the request ends, which may complete its batch
		}
	}
	outcome := p.s.tracker.Cancel(key, rpc.CutTo(r.params.Reason, maxReason))
	if outcome != inflight.Recorded { // else the request can not be cancelled: it goes on, and is answered
		p.batches.withdraw(key.ID, heldAnswer.isOfRequest)
	}
	if outcome == inflight.Unknown && p.queued != nil { // the request may have been answered already
		p.queued.Cancelled(key.ID)
	}
	p.cancels.Add(1)
}

// maxReason is how much of a client's reason for a cancellation is kept, in bytes: a handler that goes on may read it until it returns
// (TSK28).
const maxReason = 4 << 10

// answered delivers the client's answer to a request of the server, as a copy: the buffer of the frame is reused. It returns an error for an answer to a
// request that this process has not sent in the session, maybe because it was restarted since (CAN30). An answer that comes late, or twice, is no error:
// the client could not know. Such an answer waits, too, while the first one to a task's question is being recorded (DUR01).
func (p *peer) answered(msg *rpc.Message) (*recording, *rpc.Error) {
	key := p.key(msg.ID, inflight.Outgoing)
	if asked := p.s.tracker.Find(key); asked != nil {
		answer := p.copied(msg, asked.Info().Method)
		if p.s.tracker.Deliver(key, answer) {
			return p.recordings.of(msg.ID), nil
		}
		p.dropAnswer(&answer)
	}
	rec := p.recordings.of(msg.ID)
	if rec.isUnrecorded() {
		return nil, rpc.Errorf(rpc.CodeInvalidRequest, "the answer to the request %s could not be recorded: request the result of the task, then the question is asked again", msg.ID.String())
	}
	p.s.log.Debug("answer dropped: nobody waits for it", "peer", p.id, "id", msg.ID.String())
	if n, ok := msg.ID.Plain().Int(); msg.ID.IsZero() || ok && n > p.outgoingFrom && n <= p.outgoing.Load() {
		return rec, nil
	}
	return nil, rpc.Errorf(rpc.CodeInvalidRequest, "the server has not asked a request with the id %s in this session, or has restarted since", msg.ID.String())
}

// copied returns a copy of the answer to a request of the method. The copy counts in the client's account until it is read (TSK28). If it does not
// fit there, Ask or Send returns an *AnswerError instead. The content of the answer to a ping does not matter.
func (p *peer) copied(msg *rpc.Message, method string) (answer inflight.Response) {
	if method == p.revision.names[wire.OpPing] {
		return answer
	}
	answer.Result = msg.Result
	if msg.Error != nil {
		answer.Err = &rpc.Error{Code: msg.Error.Code, Message: msg.Error.Message, Data: append([]byte(nil), msg.Error.Data...)}
	}
	if n := answerSize(&answer); n > 0 {
		if err := p.charge(n); err != nil {
			err.Message = "it is not kept: " + err.Message
			return inflight.Response{Err: err, Unusable: true}
		}
	}
	answer.Result = append([]byte(nil), answer.Result...)
	return answer
}

// dropAnswer stops counting an answer that was read, or never will be.
func (p *peer) dropAnswer(answer *inflight.Response) {
	if n := answerSize(answer); n > 0 {
		p.refund(n)
	}
}

// answerSize is the number of bytes that an unread answer counts for: 0 for small ones.
func answerSize(answer *inflight.Response) int64 {
	n := len(answer.Result)
	if answer.Err != nil {
		n += len(answer.Err.Message) + len(answer.Err.Data)
	}
	if n <= smallMessage {
		return 0
	}
	return int64(n)
}

// endMalformedAnswer ends a request of the server whose answer can not be read, because no other answer will come (CAN30). It returns false if there
// is no such request.
func (p *peer) endMalformedAnswer(msg *rpc.Message, why *rpc.Error) bool {
	key := p.key(msg.ID, inflight.Outgoing)
	if msg.ID.IsZero() || p.s.tracker.Find(key) == nil {
		return false
	}
	p.s.log.Warn("answer malformed", "peer", p.id, "id", msg.ID.String(), "error", why)
	p.s.tracker.Deliver(key, inflight.Response{Err: malformedAnswer("malformed: " + why.Message), Unusable: true})
	return true
}

// ended is called when a request ends without an answer, and when somebody asks to cancel one that can not be cancelled (CAN13).
func (s *Server) ended(e *inflight.Entry, c *inflight.Cause, o inflight.CancelEffect) {
	if o == inflight.Recorded {
		if first := e.Recorded(); first != c && first.Source == c.Source {
			return // a shutdown reaches a call through its connection and by itself; a peer may ask again and again
		}
	}
	key, info := e.Key(), e.Info()
	if s.log.Enabled(context.Background(), slog.LevelInfo) {
		text := "request cancelled"
		if o == inflight.Recorded {
			text = "cancellation recorded: the request can not be cancelled"
		}
		s.log.Info(text, "id", key.ID.String(), "method", info.Method, "tool", info.Tool, "principal", info.Principal,
			"outgoing", key.Direction == inflight.Outgoing, "source", c.Source.String(), "reason", c.Reason)
	}
	if o != inflight.Cancelled || key.Direction != inflight.Incoming {
		return
	}
	if c.Source == inflight.SourceTimeout {
		s.answerTimeout(e)
	} else if p := s.peer(key.Peer); p != nil {
		p.endStream(key.ID)
	}
}

// endStream informs a session's transport that a request gets no answer.
func (p *peer) endStream(id rpc.ID) {
	if p.streams && !p.exchange {
		p.answerWithTrailer(p.revision, id, nil, nil, nil) // without drainAfterCancel: an empty frame proves nothing about other requests
	}
	if b := p.batchOf(id); b != nil {
		b.end(id)
	}
}
