package client

import (
	"context"
	"net"
	"net/http"
	"sync"
)

// connections are those of a session that has a transport of its own. The transport can only be asked to close what is idle, and a server that
// goes on talking on a connection whose requests are over would keep it.
type connections struct {
	mu     sync.Mutex
	open   map[net.Conn]struct{}
	closed bool
}

// connection leaves the set when it is closed.
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

// of has a transport dial into the set.
func (c *connections) track(t *http.Transport) {
	dial := t.DialContext
	c.open = map[net.Conn]struct{}{}
	t.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
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

// close closes all.
func (c *connections) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	for conn := range c.open {
		_ = conn.Close()
	}
	c.open = nil
}
