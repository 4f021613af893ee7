package client

import (
	"context"
	"errors"
	"net"
	"net/http"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/inflight"
	"github.com/mcpkiln/mcpkiln/runtime/internal/exact"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
)

// insist sends the answer to a request of the server that is in flight, again after transient failures. The sending ends with the request, for example because
// the server withdraws it, and with life. attempt is called for each attempt, and calls send. The answer is sent in no other session than that in which the
// request came: in another one the same id is that of another request.
func (s *Session) insist(e *inflight.Entry, life context.Context, to origin, frame []byte, attempt func(send func() error) error) (err error) {
	if life.Err() != nil {
		return causeOf(life)
	}
	defer func() { to.notAnswered(err) }()
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
				return unconfirmed(e.Cause(), !s.link.shared()) // a shared link has not written it (whileOpen)
			}
			return e.Cause()
		})
	}
	err = send()
	e.Follow(life) // not before: each question gets an answer
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
	case cause != nil && errors.Is(cause, errNoSession): // another request has found that the session is gone
		return errNoSession
	case cause == nil && s.usable() == nil:
		s.cfg.logger.Warn("an answer was not delivered", "id", e.ID().String(), "error", err)
	}
	return err
}

// openKey is the context key of the entry of the request that a message answers.
type openKey struct{}

// whileOpen has a shared link send a message only while the request that it answers is open: so no answer to a later message of the server comes before the
// answer to a request that the server has cancelled (CAN02).
func whileOpen(ctx context.Context, open *inflight.Entry) context.Context {
	return context.WithValue(ctx, openKey{}, open)
}

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

// backOff is how long to wait after a failure that so many others came before.
func backOff(first time.Duration, misses int) time.Duration { return min(first<<misses, maxBackoff) }

// maxInternal is how often in a row to try again after an internal error of the server that does not say that it is transient, and after an answer about a
// task that is none.
const maxInternal = 3

// transient returns how often in a row to try again at most if attempts fail with err, 0: not at all, and how long to wait at least.
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
	var data struct {
		RetryAfterMs *float64 `json:"retryAfterMs"`
	}
	if err.Data != nil && exact.Unmarshal(err.Data, &data) == nil && data.RetryAfterMs != nil {
		ms := min(max(*data.RetryAfterMs, 0), maxRetryAfter*1000)
		return max(err.Wait, time.Duration(ms)*time.Millisecond), true
	}
	definite := err.Code == rpc.CodeInvalidParams || err.Code == rpc.CodeMethodNotFound
	return err.Wait, err.Busy && !definite
}

// refused reports whether a server has said for good that it does not take an answer.
func refused(err error) bool {
	var status *StatusError
	var said *Error
	if errors.As(err, &said) {
		_, later := busy(said)
		return !later
	}
	return errors.Is(err, errNoSession) || errors.As(err, &status) && !status.transient()
}

// tooLate returns the error of an answer whose question the server has withdrawn; err is that of sending it. What is over is the question, whatever the last
// attempt has failed with. An acknowledgement that comes after the withdrawal does not say that the answer was used.
func tooLate(withdrawal *Cause, err error) error {
	switch {
	case err == nil:
		return unconfirmed(withdrawal, true)
	case errors.As(err, new(*Cause)):
		return err
	}
	told := *withdrawal
	told.Err = err
	return &told
}

// mayHaveArrived reports whether a server may have an answer, although sending it has failed.
func mayHaveArrived(err error) bool { return !refused(err) && !isBusy(err) && !isUnsent(err) }

// isUnsent reports whether the server was not reached.
func isUnsent(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "dial"
}

// isBusy reports whether a server has said that it does not take an answer now.
func isBusy(err error) bool {
	var status *StatusError
	return errors.As(err, &status) && (status.Status == http.StatusServiceUnavailable || status.Status == http.StatusTooManyRequests)
}
