package client

import (
	"context"
	"errors"
	"net/http"

	"github.com/mcpkiln/mcpkiln/runtime/inflight"
	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

// deleteSession deletes the session on the server, unless Abort was called. Servers may refuse that.
func (l *httpLink) deleteSession(ctx context.Context, session string) {
	if l.s.aborted.Err() != nil { // ctx ends because of that only some time later
		return
	}
	req, err := l.request(ctx, http.MethodDelete, nil)
	if err != nil {
		return
	}
	d := l.s.dialect.Load()
	l.identify(req, d)
	req.Header.Set(d.HTTP.SessionHeader, session) // it may be another than the current one
	resp, err := l.do(req)
	if err != nil {
		l.s.cfg.logger.Debug("the session was not ended", "error", err)
		return
	}
	_ = resp.Body.Close()
}

// errNoSession says that the server did not take a message, because it does not know the session any more.
var errNoSession = errors.New("client: the server has ended the session")

func (l *httpLink) sessionID() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.session
}

// sessionKey is the key of the id of the only session in which a message may be sent.
type sessionKey struct{}

func inSession(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, sessionKey{}, id)
}

// renew opens a new session instead of one that the server has ended.
func (l *httpLink) renew(ctx context.Context, old string) (begun bool, err error) {
	defer l.renewers.add(ctx)()
	select {
	case l.renewing <- struct{}{}:
		defer func() { <-l.renewing }()
	case <-ctx.Done():
		return false, causeOf(ctx)
	case <-l.ctx.Done():
		return false, ErrClosed
	}
	l.mu.Lock()
	current := l.session
	if current == old {
		l.listening = false // the session is replaced when there is a new one: until then, whatever is sent finds out that it has ended
		if l.unlisten != nil {
			l.unlisten() // the next session may have the same id
		}
	}
	l.mu.Unlock()
	if current != old {
		return false, nil // another request has renewed it
	}
	s := l.s
	gone := &Cause{Source: inflight.SourceDisconnect, Err: errNoSession, Force: true}
	waiting := s.askedBy(old)
	s.endAsked(gone, func(values context.Context) bool {
		if q, ok := values.(*question); ok {
			waiting = append(waiting, q.waitingRounds()...)
		}
		return true
	})
	failStranded(waiting)
	s.receiver.endSession(old)
	// a person who is asked before it can be sent stops the clocks of all who wait for it
	if err := s.initializeAgain(context.WithValue(ctx, sideClockKey{}, stoppable(&l.renewers))); err != nil {
		l.dropSession(old)
		return false, err
	}
	return true, nil
}

// initializeAgain makes the handshake of a new HTTP session, in the revision of the one before.
func (s *Session) initializeAgain(ctx context.Context) error {
	d := s.dialect.Load()
	a := s.ask(ctx, d, wire.OpInitialize)
	defer a.end()
	if <-a.done; a.err != nil {
		return a.err
	}
	switch version := a.values.Text(wire.SlotProtocolVersion); version {
	case d.Version:
		return s.notify(ctx, d.Call(wire.OpInitialized), nil)
	case "":
		return broken(d.Call(wire.OpInitialize).Name, "it names no version")
	default:
		return &VersionError{Client: []string{d.Version}, Server: []string{version}}
	}
}

// begun makes the session that the answer to a handshake names the current one; false: nobody waits for it any more, and it was deleted.
func (l *httpLink) begun(r *round, st *stream) bool {
	l.mu.Lock()
	wanted, current := r.entry.Err() == nil, l.session // if not wanted, dropSession may have been called
	if wanted {
		l.session, st.named = r.session, true
	}
	l.mu.Unlock()
	if wanted || r.session == "" || r.session == current {
		return true
	}
	l.deleteUnused(r.session)
	return false
}

// dropSession drops the session that a handshake has begun and not finished, and has it deleted. The ended session takes its place again, so that the next
// request finds out that there is none, and begins another.
func (l *httpLink) dropSession(ended string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	begun := l.session
	if l.closing { // close deletes it
		return
	}
	if l.session = ended; begun == ended || begun == "" {
		return
	}
	l.posts.Add(1)
	l.work.Go(func() {
		defer l.posts.Done()
		l.deleteUnused(begun)
	})
}

func (l *httpLink) deleteUnused(session string) {
	ctx, cancel := context.WithTimeout(l.ctx, endWait)
	defer cancel()
	l.deleteSession(ctx, session)
}
