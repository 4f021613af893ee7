package client

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/inflight"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
)

// insist sends the answer to a request of the server whose entry is over, again after failures that may be over the next time, as long as open has not ended
// and the server has not withdrawn the request.
func (s *Session) insist(open context.Context, to origin, id rpc.ID, frame []byte) error {
	// Whoever withdraws the request finds this entry from the first attempt on.
	e, err := s.tracker.Register(open, s.key(id, inflight.Incoming), sendsAnswer)
	if err != nil { // the id is another request's by now
		err = s.link.send(inSession(s.ctx, to.session), frame, nil)
		to.notAnswered(err)
		return err
	}
	defer e.Retire()
	return s.insistWhile(e, open, to, frame, func(send func() error) error { return send() })
}

// insistWhile is insist for a request that is in flight: its end ends the sending, and so does that of life. Each attempt is a call of attempt. The
// answer is sent in no other session than that in which the request came: another has other requests with these ids.
func (s *Session) insistWhile(e *inflight.Entry, life context.Context, to origin, frame []byte, attempt func(send func() error) error) (err error) {
	if life.Err() != nil {
		return causeOf(life)
	}
	defer func() { to.notAnswered(err) }()
	e.Follow(life)
	ctx := whileOpen(inSession(s.ctx, to.session), e)
	send := func() error {
		return attempt(func() error {
			if e.Err() == nil {
				err := s.link.send(ctx, frame, nil)
				if err == nil {
					return nil
				}
				if over := e.Err(); over == nil || !errors.Is(err, over) {
					return asTransport(err)
				}
			}
			return e.Cause()
		})
	}
	err = send()
	switch {
	case err == nil:
		return nil
	case e.Err() == nil && s.link.sessionID() != to.session:
		return errNoSession
	}
	err = s.sendAgain(e, err, send)
	switch cause := e.Cause(); {
	case err == nil || cause != nil && cause.Source == inflight.SourceCompleted: // the server uses the id again, so it has the answer
		return nil
	case cause != nil && errors.Is(cause, errNoSession): // another request has found out
		return errNoSession
	case cause == nil && s.usable() == nil:
		s.cfg.logger.Warn("an answer was not delivered", "id", e.Key().ID.String(), "error", err)
	}
	return err
}

// openKey is the key of the request whose answer a message is.
type openKey struct{}

// whileOpen has a link send a message only as long as the request that it answers is open, if all messages go one way: then nothing that answers a later
// message of the server may come before it (CAN02).
func whileOpen(ctx context.Context, open *inflight.Entry) context.Context {
	return context.WithValue(ctx, openKey{}, open)
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
