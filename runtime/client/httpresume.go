package client

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"syscall"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/inflight"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

// readStream reads a stream of messages until the request has its answer. Where the revision allows that, a stream that ends before is
// resumed after the last event, for as long as its server is there and the call has time: some servers have their clients poll in this way.
func (l *httpLink) readStream(ctx context.Context, resp *http.Response, r *round) error {
	received := func() {
		if !l.s.awaits(r) {
			l.linger(r)
		}
	}
	tooLarge := func(large *rpc.FrameError) {
		l.s.tooLarge(large, r)
		received()
	}
	events := &eventReader{max: l.maxBytes, retry: defaultRetry, tooLarge: tooLarge, heard: r.call.result.hear}
	resumes := r.call.dialect.HTTP.LastEventHeader
	for {
		err := events.read(resp.Body, func(data []byte) {
			l.s.receive(data, r)
			received()
		})
		_ = resp.Body.Close()
		var large *rpc.FrameError
		switch {
		case r.entry.Err() != nil || ctx.Err() != nil:
			return nil
		case errors.As(err, &large):
			return l.lose(r, moreThanRead(r.call.op.Name, err))
		case resumes == "" || events.id == "":
			if err == nil && r.noise != nil {
				return l.lose(r, r.noise)
			}
			return l.lose(r, fmt.Errorf("the stream ended without an answer: %w%s", cmp.Or(err, io.ErrUnexpectedEOF), r.mayHaveRun()))
		}
		r.call.result.lose()
		if resp, err = l.resume(ctx, events, r); err != nil {
			if ctx.Err() == nil && !errors.Is(err, errSessionGone) { // else the server has given it up, or knows
				err = l.lose(r, err)
			}
			return err
		}
	}
}

// mayHaveRun is what the error of a request without an answer adds if it can have had effects.
func (r *round) mayHaveRun() string {
	if r.call.op.Op != wire.OpCallTool {
		return ""
	}
	return "; the call may have run"
}

// lose ends a request whose stream was lost, and returns why. In revisions in which the end of a stream does not say so, the server is told, except of
// a request for the result of a task, which is repeated.
func (l *httpLink) lose(r *round, why error) error {
	if !l.giveUpTells(r.call.dialect) && r.call.result == nil {
		l.s.giveUp(r.entry, r, &Cause{Source: inflight.SourceCaller, Reason: "its stream has ended without an answer, and is not resumed"})
	}
	r.fail(asTransport(why)) // here, since giveUp ends the context of the exchange
	return why
}

// defaultRetry is how long a client waits before it resumes a stream, if the server has not said.
const defaultRetry = time.Second

// minRetry is how long it waits at least: a server that ends its streams at once must not make the client spin.
const minRetry = 50 * time.Millisecond

// maxResumes is how often in a row is tried to resume a stream, and maxRefusals how often if connections are refused. A refused connection mostly
// means that the server and its streams are gone, so there are fewer tries.
const (
	maxResumes  = 5
	maxRefusals = 3
)

// resume resumes a stream, after the time that the server wants.
func (l *httpLink) resume(ctx context.Context, events *eventReader, r *round) (*http.Response, error) {
	var why error
	wait, refusals := max(events.retry, minRetry), 0
	for tries, after := 0, time.Duration(0); ; tries++ {
		if tries == maxResumes || refusals == maxRefusals {
			return nil, fmt.Errorf("the stream ended without an answer, and could not be resumed: %w%s", why, r.mayHaveRun())
		}
		if !sleep(ctx, max(min(wait<<tries, max(wait, time.Minute)), after)) {
			return nil, ctx.Err()
		}
		after = 0
		d := r.call.dialect
		req, err := l.request(ctx, http.MethodGet, nil)
		if err != nil {
			return nil, err
		}
		req.Header.Set("Accept", "text/event-stream")
		req.Header.Set(d.HTTP.LastEventHeader, events.id)
		session := l.identify(req, d)
		if r.session != "" && session != r.session { // the new session does not know the event
			return nil, r.sessionGone()
		}
		resp, err := l.do(req)
		switch {
		case err != nil:
			l.s.cfg.logger.Debug("a stream was not resumed", "error", err)
			if why = err; errors.Is(err, syscall.ECONNREFUSED) {
				refusals++
			}
			continue
		case resp.StatusCode == http.StatusOK && isEventStream(resp):
			return resp, nil
		}
		status := l.status(resp)
		_ = resp.Body.Close()
		if !status.transient() {
			return nil, r.notResumed(resp, status, session)
		}
		why, after = fmt.Errorf("HTTP status %d %s", resp.StatusCode, http.StatusText(resp.StatusCode)), status.RetryAfter
	}
}

// errSessionGone is not errNoSession: the request was served, perhaps to its end.
var errSessionGone = errors.New("the stream ended without an answer, and the server has ended the session")

func (r *round) sessionGone() error { return fmt.Errorf("%w%s", errSessionGone, r.mayHaveRun()) }

// notResumed returns the error of a request whose stream the server does not resume. It is no *StatusError, which would look like that of the request
// itself, except where the server wants the caller to log in; that one says so.
func (r *round) notResumed(resp *http.Response, status *StatusError, session string) error {
	const ended = "the stream ended without an answer, and the server "
	ran := r.mayHaveRun()
	switch {
	case resp.StatusCode == http.StatusUnauthorized || resp.StatusCode == http.StatusForbidden:
		status.means = "; " + ended + "does not resume it" + ran
		return status
	case resp.StatusCode == http.StatusNotFound && session != "":
		return r.sessionGone()
	case resp.StatusCode == http.StatusOK:
		return fmt.Errorf(ended+"does not resume it: it answers with Content-Type %q%s", resp.Header.Get("Content-Type"), ran)
	}
	return fmt.Errorf(ended+"does not resume it: HTTP status %d %s%s", resp.StatusCode, http.StatusText(resp.StatusCode), ran)
}
