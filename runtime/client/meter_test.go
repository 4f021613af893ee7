package client_test

import (
	"context"
	"net"
	"net/http"
	"slices"
	"sync"
	"testing"

	"github.com/mcpkiln/mcpkiln/runtime/client"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/server"
)

// meter counts the bytes of all connections of a session, in both directions, and calls functions when the count reaches their offsets: one
// byte is through then, and the next one is not.
type meter struct {
	mu    sync.Mutex
	bytes int64
	due   []alarm // by offset
}

type alarm struct {
	at   int64
	ring func()
}

// after has ring called when n more bytes have gone through.
func (m *meter) after(n int64, ring func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	a := alarm{m.bytes + n, ring}
	i, _ := slices.BinarySearchFunc(m.due, a, func(x, y alarm) int { return int(x.at - y.at) })
	m.due = slices.Insert(m.due, i, a)
}

// through lets at most n bytes through up to the next alarm, and rings those that are due.
func (m *meter) through(n int) int {
	m.mu.Lock()
	if len(m.due) > 0 {
		n = max(1, min(n, int(m.due[0].at-m.bytes)))
	}
	m.bytes += int64(n)
	var ring []func()
	for len(m.due) > 0 && m.due[0].at <= m.bytes {
		ring = append(ring, m.due[0].ring)
		m.due = m.due[1:]
	}
	m.mu.Unlock()
	for _, f := range ring {
		f()
	}
	return n
}

// metered is a connection whose bytes are counted.
type metered struct {
	net.Conn
	m *meter
}

// Write implements io.Writer.
func (c metered) Write(p []byte) (done int, err error) {
	for done < len(p) && err == nil {
		n := c.m.through(len(p) - done)
		n, err = c.Conn.Write(p[done : done+n])
		done += n
	}
	return done, err
}

// Read implements io.Reader.
func (c metered) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p[:min(len(p), 64)])
	for left := n; left > 0; {
		left -= c.m.through(left)
	}
	return n, err
}

// dialMetered connects to a server over metered connections, of a pipe or of HTTP.
var dialMetered = map[string]func(t testing.TB, m *meter, srv *server.Server, opts ...client.Option) *client.Session{
	"pipe": func(t testing.TB, m *meter, srv *server.Server, opts ...client.Option) *client.Session {
		ours, theirs := net.Pipe()
		served := make(chan error, 1)
		go func() {
			served <- srv.Serve(context.Background(), rpc.Lines(theirs, theirs, theirs, rpc.LineOptions{}))
		}()
		own := metered{ours, m}
		s, err := client.Connect(t.Context(), client.Conn(rpc.Lines(own, own, own, rpc.LineOptions{})), opts...)
		if err != nil {
			t.Fatalf("Connect: %v", err)
		}
		t.Cleanup(func() {
			if err := s.Close(); err != nil {
				t.Errorf("Close: %v", err)
			}
			<-served
			_ = srv.Shutdown(context.Background())
		})
		return s
	},
	"HTTP": func(t testing.TB, m *meter, srv *server.Server, opts ...client.Option) *client.Session {
		endpoint := client.HTTP(serve(t, srv))
		var dialer net.Dialer
		network := &http.Transport{MaxIdleConnsPerHost: 64, DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
			c, err := dialer.DialContext(ctx, network, addr)
			return metered{c, m}, err
		}}
		endpoint.Client = &http.Client{Transport: network}
		s, err := client.Connect(t.Context(), endpoint, opts...)
		if err != nil {
			t.Fatalf("Connect: %v", err)
		}
		t.Cleanup(func() {
			if err := s.Close(); err != nil {
				t.Errorf("Close: %v", err)
			}
			network.CloseIdleConnections()
		})
		return s
	},
}
