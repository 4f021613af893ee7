package client

import (
	"github.com/mcpkiln/mcpkiln/runtime/check"
	"github.com/mcpkiln/mcpkiln/runtime/inflight"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

// receive handles one frame of the server, whose memory it may keep. from is the request on whose stream it came, nil where all messages come on one.
func (s *Session) receive(frame []byte, from *round) {
	d := s.dialect.Load()
	if rpc.IsBatch(frame) && !d.Batches && from != nil {
		from.fail(broken(from.call.op.Name, "it is a batch, which revision %s does not have", d.Version))
		return
	}
	if rpc.IsBatch(frame) && !d.Batches {
		s.refuseBatch(frame, d)
		return
	}
	if rpc.IsBatch(frame) {
		all, err := rpc.Batch(frame, s.cfg.limits)
		if err != nil {
			s.cfg.logger.Warn("a batch can not be read", "error", err)
		}
		for _, m := range all {
			s.message(m, from)
		}
		return
	}
	s.message(frame, from)
}

// refuseBatch refuses a batch in a revision that has none (CAN24). The requests that it answers end: they would wait in vain.
func (s *Session) refuseBatch(frame []byte, d *wire.Dialect) {
	all, err := rpc.Batch(frame, s.cfg.limits)
	if err != nil && check.Valid(frame, s.cfg.limits) != nil { // it may be a banner
		s.message(frame, nil)
		return
	}
	s.cfg.logger.Warn("a batch was refused", "bytes", len(frame))
	s.link.reply(origin{session: s.sessionOf(nil)}, rpc.AppendError(nil, rpc.ID{}, rpc.Errorf(rpc.CodeInvalidRequest, "revision %s has no batches", d.Version)))
	for _, one := range all {
		m, _ := rpc.Parse(one, s.cfg.limits)
		if e := s.tracker.Find(s.key(m.ID, inflight.Outgoing)); m.Answers() && e != nil {
			e.Values().(*round).fail(broken(e.Info().Method, "it is in a batch, which revision %s does not have", d.Version))
		}
	}
}

func (s *Session) message(frame []byte, from *round) {
	m, err := rpc.Parse(frame, s.cfg.limits)
	switch {
	case m.Answers() && (err == nil || from != nil || !m.ID.IsZero()): // else nothing says whose it is
		s.receiveAnswer(&m, err, from)
	case err != nil:
		s.unreadable(frame, &m, err, from)
	case m.Kind == rpc.KindRequest:
		kept := m // a request outlives this call, so it is allocated; an answer is not
		s.receiveRequest(&kept, from)
	default:
		s.receiveNotification(&m, from)
	}
}

// receiveAnswer passes an answer to the call that waits for it, also one that can not be read (CAN30). For a late one no call waits (CAN15).
func (s *Session) receiveAnswer(m *rpc.Message, bad *rpc.Error, from *round) {
	id := m.ID
	if id.IsZero() {
		if id = s.onlyRequest(from); from == nil && !id.IsZero() {
			s.cfg.logger.Warn("an error that names no request is taken for the answer to the only one that is open", "id", id.String())
		}
	}
	if from != nil && id != from.entry.ID() {
		from.stray = id
	}
	e := s.tracker.Find(s.key(id, inflight.Outgoing))
	if e != nil {
		r := e.Values().(*round)
		if bad != nil {
			r.fault(broken(e.Info().Method, "%s", bad.Message))
		}
		r.call.endQuestions(r) // before anything that is read after the answer
	}
	if e == nil || !e.Deliver(inflight.Response{Result: m.Result, Err: m.Error}) {
		s.answeredLate(id, m.Result)
	}
}

// onlyRequest returns the id of the request that an error without an id must be for: the request of its stream, or the only one in flight, unless
// the error may be for one that was given up.
func (s *Session) onlyRequest(from *round) rpc.ID {
	if from != nil {
		return from.entry.ID()
	}
	var only rpc.ID
	n := 0
	for _, r := range s.tracker.List() {
		if r.Direction == inflight.Outgoing {
			only = r.ID
			n++
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if n != 1 || len(s.late.rounds) > 0 {
		return rpc.ID{}
	}
	return only
}

// fault makes the round fail with err when it ends.
func (r *round) fault(err error) {
	r.call.mu.Lock()
	defer r.call.mu.Unlock()
	if r.violation == nil {
		r.violation = err
	}
}

// fail ends the round with err: call.await returns the fault, and the empty response only ends the entry.
func (r *round) fail(err error) {
	r.fault(err)
	r.call.s.tracker.Deliver(r.entry.Key(), inflight.Response{})
}

// unreadable handles frames that are no messages, such as a banner on standard output, and answers that name no request.
func (s *Session) unreadable(frame []byte, m *rpc.Message, err *rpc.Error, from *round) {
	if m.Kind == rpc.KindRequest {
		s.cfg.logger.Warn("a request that can not be read", "error", err.Message, "bytes", len(frame))
		to := origin{session: s.sessionOf(from)}
		if !m.ID.IsZero() { // else nothing can wait for the answer (CAN05)
			to = s.originOf(from)
		}
		s.link.reply(to, rpc.AppendError(nil, m.ID, err))
		return
	}
	text := rpc.Printable(rpc.CutTo(string(frame[:min(len(frame), maxNoise)]), 80))
	if from != nil {
		from.noise = broken(from.call.op.Name, "the response ended without an answer, and has what is no message (%s): %s", err.Message, text)
	}
	s.mu.Lock()
	ready := s.ready
	if s.inherited {
		s.noise, s.inherited = nil, false
	}
	if len(s.noise) < maxNoise {
		s.noise = append(append(s.noise, frame[:min(len(frame), maxNoise)]...), '\n')
	}
	s.mu.Unlock()
	if ready { // before, Connect reports it
		s.cfg.logger.Warn("the server wrote what is no message", "error", err.Message, "bytes", len(frame), "text", text)
	}
}

// maxNoise bounds how much noise is kept for errors, in bytes.
const maxNoise = 512

// tooLarge handles a frame that was too large to read. A request of the server is refused, if its id was read. A frame of unknown kind may be
// the answer to any request, so it ends one only if there is no other, or if it came on the stream of one.
func (s *Session) tooLarge(err *rpc.FrameError, from *round) {
	s.cfg.logger.Warn("a message was thrown away", "error", err)
	id := err.Begun.ID
	switch {
	case id.IsZero() && err.Begun.Method != nil: // it is no answer
		return
	case err.Begun.Kind == rpc.KindRequest:
		s.link.reply(s.originOf(from), rpc.AppendError(nil, id, rpc.Errorf(rpc.CodeInvalidRequest, "frame larger than the limit of %d bytes", err.Limit)))
		return
	case !err.Begun.Answers() && from == nil && !s.link.shared(): // answers have other streams
		return
	case !err.Begun.Answers():
		id = s.onlyRequest(from)
	}
	if !id.IsZero() {
		if e := s.tracker.Find(s.key(id, inflight.Outgoing)); e != nil {
			e.Values().(*round).fail(moreThanRead(e.Info().Method, err))
		}
	}
}

// receiveNotification handles a notification.
func (s *Session) receiveNotification(m *rpc.Message, from *round) {
	h := s.dialect.Load().IncomingOf(string(m.Method))
	if h == nil || !h.Notification {
		s.cfg.logger.Debug("an unknown notification", "method", string(m.Method))
		return
	}
	var v wire.Values
	if m.Params != nil {
		if err := h.Params.Read(m.Params, &v); err != nil {
			s.cfg.logger.Warn("a notification can not be read", "method", h.Name, "error", err)
			return
		}
	}
	if !s.wanted(h.Op, &v, from) {
		s.cfg.logger.Debug("a notification that nobody asked for", "method", h.Name)
		return
	}
	switch h.Op {
	case wire.OpCancelled:
		s.receiveCancellation(&v)
	case wire.OpProgress:
		s.receiveProgress(&v)
	case wire.OpAcknowledged:
		s.acknowledge(&v)
	case wire.OpTaskStatus:
		s.receiveTaskStatus(&v)
	default:
		s.events.add(h.Op, &v)
	}
}

// receiveCancellation ends a question that the server has cancelled (CAN23), or a subscription.
func (s *Session) receiveCancellation(v *wire.Values) {
	if s.endSubscription(v) {
		return
	}
	id := v.ID(wire.SlotRequestID)
	if o := s.tracker.Cancel(s.key(id, inflight.Incoming), rpc.Printable(v.Text(wire.SlotReason))); o == inflight.Unknown {
		s.cfg.logger.Debug("a cancellation of what is over, or was never asked", "id", id.String())
	}
}

// receiveProgress extends the timeout of a request, and passes progress to its caller.
func (s *Session) receiveProgress(v *wire.Values) {
	token := v.ID(wire.SlotProgressToken)
	p := Progress{Progress: v.Float(wire.SlotProgress), Total: v.Float(wire.SlotTotal), Message: v.Text(wire.SlotMessage)}
	e := s.tracker.Find(s.key(token, inflight.Outgoing))
	if e == nil && s.receiveTaskProgress(token, p) {
		return
	}
	if e == nil {
		s.cfg.logger.Debug("progress of what is over", "token", string(v[wire.SlotProgressToken]))
		return
	}
	r := e.Values().(*round)
	r.call.mu.Lock()
	defer r.call.mu.Unlock()
	if r.reports.add(p) {
		r.call.last = p
		e.Extend(r.maxExtension)
	}
}

// maxReports is how many reports wait for a slow caller.
const maxReports = 16

// reports are what a server reports on one request.
type reports struct {
	c    chan Progress // to the goroutine that passes them on; nil: nobody wants them
	any  bool
	last Progress
}

// add passes on progress that is more than the last, and returns whether it is. Other progress is dropped: the server breaks the protocol, or a newer report
// has come first, by another stream (PRO02). If the caller is slow, newer progress replaces older.
func (r *reports) add(p Progress) bool {
	if r.any && p.Progress <= r.last.Progress {
		return false
	}
	r.any, r.last = true, p
	for r.c != nil {
		select {
		case r.c <- p:
			return true
		default:
		}
		select {
		case <-r.c:
		default:
		}
	}
	return true
}
