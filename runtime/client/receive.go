package client

import (
	"github.com/mcpkiln/mcpkiln/runtime/inflight"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

// receive takes one frame of the server, which it keeps. from is the request on whose stream it came, nil where all messages come on one.
func (s *Session) receive(frame []byte, from *round) {
	if rpc.IsBatch(frame) && s.dialect.Load().Batches {
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

func (s *Session) message(frame []byte, from *round) {
	m, err := rpc.Parse(frame, s.cfg.limits)
	switch {
	case m.Answers():
		s.receiveAnswer(&m, err, from)
	case err != nil:
		s.unreadable(frame, &m, err)
	case m.Kind == rpc.KindRequest:
		kept := m // what is asked outlives its frame; an answer needs no memory of its own
		s.receiveRequest(&kept, from)
	default:
		s.receiveNotification(&m)
	}
}

// answered hands an answer to who waits for it, also one that can not be read (CAN30). Nobody waits any more for a late one (CAN15).
func (s *Session) receiveAnswer(m *rpc.Message, bad *rpc.Error, from *round) {
	id := m.ID
	if id.IsZero() {
		id = s.onlyRequest(from)
	}
	key := s.key(id, inflight.Outgoing)
	if bad != nil {
		if e := s.tracker.Find(key); e != nil {
			e.Values().(*round).fault(broken(e.Info().Method, "%s", bad.Message))
		}
	}
	if !s.tracker.Deliver(key, inflight.Response{Result: m.Result, Err: m.Error}) {
		s.answeredLate(id, m.Result)
	}
}

// onlyRequest is what an error without an id answers: the request of its stream, or the only one that there is. One that was given up and
// not answered may be meant as well.
func (s *Session) onlyRequest(from *round) rpc.ID {
	if from != nil {
		return from.entry.Key().ID
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

// fault makes err what the round fails with.
func (r *round) fault(err error) {
	r.call.mu.Lock()
	defer r.call.mu.Unlock()
	if r.violation == nil {
		r.violation = err
	}
}

// unreadable is for frames that are no messages, such as a banner on standard output.
func (s *Session) unreadable(frame []byte, m *rpc.Message, err *rpc.Error) {
	if m.Kind == rpc.KindRequest && !m.ID.IsZero() {
		s.cfg.logger.Warn("a request that can not be read", "error", err.Message, "bytes", len(frame))
		s.link.reply(rpc.AppendError(nil, m.ID, err))
		return
	}
	s.mu.Lock()
	ready := s.ready
	if len(s.noise) < maxNoise {
		s.noise = append(append(s.noise, frame[:min(len(frame), maxNoise)]...), '\n')
	}
	s.mu.Unlock()
	if ready { // before, Connect tells of it
		s.cfg.logger.Warn("the server wrote what is no message", "error", err.Message, "bytes", len(frame))
	}
}

// maxNoise is how much is kept of text that is not a message, to be shown in an error.
const maxNoise = 512

// tooLarge is for a frame that was thrown away. A request of the server's is refused, if its id was read. What does not tell its kind may have
// been the answer to any request; to the only one it surely was.
func (s *Session) tooLarge(err *rpc.FrameError) {
	s.cfg.logger.Warn("a message was thrown away", "error", err)
	id := err.Begun.ID
	switch {
	case id.IsZero() && err.Begun.Method != nil: // no answer
		return
	case err.Begun.Kind == rpc.KindRequest:
		s.link.reply(rpc.AppendError(nil, id, rpc.Errorf(rpc.CodeInvalidRequest, "frame larger than the limit of %d bytes", err.Limit)))
		return
	case !err.Begun.Answers():
		id = s.onlyRequest(nil)
	}
	if !id.IsZero() {
		if e := s.tracker.Find(s.key(id, inflight.Outgoing)); e != nil {
			e.Values().(*round).fault(broken(e.Info().Method, "%w", err))
			s.tracker.Deliver(e.Key(), inflight.Response{})
		}
	}
}

// told takes a notification.
func (s *Session) receiveNotification(m *rpc.Message) {
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

// takenBack ends a question that the server does not want to be answered any more (CAN23).
func (s *Session) receiveCancellation(v *wire.Values) {
	if s.endSubscription(v) {
		return
	}
	id := v.ID(wire.SlotRequestID)
	if o := s.tracker.Cancel(s.key(id, inflight.Incoming), rpc.Shown(v.Text(wire.SlotReason))); o == inflight.Unknown {
		s.cfg.logger.Debug("a cancellation of what is over, or was never asked", "id", id.String())
	}
}

// progressed extends the timeout of a request, and tells its caller. What the caller has no time for gives way to what is newer.
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
	e.Extend(r.maxExtension)
	r.call.mu.Lock()
	r.call.last = p
	r.call.mu.Unlock()
	if r.reports == nil {
		return
	}
	for {
		select {
		case r.reports <- p:
			return
		default:
		}
		select {
		case <-r.reports:
		default:
		}
	}
}
