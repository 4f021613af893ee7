package streamhttp

import (
	"net"
	"net/http"
	"sync"
	"time"
)

// Limits of Server.
const (
	headerTimeout = 10 * time.Second
	idleTimeout   = 2 * time.Minute
	maxHeader     = 64 << 10 // bytes
)

// Server returns an http.Server for h with the limits that streams allow: headers have 10 seconds and 64 KiB, idle connections 2 minutes;
// bodies and writes are bounded by h itself, request by request, and the rest of a body that h has not read is awaited for half a second. An addr without host means loopback: a port that other machines can reach
// has to be asked for, with "0.0.0.0:8080" for instance. Call the Shutdown of the Endpoint that h is, or leads to, before that of the http.Server,
// which waits for streams and does not end them. The http.Server's Shutdown closes connections that have sent nothing yet, for which net/http
// would wait 5 seconds; the field ConnState is taken for that.
func Server(addr string, h http.Handler) *http.Server {
	silent := &silentConns{conns: map[net.Conn]struct{}{}}
	s := &http.Server{
		Addr: withHost(addr), Handler: letGo(h),
		ReadHeaderTimeout: headerTimeout, IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeader,
		ConnState: silent.watch,
	}
	s.RegisterOnShutdown(silent.close)
	if e, ok := h.(*Endpoint); ok {
		s.RegisterOnShutdown(e.drain)
	}
	return s
}

// letGo is h without a wait for what it has left of a body.
func letGo(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if a := arriving(w, r); a != nil {
			defer a.leave()
			r = &a.request
		}
		h.ServeHTTP(w, r)
	})
}

// silentConns are the connections that have sent nothing yet. Clients open some that they never use: they dial while another connection becomes free.
type silentConns struct {
	mu     sync.Mutex
	conns  map[net.Conn]struct{}
	closed bool
}

func (s *silentConns) watch(c net.Conn, state http.ConnState) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case state != http.StateNew:
		delete(s.conns, c)
	case s.closed:
		_ = c.Close() // accepted while the listener was closed
	default:
		s.conns[c] = struct{}{}
	}
}

func (s *silentConns) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	for c := range s.conns {
		_ = c.Close()
	}
}
