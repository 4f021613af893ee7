package server

import (
	"context"
	"runtime/debug"
	"slices"

	"github.com/mcpkiln/mcpkiln/runtime/check"
	"github.com/mcpkiln/mcpkiln/runtime/inflight"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

// In revisions where subscriptions/listen names resources, there is no resources/subscribe. The application still has to know what to
// watch, so its handlers of resources/subscribe and resources/unsubscribe, which it has for other revisions, run for each of these resources.

// watch runs the subscribe handler for the resources of the subscription. Those that it refuses are left out.
func (l *listen) watch(r *request) {
	if l.revision.methodOf(wire.OpReadResource) != nil {
		l.ack.ResourceURIs = slices.DeleteFunc(l.ack.ResourceURIs, func(uri string) bool {
			refused := r.mayWatch(uri) != nil
			if refused {
				l.peer.s.followers.remove(uri, l)
			}
			return refused
		})
	}
	if l.revision.watch == nil || l.revision.unwatch == nil {
		return
	}
	refused := func(uri string) bool {
		if err := r.runWatcher(r.ctx, l.revision.watch, uri); err != nil {
			l.peer.s.log.Debug("subscription refused", "uri", uri, "error", err)
			l.peer.s.followers.remove(uri, l)
			return true
		}
		l.watched = append(l.watched, uri)
		return false
	}
	l.ack.ResourceURIs = slices.DeleteFunc(l.ack.ResourceURIs, refused)
}

func (l *listen) unwatch(r *request) {
	r.endWatching(r.ctx, l.watched)
}

// endWatching runs the unsubscribe handler, within the grace period, for these resources of one subscription or session.
func (r *request) endWatching(ctx context.Context, uris []string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), r.p.s.cfg.grace)
	defer cancel()
	for _, uri := range uris {
		if err := r.runWatcher(ctx, r.revision.unwatch, uri); err != nil {
			r.p.s.log.Warn("unsubscribe failed", "uri", uri, "error", err)
		}
	}
}

// unsubscribe runs the unsubscribe handler for a session that is over and did not unsubscribe.
func (p *peer) unsubscribe(uris []string) {
	method := p.revision.methodOf(wire.OpUnsubscribe)
	if len(uris) == 0 || method == nil || p.revision.unwatch == nil {
		return
	}
	r := p.s.newRequest(p)
	defer r.release()
	r.revision, r.method = p.revision, method
	entry, err := p.s.tracker.Register(context.WithoutCancel(p.ctx), p.key(rpc.ID{}, inflight.Incoming), inflight.Info{Kind: inflight.Kind{Method: r.method.Name}, Principal: p.who.principal})
	if err != nil {
		return
	}
	defer entry.Retire()
	r.entry, r.ctx = entry, entry
	r.endWatching(entry, uris)
}

// methodOf is the method of an operation that a revision has once, nil for none.
func (rev *revision) methodOf(op wire.Op) *wire.Method {
	i := slices.IndexFunc(rev.Methods, func(m wire.Method) bool { return m.Op == op })
	if i < 0 {
		return nil
	}
	return &rev.Methods[i]
}

// runWatcher runs the subscribe or unsubscribe handler for one resource. It can not ask: the answer to a subscription has no place for questions.
func (r *request) runWatcher(ctx context.Context, h *methodCodec, uri string) (err error) {
	defer func() {
		if v := recover(); v != nil {
			r.p.s.log.Error("panic", "method", r.method.Name, "uri", uri, "panic", v, "stack", string(debug.Stack()))
			err = errInternal
		}
	}()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	call := r.newCall()
	defer call.close()
	call.can, call.discardsResult = 0, true
	_, err = h.run(ctx, call, append(check.AppendString([]byte(`{"uri":`), uri), '}'), nil)
	return err
}
