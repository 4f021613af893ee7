package streamhttp

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"

	"github.com/mcpkiln/mcpkiln/runtime/inflight"
)

// enter counts something that Shutdown waits for: a request, a timer's work.
func (h *Endpoint) enter() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closing {
		return false
	}
	h.running++
	return true
}

func (h *Endpoint) leave() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.running--
	if h.running == 0 && h.closing {
		close(h.quiet)
	}
}

func (h *Endpoint) isClosing() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.closing
}

// watch ends the sessions when the server shuts down under them.
func (h *Endpoint) watch() {
	defer h.leave()
	select {
	case <-h.srv.Done():
		h.drain()
	case <-h.draining:
	}
}

// Shutdown refuses new requests, ends sessions and subscriptions, cancels what is in flight with cause shutdown, and waits for every
// request and goroutine until ctx ends (CAN21). Calls that can not be cancelled are answered if they end within the server's grace
// period, in a session, or before ctx does. It does not shut the server of New down: that one may have other transports, and its tasks go on until
// its own Shutdown. It returns the cause of ctx when that had to end calls, and server.ErrGrace for a session whose handlers are late.
func (h *Endpoint) Shutdown(ctx context.Context) error {
	h.drain()
	var why error
	select {
	case <-h.quiet:
	case <-ctx.Done():
		why = context.Cause(ctx)
		h.cancelCalls(&inflight.Cause{Source: inflight.SourceShutdown, Force: true})
	}
	h.records.Flush(ctx)
	h.mu.Lock()
	defer h.mu.Unlock()
	return errors.Join(why, h.late)
}

// Close is Shutdown without patience.
func (h *Endpoint) Close() error {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_ = h.Shutdown(ctx)
	return nil
}

// drain begins the shutdown.
func (h *Endpoint) drain() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closing {
		return
	}
	h.closing = true
	close(h.draining)
	for _, w := range h.arriving {
		stopReading(w)
	}
	h.running++ // what follows
	go func() {
		defer h.leave()
		h.endAll()
	}()
}

func (h *Endpoint) endAll() {
	h.mu.Lock()
	sessions := slices.Collect(maps.Values(h.roster.sessions))
	calls := slices.Collect(maps.Keys(h.calls))
	h.mu.Unlock()
	cause := &inflight.Cause{Source: inflight.SourceShutdown}
	var ending sync.WaitGroup
	for _, s := range sessions {
		ending.Go(func() { s.end(cause) })
	}
	for _, x := range calls {
		ending.Go(func() { // a client that does not read holds this up until its write deadline
			if x.lasts() {
				h.srv.EndSubscriptions(x)
			}
			x.cancel(cause)
		})
	}
	ending.Wait()
}
