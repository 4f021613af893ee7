package streamhttp

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
)

// pipes is a listener whose connections are in memory, so that its server can run in a bubble of package synctest.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func newPipes() *pipes { return &pipes{conns: make(chan net.Conn), closed: make(chan struct{})} }

// Accept implements net.Listener.
func (l *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (l *pipes) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

// Addr implements net.Listener.
func (l *pipes) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 80} }

func (l *pipes) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	near, far := net.Pipe()
	select {
	case l.conns <- far:
		return near, nil
	case <-l.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// server is one that serves h and is not started yet.
func (l *pipes) server(h http.Handler) *httptest.Server {
	return &httptest.Server{Listener: l, Config: &http.Server{Handler: h}}
}

// newBubble is newFixture within a bubble of package synctest.
func newBubble(t testing.TB, opts ...Option) *fixture {
	l := newPipes()
	f := newFixtureOn(t, l.server, opts...)
	f.ts.Client().Transport.(*http.Transport).DialContext = l.dial
	return f
}
