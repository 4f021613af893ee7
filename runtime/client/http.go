package client

import (
	"bytes"
	"container/list"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/client/internal/address"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

// Endpoint is a transport over Streamable HTTP.
type Endpoint struct {
	URL string
	// Header is added to every request, such as an Authorization. Connect fails if HTTP does not allow a header.
	Header http.Header
	// Client sends the requests; nil: one of the session's own. Redirects are never followed, because they would take credentials and
	// arguments somewhere else.
	Client *http.Client
}

// HTTP returns a transport over Streamable HTTP, to the URL of a server's endpoint.
func HTTP(url string) *Endpoint { return &Endpoint{URL: url} }

func (e *Endpoint) reopens() bool { return false }

func (e *Endpoint) open(_ context.Context, s *Session) (link, error) {
	if err := headerError(e.Header); err != nil {
		return nil, &TransportError{Err: err}
	}
	l := &httpLink{s: s, endpoint: e, maxBytes: int64(min(s.cfg.maxFrame, math.MaxInt/maxSkipped/2)), streams: map[*round]*stream{}, replying: make(chan struct{}, maxReplies), renewing: make(chan struct{}, 1)}
	if l.maxBytes == 0 {
		l.maxBytes = rpc.DefaultMaxFrame
	}
	if e.Client != nil {
		l.client = *e.Client
	} else {
		l.own = http.DefaultTransport.(*http.Transport).Clone()
		l.own.MaxIdleConnsPerHost = 64
		l.connections.track(l.own)
		l.client.Transport = l.own
	}
	l.client.Transport = unfollowed{l.client.Transport}
	l.ctx, l.cancel = context.WithCancel(context.Background())
	if _, err := l.request(l.ctx, http.MethodPost, nil); err != nil {
		l.cancel()
		return nil, &TransportError{Err: err}
	}
	return l, nil
}

// httpLink sends each message in an HTTP request of its own. Every request of the session has a goroutine, which reads its response.
type httpLink struct {
	s        *Session
	endpoint *Endpoint
	client   http.Client
	own      *http.Transport // nil: that of the caller's Client is used
	maxBytes int64
	// connections are the open connections of own.
	connections connections

	ctx    context.Context
	cancel context.CancelFunc
	work   sync.WaitGroup
	// posts counts messages being sent that are no requests. None is added once closing is set.
	posts sync.WaitGroup

	renewing chan struct{} // full while a new session is being opened
	renewers sideClocks    // of the calls that wait for it
	replying chan struct{} // has a value for each reply being sent

	mu         sync.Mutex
	closing    bool
	session    string             // id of the session; "" for none
	listening  bool               // listenUnasked has begun to receive
	unlisten   context.CancelFunc // ends the listener of the session; nil: there was none
	streams    map[*round]*stream
	ending     int           // how many requests are ending, see maxEnding
	unanswered int           // how many cancellations were sent that the server has not answered
	patience   time.Time     // until when these count, see maxEnding; zero: none was ever answered
	room       chan struct{} // closed when there is room for requests again; nil: nobody waits
	// Streams of requests that are over, which are open for what may still come, oldest first: given up; given up and cancelled a second time; answered.
	kept, keptAgain, answered list.List
}

// request returns an HTTP request with the headers that all have.
func (l *httpLink) request(ctx context.Context, method string, body []byte) (*http.Request, error) {
	if l.own != nil {
		ctx = context.WithValue(ctx, requestKey{}, ctx)
	}
	req, err := http.NewRequestWithContext(ctx, method, l.endpoint.URL, bytes.NewReader(body))
	if err != nil {
		return nil, address.Cleaned(err)
	}
	for name, values := range l.endpoint.Header {
		req.Header[http.CanonicalHeaderKey(name)] = values
	}
	if method == http.MethodPost {
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept", "application/json, text/event-stream")
	}
	return req, nil
}

// do sends a request. Its errors do not show the parts of the address that may be secret.
func (l *httpLink) do(req *http.Request) (*http.Response, error) {
	resp, err := l.client.Do(req)
	return resp, address.Cleaned(err)
}

// identify sets the headers for the revision and for the id of the session, which it returns; "" for none.
func (l *httpLink) identify(req *http.Request, d *wire.Dialect) (session string) {
	l.mu.Lock()
	session = l.session
	l.mu.Unlock()
	if d.HTTP.VersionHeader != "" {
		req.Header.Set(d.HTTP.VersionHeader, d.Version)
	}
	if session != "" {
		req.Header.Set(d.HTTP.SessionHeader, session)
	}
	return session
}

func (l *httpLink) send(ctx context.Context, frame []byte, r *round) error {
	if len(frame) <= keepBuffer {
		frame = bytes.Clone(frame)
	}
	if r == nil {
		if !l.mayPost() {
			return ErrClosed
		}
		defer l.posts.Done()
		return l.post(ctx, frame)
	}
	if !l.awaitRoom(ctx, r) {
		return nil
	}
	st := &stream{written: make(chan struct{}), begun: make(chan struct{}), ended: make(chan struct{}), header: http.Header{}}
	describe(st.header, r.call.dialect, r)
	ctx, st.cancel = context.WithCancel(l.ctx)
	l.mu.Lock()
	switch {
	case l.closing:
		l.mu.Unlock()
		st.cancel()
		return ErrClosed
	case r.entry.Err() != nil: // given up before it was sent
		l.mu.Unlock()
		st.cancel()
		return nil
	}
	r.sent = true
	l.streams[r] = st
	l.work.Go(func() { l.exchange(ctx, frame, r, st) })
	l.mu.Unlock()
	return nil
}

// postTimeout is how long sending a message that is no request may take.
const postTimeout = 10 * time.Second

var errNoReceipt = fmt.Errorf("the server has not responded within %v, though it has to as soon as it has read the message (with status 202)", postTimeout)

// post sends a notification or an answer.
func (l *httpLink) post(ctx context.Context, frame []byte) error {
	ctx, cancel := context.WithTimeoutCause(ctx, postTimeout, errNoReceipt)
	defer cancel()
	stop := context.AfterFunc(l.ctx, cancel)
	defer stop()
	req, err := l.request(ctx, http.MethodPost, frame)
	if err != nil {
		return err
	}
	d := l.s.dialect.Load()
	session := l.identify(req, d)
	only, bound := ctx.Value(sessionKey{}).(string) // an answer is bound to its session
	if bound && only != session {
		return errNoSession
	}
	if d.HTTP.MethodHeader != "" {
		if m, bad := rpc.Parse(frame, l.s.cfg.limits); bad == nil && m.Method != nil {
			req.Header.Set(d.HTTP.MethodHeader, string(m.Method))
		}
	}
	resp, err := l.do(req)
	switch {
	case err != nil && errors.Is(context.Cause(ctx), errNoReceipt):
		return fmt.Errorf("%w: %w", errNoReceipt, err)
	case err != nil:
		return err
	}
	defer resp.Body.Close()
	switch {
	case resp.StatusCode == http.StatusNotFound && session != "":
		return l.unknownSession(resp, "; the server does not know the session")
	case resp.StatusCode >= 300:
		return l.status(resp)
	case resp.StatusCode != http.StatusAccepted && bound:
		return l.notReceipt(resp)
	}
	return nil
}

// maxRefusal is how much of a response to an answer is read.
const maxRefusal = 64 << 10

// notReceipt returns an error for a response to an answer that is no receipt, although its HTTP status is one of success: the server may say why in an error,
// and what says something else is mostly not from the server, such as the login page of a proxy. A receipt is 202; older releases of mcp-go send 200 with no body.
func (l *httpLink) notReceipt(resp *http.Response) error {
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxRefusal))
	if err != nil || len(body) == 0 {
		return err
	}
	if m, bad := rpc.Parse(body, l.s.cfg.limits); bad == nil && m.Kind == rpc.KindError {
		return m.Error
	}
	resp.Body = io.NopCloser(bytes.NewReader(body))
	return fmt.Errorf("this is no receipt of an answer, which is status 202 without a body: %w", l.status(resp))
}

// maxReplies is how many replies may be being sent before no more messages are received.
const maxReplies = 64

// reply posts an answer in a goroutine.
func (l *httpLink) reply(to origin, frame []byte) {
	select {
	case l.replying <- struct{}{}:
	case <-l.ctx.Done():
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closing {
		<-l.replying
		return
	}
	l.posts.Add(1)
	l.work.Go(func() {
		defer func() { <-l.replying }()
		defer l.posts.Done()
		if err := l.post(inSession(l.ctx, to.session), frame); err != nil {
			to.notAnswered(err)
			l.s.notTaken(to, err, mayHaveArrived(err))
			l.s.cfg.logger.Debug("a message was not sent", "error", err)
		}
	})
}

func (l *httpLink) giveUpTells(d *wire.Dialect) bool { return d.HTTP.DisconnectCancels }

func (l *httpLink) shared() bool { return false }

// endWait is how long Close waits for a server over HTTP in all, and lastWait how much of that for the last messages: the rest is for the end of the session.
const (
	endWait  = 5 * time.Second
	lastWait = 4 * time.Second
)

// close ends the streams, and the session if there is one. Answers and cancellations are sent first. When ctx ends, nothing more is sent.
func (l *httpLink) close(ctx context.Context, began time.Time) error {
	ctx, cancel := context.WithDeadline(ctx, began.Add(endWait))
	defer cancel()
	l.mu.Lock()
	l.closing = true
	session := l.session
	l.mu.Unlock()
	sending, sent := context.WithDeadline(ctx, began.Add(lastWait))
	context.AfterFunc(sending, l.cancel)
	l.posts.Wait()
	sent()
	l.cancel()
	l.work.Wait()
	if session != "" {
		l.deleteSession(ctx, session)
	}
	if l.own != nil {
		l.own.CloseIdleConnections()
		l.connections.close()
	}
	return nil
}

// maxRetryAfter is how many seconds to wait at most because of a server's Retry-After.
const maxRetryAfter = 3600

// retryAfter returns how long a response says to wait, in seconds or as the date until which to wait; 0: it does not say. A date is compared with that of the
// response, because the clocks of both sides may differ.
func retryAfter(resp *http.Response) time.Duration {
	said, wait := resp.Header.Get("Retry-After"), time.Duration(0)
	if s, err := strconv.Atoi(said); err == nil {
		wait = time.Duration(min(s, maxRetryAfter)) * time.Second
	} else if until, err := http.ParseTime(said); err == nil {
		now, err := http.ParseTime(resp.Header.Get("Date"))
		if err != nil {
			now = time.Now()
		}
		wait = min(until.Sub(now), maxRetryAfter*time.Second)
	}
	return max(wait, 0)
}

// status returns the error for a response that has no message in it.
func (l *httpLink) status(resp *http.Response) *StatusError {
	err := &StatusError{Status: resp.StatusCode, Challenge: resp.Header.Get("WWW-Authenticate"), RetryAfter: retryAfter(resp)}
	if resp.StatusCode >= 300 && resp.StatusCode < 400 {
		err.Location = rpc.Printable(rpc.CutTo(address.Shown(resp.Header.Get(redirectsTo)), maxBeginning))
		switch {
		case err.Location != "":
			err.Body = "redirects are not followed: to " + err.Location
		case resp.StatusCode != http.StatusNotModified:
			err.Body = "redirects are not followed, and it does not say to where: it has no Location"
		}
		return err
	}
	err.Body = beginning(resp)
	return err
}
