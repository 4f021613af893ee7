package streamhttp

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/inflight"
	"github.com/mcpkiln/mcpkiln/runtime/server"
)

// enter counts a request, or the work of a timer, that Shutdown waits for until leave. It returns false once the shutdown has begun.
func (h *Endpoint) enter() bool {
	h.running.Add(1)
	if h.closing.Load() { // looked at only now: drain looks at running after it has set closing
		h.leave()
		return false
	}
	return true
}

func (h *Endpoint) leave() {
	if h.running.Add(-1) > 0 || !h.closing.Load() {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.running.Load() == 0 && !h.isQuiet {
		h.isQuiet = true
		h.unreadTimer.Stop()
		close(h.quiet)
	}
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
// request and goroutine until ctx ends (CAN21). Once the server's grace period is over, responses whose clients read nothing for a
// second end with server.ErrStalled. Calls that can not be cancelled are answered if they end within the server's grace
// period, in a session, or before ctx does. It does not shut down the server.Server: that may have other transports, and its tasks go on until
// its own Shutdown. It returns the cause of ctx when ctx ended first, and server.ErrGrace for a session that it ended and whose
// handlers are late. Handlers of a session that was over before are waited for by the server's Shutdown.
func (h *Endpoint) Shutdown(ctx context.Context) error {
	h.drain()
	var why error
	select {
	case <-h.quiet:
	case <-ctx.Done():
		why = context.Cause(ctx)
		h.cancelExchanges(&inflight.Cause{Source: inflight.SourceShutdown, Force: true})
	}
	h.records.Flush(ctx)
	h.mu.Lock()
	defer h.mu.Unlock()
	return errors.Join(why, h.late)
}

// Close is Shutdown that does not wait.
func (h *Endpoint) Close() error {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_ = h.Shutdown(ctx)
	return nil
}

// drain begins the shutdown, once, and does not wait for it.
func (h *Endpoint) drain() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closing.Load() {
		return
	}
	h.running.Add(1) // the goroutine that follows
	h.closing.Store(true)
	close(h.draining)
	h.arriving.expireAll()
	h.unreadTimer = time.AfterFunc(h.srv.Grace(), h.endUnread)
	go func() {
		defer h.leave()
		h.endAll()
	}()
}

// endAll ends all sessions and exchanges, and returns when the sessions have ended.
func (h *Endpoint) endAll() {
	h.mu.Lock()
	sessions := slices.AppendSeq(slices.Collect(maps.Values(h.roster.sessions)), maps.Keys(h.sessionless))
	exchanges := slices.Collect(maps.Keys(h.exchanges))
	h.mu.Unlock()
	cause := &inflight.Cause{Source: inflight.SourceShutdown}
	var ending sync.WaitGroup
	for _, s := range sessions {
		ending.Go(func() { s.end(cause) })
	}
	for _, x := range exchanges {
		ending.Go(func() { // a client that does not read holds this up until endUnread
			if x.isSubscription() {
				h.srv.EndSubscriptions(x)
			}
			x.cancel(cause)
		})
	}
	ending.Wait()
}

// endUnread gives up responses that clients do not read. A timer calls it when the grace period of the shutdown is over, and again until all
// requests are over (CAN21).
func (h *Endpoint) endUnread() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.isQuiet {
		return
	}
	n := 0
	h.writing.each(func(d *downlink) {
		if d.pace.giveUp(server.LateStall) {
			n++
		}
	})
	if n > 0 {
		h.opts.logger.Warn("responses are given up: their clients do not read, and the grace period is over", "responses", n)
	}
	h.unreadTimer.Reset(server.LateStall)
}
