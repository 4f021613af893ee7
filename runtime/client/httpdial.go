package client

import (
	"context"
	"net"
	"net/http"
	"sync"
)

// connections are the open connections of a session with an http.Transport of its own. That transport closes only idle connections when asked, and a server
// that goes on sending on a connection whose requests are over keeps it from being idle.
type connections struct {
	mu     sync.Mutex
	open   map[net.Conn]struct{}
	closed bool
}

// connection is removed from its connections when it is closed.
type connection struct {
	net.Conn
	of *connections
}

// Close implements net.Conn.
func (c *connection) Close() error {
	c.of.mu.Lock()
	delete(c.of.open, c.Conn)
	c.of.mu.Unlock()
	return c.Conn.Close()
}

// requestKey is the key under which the context of an HTTP request has itself as a value: http.Transport dials with the values of that context, but goes on
// when the context ends, for the sake of requests to come.
type requestKey struct{}

// track adds all connections that a transport dials from now on. No dial outlives its request: a server that can not be reached would have ever more of them.
func (c *connections) track(t *http.Transport) {
	dial := t.DialContext
	c.open = map[net.Conn]struct{}{}
	t.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		if request, ok := ctx.Value(requestKey{}).(context.Context); ok {
			dialling, cancel := context.WithCancel(ctx)
			defer cancel()
			defer context.AfterFunc(request, cancel)()
			ctx = dialling
		}
		conn, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.closed {
			_ = conn.Close()
			return nil, net.ErrClosed
		}
		c.open[conn] = struct{}{}
		return &connection{conn, c}, nil
	}
}

// close closes all connections, and those that are dialled later.
func (c *connections) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	for conn := range c.open {
		_ = conn.Close()
	}
	c.open = nil
}
