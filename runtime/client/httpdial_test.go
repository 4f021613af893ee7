package client

import (
	"context"
	"errors"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
)

// No connection outlives its session, whatever the server sends on it.
func TestVAL07AClosedSessionHasNoConnection(t *testing.T) {
	var all connections
	transport := &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) {
		ours, theirs := net.Pipe()
		t.Cleanup(func() { _ = theirs.Close() })
		return ours, nil
	}}
	all.track(transport)
	dial := func() (net.Conn, error) { return transport.DialContext(t.Context(), "tcp", "server.test:80") }
	first, _ := dial()
	_ = first.Close()
	second, err := dial()
	if err != nil || len(all.open) != 1 {
		t.Fatalf("%d are open, %v", len(all.open), err)
	}
	all.close()
	if _, err := second.Write([]byte("x")); err == nil {
		t.Error("it is open")
	}
	_ = second.Close()
	if _, err := dial(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("another one: %v", err)
	}
}

// A call that was given up leaves no dial behind.
func TestCAN15NoDialOutlivesItsRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dials := make(chan context.Context, 1)
		l := &httpLink{endpoint: HTTP("http://server.test/mcp")}
		l.own = &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			dials <- ctx
			<-ctx.Done()
			return nil, ctx.Err()
		}}
		l.connections.track(l.own)
		ctx, cancel := context.WithCancel(t.Context())
		req, err := l.request(ctx, http.MethodPost, nil)
		if err != nil {
			t.Fatal(err)
		}
		go func() { _, _ = l.own.RoundTrip(req) }()
		dial := <-dials
		cancel()
		<-dial.Done()
	})
}
