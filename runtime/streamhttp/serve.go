package streamhttp

import (
	"net/http"
	"time"
)

// Timeouts of Server.
const (
	headerTimeout = 10 * time.Second
	idleTimeout   = 2 * time.Minute
	maxHeader     = 64 << 10 // bytes
)

// Server returns an http.Server for h with the limits that streams allow: headers have 10 seconds and 64 KiB, idle connections 2
// minutes; bodies and writes are bounded by h itself, request by request. An addr without host means loopback: a port that others reach needs
// to be asked for, with "0.0.0.0:8080" for instance. When h is, or leads to, an Endpoint, register its Shutdown before the server's own: that
// one waits for streams, and does not end them.
func Server(addr string, h http.Handler) *http.Server {
	s := &http.Server{
		Addr: withHost(addr), Handler: h,
		ReadHeaderTimeout: headerTimeout, IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeader,
	}
	if e, ok := h.(*Endpoint); ok {
		s.RegisterOnShutdown(e.drain)
	}
	return s
}
