package client

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/client/internal/address"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

// exchange sends a request and passes the messages of its response to the session. st is what giveUp needs to know of the request's HTTP stream.
func (l *httpLink) exchange(ctx context.Context, frame []byte, r *round, st *stream) {
	defer func() {
		r.giveUpEnded() // what has ended the request may not have done so yet, and can not once the stream is forgotten (CAN17)
		close(st.ended)
		st.noteBegun()
		st.cancel()
		l.mu.Lock()
		if st.lingerTimer != nil {
			st.lingerTimer.Stop()
		}
		delete(l.streams, r)
		if !st.endedLater {
			l.forget(st)
		}
		l.mu.Unlock()
		l.s.forgetLate(r.entry.ID())
	}()
	ctx = context.WithValue(ctx, roundKey{}, r) // Asking pauses the clock of its call
	err := l.roundTrip(ctx, frame, r, st)
	if err == nil && r.entry.Err() == nil { // Err is set as soon as the entry is over, by an answer too
		err = broken(r.call.op.Name, "the response ended without an answer")
		switch {
		case r.noise != nil:
			err = r.noise
		case !r.stray.IsZero():
			err = broken(r.call.op.Name, "the response answers request %s, not %s, which it is for", r.stray.String(), r.entry.ID().String())
		}
	}
	if err != nil && ctx.Err() == nil {
		r.fail(asTransport(err))
	}
}

// asTransport returns the error of a request whose response has no answer: a *TransportError, unless err says more.
func asTransport(err error) error {
	var status *StatusError
	var bad *ProtocolError
	var refused *Error
	if errors.As(err, &status) || errors.As(err, &bad) || errors.As(err, &refused) || errors.Is(err, errNoSession) {
		return err
	}
	return &TransportError{Err: err}
}

func (l *httpLink) roundTrip(ctx context.Context, frame []byte, r *round, st *stream) error {
	trace := &httptrace.ClientTrace{WroteRequest: func(httptrace.WroteRequestInfo) { st.noteWritten() }, GotFirstResponseByte: st.noteBegun}
	req, err := l.request(httptrace.WithClientTrace(ctx, trace), http.MethodPost, frame)
	if err != nil {
		return err
	}
	d, begins := r.call.dialect, r.call.op.Op == wire.OpInitialize
	session := ""
	if !begins {
		session = l.identify(req, d)
		r.session = session
	}
	maps.Copy(req.Header, st.header)
	resp, err := l.do(req)
	switch {
	case errors.Is(err, io.EOF):
		return fmt.Errorf("the server closed the connection without an answer: %w", err)
	case err != nil:
		return err
	}
	defer resp.Body.Close()
	st.noteBegun()
	switch {
	case resp.StatusCode == http.StatusNotFound && session != "":
		return l.unknownSession(resp, "; the server does not know the session: the call was not served, and may be sent again")
	case begins && resp.StatusCode == http.StatusOK && d.HTTP.SessionHeader != "":
		r.session = resp.Header.Get(d.HTTP.SessionHeader)
		if !l.begun(r, st) {
			return nil
		}
	}
	return l.read(ctx, resp, r, st)
}

// unknownSession returns the error for a 404 with which the server does not take a message, an errNoSession.
func (l *httpLink) unknownSession(resp *http.Response, means string) error {
	err := l.status(resp)
	err.noSession, err.means = true, means
	return err
}

// read reads a response by its type. The body of an error may be a message, too.
func (l *httpLink) read(ctx context.Context, resp *http.Response, r *round, st *stream) error {
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	switch {
	case kind == "text/event-stream" && resp.StatusCode == http.StatusOK:
		return l.readStream(ctx, resp, r)
	case resp.StatusCode == http.StatusUnauthorized || resp.StatusCode == http.StatusForbidden || resp.StatusCode == http.StatusMethodNotAllowed:
		return l.status(resp)
	case kind == "application/json":
		st.answering.Store(true) // the body is the answer: giving up waits longer for it
		return l.readMessage(resp, r)
	case resp.StatusCode == http.StatusAccepted || resp.StatusCode == http.StatusNoContent:
		return broken(r.call.op.Name, "HTTP status %d in place of an answer", resp.StatusCode)
	case resp.StatusCode >= 300:
		return l.status(resp)
	case kind == "":
		return broken(r.call.op.Name, "the server answers without a Content-Type: %s", rpc.Printable(beginning(resp)))
	}
	return broken(r.call.op.Name, "the server answers with %s, not with a message: %s", kind, rpc.Printable(beginning(resp)))
}

// readMessage reads a body that is one message, or several of a batch.
func (l *httpLink) readMessage(resp *http.Response, r *round) error {
	if resp.ContentLength > l.maxBytes {
		return moreThanRead(r.call.op.Name, &rpc.FrameError{Limit: int(l.maxBytes)})
	}
	body, err := io.ReadAll(io.LimitReader(r.call.result.hearing(resp.Body), l.maxBytes+1))
	switch {
	case err != nil:
		return fmt.Errorf("the answer could not be read to its end: %w", err)
	case int64(len(body)) > l.maxBytes:
		return moreThanRead(r.call.op.Name, &rpc.FrameError{Limit: int(l.maxBytes)})
	}
	if resp.StatusCode >= 300 { // the error may be the JSON of a gateway
		m, bad := rpc.Parse(body, l.s.cfg.limits)
		elsewhere := resp.StatusCode == http.StatusNotFound && bad == nil && (m.Error == nil || m.Error.Code != rpc.CodeMethodNotFound) // a server has that status for methods alone
		if bad != nil || !m.Answers() || elsewhere {
			resp.Body = io.NopCloser(bytes.NewReader(body))
			return l.status(resp)
		}
		resp.Body = io.NopCloser(bytes.NewReader(body))
		if status := l.status(resp); status.transient() {
			r.busy = status
		}
	}
	l.s.receive(body, r)
	if resp.StatusCode >= 300 && r.entry.Err() == nil {
		resp.Body = io.NopCloser(bytes.NewReader(body))
		return l.status(resp)
	}
	return nil
}

// lingering is how long a response may take to end after its answer. If it ends in time, its connection can be used again.
const lingering = time.Second

// linger closes the stream of a request that has its answer, unless the server does so soon.
func (l *httpLink) linger(r *round) {
	l.mu.Lock()
	defer l.mu.Unlock()
	st := l.streams[r]
	if st == nil || st.lingerTimer != nil {
		return
	}
	st.lingerTimer = time.AfterFunc(lingering, st.cancel)
	if !st.endedLater && !st.ending {
		l.keep(st, &l.answered, st.cancel)
	}
}

func isEventStream(resp *http.Response) bool {
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	return kind == "text/event-stream"
}

// sleep waits for d; false: ctx ended first.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// maxBeginning is how much of a body is shown, in bytes.
const maxBeginning = 300

// beginning returns the beginning of a body, for an error, without the query of its request: servers repeat that, and it may be secret.
func beginning(resp *http.Response) string {
	var asked *url.URL
	if resp.Request != nil {
		asked = resp.Request.URL
	}
	return strings.TrimSpace(strings.ToValidUTF8(address.Beginning(resp.Body, asked, maxBeginning), "?"))
}

// listenUnasked receives messages that belong to no request, on a stream of their own, until the session ends. Some servers have no such stream.
func (l *httpLink) listenUnasked() {
	d := l.s.dialect.Load()
	l.mu.Lock()
	if l.closing || l.listening || d.HTTP.LastEventHeader == "" { // "": the revision has no stream of the session
		l.mu.Unlock()
		return
	}
	l.listening = true
	session := l.session
	open := make(chan struct{})
	ctx, cancel := context.WithCancel(l.ctx)
	l.unlisten = cancel
	l.work.Go(func() {
		defer cancel()
		l.listenTo(ctx, d, session, sync.OnceFunc(func() { close(open) }))
	})
	l.mu.Unlock()
	timer := time.NewTimer(listenWait)
	defer timer.Stop()
	select {
	case <-open:
	case <-timer.C:
	}
}

// listenWait is how long a session that begins waits for that stream: some servers send their requests only there, and only if it is open.
const listenWait = time.Second

// minListenRetry is minRetry for that stream, which is opened again for as long as the session lasts, whatever the server says.
const minListenRetry = 500 * time.Millisecond

// listenTo opens that stream again whenever it ends, until the session ends or the server does not have it. opened is called when the server has responded.
func (l *httpLink) listenTo(ctx context.Context, d *wire.Dialect, session string, opened func()) {
	defer opened()
	heard := false
	isCurrent := func() bool { return l.sessionID() == session } // else it was read before its session ended, and is answered in no other
	tooLarge := func(large *rpc.FrameError) {
		if isCurrent() {
			l.s.tooLarge(large, nil)
		}
	}
	events := &eventReader{max: l.maxBytes, retry: defaultRetry, tooLarge: tooLarge, heard: func() { heard = true }}
	wait := time.Duration(0)
	for sleep(ctx, wait) {
		req, err := l.request(ctx, http.MethodGet, nil)
		if err != nil {
			return
		}
		req.Header.Set("Accept", "text/event-stream")
		if events.id != "" {
			req.Header.Set(d.HTTP.LastEventHeader, events.id)
		}
		if l.identify(req, d) != session {
			return // there is another session, with another listener
		}
		wait = min(max(2*wait, events.retry), max(events.retry, time.Minute))
		resp, err := l.do(req)
		opened()
		if err != nil {
			continue
		}
		status := StatusError{Status: resp.StatusCode, RetryAfter: retryAfter(resp)}
		if resp.StatusCode == http.StatusOK && isEventStream(resp) {
			began := time.Now()
			heard = false
			err = events.read(resp.Body, func(data []byte) {
				if isCurrent() {
					l.s.receive(data, nil)
				}
			})
			if heard || time.Since(began) > wait { // else it ended at once, in vain
				wait = events.retry
			}
		}
		_ = resp.Body.Close()
		if status.Status >= 300 && !status.transient() {
			return // it has no such stream, or the session is over, which the next request will find out
		}
		l.s.cfg.logger.Debug("the stream of the session ended", "error", err, "status", resp.StatusCode)
		wait = max(wait, events.retry, minListenRetry, status.RetryAfter)
	}
}
