package server

import (
	"maps"

	"github.com/mcpkiln/mcpkiln/runtime/rpc"
)

// ToolEnabled tells whether the tool is listed and can be called.
func (s *Server) ToolEnabled(name string) bool { return s.tool(name) != nil }

// SetToolEnabled switches a tool on or off while the server serves. Calls that run go on. Clients are told that the list has
// changed. It reports whether there is such a tool.
func (s *Server) SetToolEnabled(name string, on bool) bool {
	if s.tools[name] == nil {
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
		s.listPages()
	}
	s.mu.Unlock()
	if changed {
		s.ToolsChanged()
	}
	return true
}

// ToolsChanged tells clients that tools/list answers something else than before.
func (s *Server) ToolsChanged() { s.changed(OpToolsChanged) }

// PromptsChanged tells clients that prompts/list answers something else than before.
func (s *Server) PromptsChanged() { s.changed(OpPromptsChanged) }

// ResourcesChanged tells clients that resources/list answers something else than before.
func (s *Server) ResourcesChanged() { s.changed(OpResourcesChanged) }

// ResourceUpdated tells the clients that subscribed to uri that it has changed.
func (s *Server) ResourceUpdated(uri string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.peers {
		if w := p.agreed.Load(); w != nil && w.names[OpResourceUpdated] != "" && p.subscribed[uri] {
			p.notify(topic{OpResourceUpdated, uri}, change{frame: func() []byte { return w.updatedFrame(uri, rpc.ID{}) }})
		}
	}
	for l := range s.listens {
		if l.uris[uri] {
			l.updated(uri)
		}
	}
}

// changed tells sessions and subscriptions. None of them makes it wait.
func (s *Server) changed(op Op) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.peers {
		if w := p.agreed.Load(); w != nil && w.names[op] != "" {
			p.notify(topic{op: op}, change{frame: func() []byte { return w.changedFrame(op, rpc.ID{}) }})
		}
	}
	for l := range s.listens {
		if l.kinds[op] {
			l.listChanged(op)
		}
	}
}

func (w *wire) changedFrame(op Op, subscription rpc.ID) []byte {
	var params []byte
	if w.AppendChanged != nil {
		params = w.AppendChanged(nil, &Changed{SubscriptionID: subscription})
	}
	return rpc.AppendNotification(nil, w.names[op], params)
}

func (w *wire) updatedFrame(uri string, subscription rpc.ID) []byte {
	u := ResourceUpdated{URI: uri, SubscriptionID: subscription}
	return rpc.AppendNotification(nil, w.names[OpResourceUpdated], w.AppendResourceUpdated(nil, &u))
}

// subscribe notes what a session wants to hear of, after its handler agreed. What can not be kept is refused (LET06).
func (r *request) subscribe(on bool) error {
	uri, kept := r.params.URI, false
	var refused error
	if !on || r.entry.Err() == nil { // the client of a cancelled request never learns that it is subscribed
		kept, refused = r.p.subscribe(uri, on)
	}
	if !kept && r.wire.unwatch != nil {
		r.endWatching(r.entry, []string{uri})
	}
	return refused
}

// subscribedTo tells whether the session hears of the resource.
func (p *peer) subscribedTo(uri string) bool {
	p.s.mu.Lock()
	defer p.s.mu.Unlock()
	return p.subscribed[uri]
}

// subscribe keeps nothing more when the session is gone, subscribed meanwhile, or has too many: that is an error.
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
	if err := p.keep(sizeOf(uri)); err != nil {
		return false, err
	}
	if p.subscribed == nil {
		p.subscribed = map[string]bool{}
	}
	p.subscribed[uri] = true
	return true, nil
}

// unsubscribed forgets a subscription. With Server.mu.
func (p *peer) unsubscribed(uri string) {
	if p.subscribed[uri] {
		delete(p.subscribed, uri)
		p.drop(sizeOf(uri))
	}
}

// maxSubscribed bounds the resources and tasks that one session or subscription hears of.
const maxSubscribed = 10_000

// entrySize is about what a subscription takes beside its URI, in bytes.
const entrySize = 64
