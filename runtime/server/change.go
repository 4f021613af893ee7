package server

import (
	"context"
	"maps"
	"strings"

	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

// ToolEnabled reports whether the tool is listed and can be called.
func (s *Server) ToolEnabled(name string) bool { return s.tool(name) != nil }

// SetToolEnabled switches a tool on or off while the server serves. Calls that run go on. Clients are told that the list has
// changed. It reports whether there is such a tool.
func (s *Server) SetToolEnabled(name string, on bool) bool {
	if s.tools.get(name) == nil {
		return false
	}
	s.mu.Lock()
	changed := s.ToolEnabled(name) != on
	if changed {
		off := map[string]bool{}
		if old := s.off.Load(); old != nil {
			maps.Copy(off, *old)
		}
		off[name] = !on
		s.off.Store(&off)
		s.tools.dropPages()
	}
	s.mu.Unlock()
	if changed {
		s.ToolsChanged()
	}
	return true
}

// ToolsChanged tells clients that the result of tools/list has changed.
func (s *Server) ToolsChanged() { s.changed(wire.OpToolsChanged) }

// PromptsChanged tells clients that the result of prompts/list has changed.
func (s *Server) PromptsChanged() { s.changed(wire.OpPromptsChanged) }

// ResourcesChanged tells clients that the result of resources/list has changed.
func (s *Server) ResourcesChanged() { s.changed(wire.OpResourcesChanged) }

// ResourceUpdated tells the clients that subscribed to uri that it has changed.
func (s *Server) ResourceUpdated(uri string) {
	for _, f := range s.followers.list(uri) {
		f.tell(topic{wire.OpResourceUpdated, uri})
	}
}

// changed notifies all sessions and subscriptions of a changed list.
func (s *Server) changed(op wire.Op) {
	for _, f := range s.followers.ofLists() {
		f.tell(topic{op: op})
	}
}

// listChanged is the notification that a list has changed; subscription is the id of the listen that it is for, zero for a session.
func (rev *revision) listChanged(op wire.Op, subscription rpc.ID) notification {
	n := notification{revision: rev, op: op}
	if rev.AppendChanged != nil {
		n.params = rev.AppendChanged(nil, &wire.Changed{SubscriptionID: subscription})
	}
	return n
}

func (rev *revision) updated(uri string, subscription rpc.ID) notification {
	u := wire.ResourceUpdated{URI: uri, SubscriptionID: subscription}
	return notification{revision: rev, op: wire.OpResourceUpdated, params: rev.AppendResourceUpdated(nil, &u)}
}

// changeSubscription subscribes to a resource, or unsubscribes. Requests of one session about one resource take turns: otherwise two that subscribe at
// once would both run the handler, and because the second subscription is not kept, the unsubscribe handler would end the watch of the first.
func (r *request) changeSubscription(b []byte) ([]byte, error) {
	done, err := r.p.takeTurn(r.ctx, r.params.URI)
	if err != nil {
		return b, err
	}
	defer done()
	if r.revision.handlers[r.method.Name] != nil {
		return r.callMethod(b)
	}
	return r.subscribeRegistered(b)
}

// takeTurn returns when no other request of the session changes its subscription to uri, and keeps others from it until done is called.
func (p *peer) takeTurn(ctx context.Context, uri string) (done func(), err error) {
	for {
		other := p.beginTurn(uri)
		if other == nil {
			return func() { p.endTurn(uri) }, nil
		}
		select {
		case <-other:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// beginTurn returns nil if the turn is the caller's now, or else a channel that is closed when that of another request ends.
func (p *peer) beginTurn(uri string) (other <-chan struct{}) {
	p.s.mu.Lock()
	defer p.s.mu.Unlock()
	if other := p.turns[uri]; other != nil {
		return other
	}
	if p.turns == nil {
		p.turns = map[string]chan struct{}{}
	}
	p.turns[uri] = make(chan struct{})
	return nil
}

func (p *peer) endTurn(uri string) {
	p.s.mu.Lock()
	defer p.s.mu.Unlock()
	close(p.turns[uri])
	delete(p.turns, uri)
}

// subscribe records that a session subscribes (on) or unsubscribes, after the handler agreed. A subscription beyond a limit is refused (LET06).
func (r *request) subscribe(on bool) error {
	uri, kept := r.params.URI, false
	var refused error
	if !on || r.entry.Err() == nil { // the client of a cancelled request never learns that it is subscribed
		kept, refused = r.p.subscribe(uri, on)
	}
	if !on {
		r.p.drainWriters() // a notification that was permitted before comes before the answer
	}
	if !kept && r.revision.unwatch != nil {
		r.endWatching(r.ctx, []string{uri})
	}
	return refused
}

// subscribedTo reports whether the session has subscribed to the resource.
func (p *peer) subscribedTo(uri string) bool {
	p.s.mu.Lock()
	defer p.s.mu.Unlock()
	return p.subscribed[uri]
}

// subscription is that of a session to a resource. It ends when the session unsubscribes: nothing about the resource follows the answer to that.
type subscription struct {
	p   *peer
	uri string
}

// Err implements the ctx of a subject.
func (s subscription) Err() error {
	if !s.p.subscribedTo(s.uri) {
		return errSilenced
	}
	return nil
}

// subscribe is a part of request.subscribe. It records nothing (kept is false) when the session has ended, is subscribed already, or is refused for a limit.
func (p *peer) subscribe(uri string, on bool) (kept bool, refused error) {
	p.s.mu.Lock()
	defer p.s.mu.Unlock()
	switch {
	case !on:
		p.unsubscribed(uri)
		return true, nil
	case p.left, p.subscribed[uri]:
		return false, nil
	case len(p.subscribed) >= maxSubscribed:
		return false, rpc.Errorf(rpc.CodeInvalidRequest, "limit reached: at most %d subscriptions", maxSubscribed)
	}
	if err := p.charge(sizeOf(uri)); err != nil {
		return false, err
	}
	if p.subscribed == nil {
		p.subscribed = map[string]bool{}
	}
	uri = strings.Clone(uri) // the original would keep its message in memory
	p.subscribed[uri] = true
	p.s.followers.add(uri, p)
	return true, nil
}

// unsubscribed forgets a subscription. The caller holds Server.mu.
func (p *peer) unsubscribed(uri string) {
	if p.subscribed[uri] {
		delete(p.subscribed, uri)
		p.s.followers.remove(uri, p)
		p.refund(sizeOf(uri))
	}
}

// maxSubscribed bounds the resources and tasks that one session or subscription is notified of.
const maxSubscribed = 10_000

// entrySize is about what a subscription takes beside its URI, in bytes, also while a change of it waits for a client that reads slowly.
// A task in a subscriptions/listen takes three times that.
const entrySize = 256
