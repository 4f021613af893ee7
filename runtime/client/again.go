package client

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/inflight"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
)

// insist sends the answer to a request of the server, again after failures that may be over the next time, as long as open has not ended and the server
// has not taken the request back. It is sent in no other session than that in which the request came: another has other requests with these ids.
func (s *Session) insist(open context.Context, session string, id rpc.ID, frame []byte) error {
	ctx := inSession(s.ctx, session)
	send := func() error {
		if err := s.link.send(ctx, frame, nil); err != nil {
			return asTransport(err)
		}
		return nil
	}
	// Whoever takes the request back finds this entry from the first attempt on.
	e, taken := s.tracker.Register(open, s.key(id, inflight.Incoming), sendsAnswer)
	if taken == nil {
		defer e.Retire()
		e.Follow(open)
		open = e
	}
	err := send()
	switch {
	case err == nil:
		return nil
	case s.link.sessionID() != session:
		return errNoSession
	case taken != nil: // the id is another request's by now
		return err
	}
	if err = s.sendAgain(open, err, send); err != nil && open.Err() == nil && s.usable() == nil {
		s.cfg.logger.Warn("an answer was not delivered", "id", id.String(), "error", err)
	}
	return err
}

// answerArrived ends the sending of an answer to a request whose id the server uses again: it has the answer, though its receipt may be on its way.
func (s *Session) answerArrived(id rpc.ID) {
	if e := s.tracker.Find(s.key(id, inflight.Incoming)); e != nil && e.Info() == sendsAnswer {
		e.Retire()
	}
}

// sendsAnswer is the Info of an entry that stands for an answer that is being sent: it has the id of its request, and no method.
var sendsAnswer inflight.Info

// sendAgain sends what has failed with err until it arrives, fails for good, or ctx ends. It returns the last error.
func (s *Session) sendAgain(ctx context.Context, err error, send func() error) error {
	for misses := 0; ; misses++ {
		wait, most := s.transient(err)
		if misses >= most || ctx.Err() != nil {
			break
		}
		if misses == 0 {
			s.cfg.logger.Warn("an answer was not delivered, and will be sent again", "error", err)
		}
		if !sleep(ctx, max(wait, backOff(defaultPoll, misses))) {
			break
		}
		err = send()
	}
	return err
}

// backOff is how long to wait after so many failures before the last one.
func backOff(first time.Duration, misses int) time.Duration { return min(first<<misses, maxBackoff) }

// maxInternal is how often in a row an internal error of the server may be transient, if it does not say so.
const maxInternal = 3

// transient returns how many failures in a row may be over the next time if the last was err, 0: none, and how long to wait at least.
func (s *Session) transient(err error) (wait time.Duration, most int) {
	var status *StatusError
	var cause *Cause
	var lost *TransportError
	var refused *Error
	most = maxMisses
	switch {
	case errors.As(err, &status) && status.transient():
		return status.RetryAfter, most
	case errors.As(err, &status):
	case errors.As(err, &lost) && s.usable() == nil:
		return 0, most
	case errors.As(err, &lost):
	case errors.As(err, &cause) && cause.Source == inflight.SourceTimeout:
		return 0, most
	case errors.As(err, &refused):
		wait, again := busy(refused)
		switch {
		case again:
			return wait, most
		case refused.Code == rpc.CodeInternalError:
			return 0, maxInternal
		}
	}
	return 0, 0
}

// busy reports whether an error says nothing but that the server can not answer now, and when it can: by its data, or by the HTTP status with which it came.
func busy(err *Error) (wait time.Duration, ok bool) {
	var data struct{ RetryAfterMs *float64 }
	if err.Data != nil && json.Unmarshal(err.Data, &data) == nil && data.RetryAfterMs != nil {
		ms := min(max(*data.RetryAfterMs, 0), maxRetryAfter*1000)
		return max(err.Wait, time.Duration(ms)*time.Millisecond), true
	}
	definite := err.Code == rpc.CodeInvalidParams || err.Code == rpc.CodeMethodNotFound
	return err.Wait, err.Busy && !definite
}
