package server

import (
	"maps"
	"slices"
	"sync"

	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

// follower is notified of changes: a session, or an open subscription. tell never blocks.
type follower interface{ tell(about topic) }

// tell notifies the session, if its revision has the notification.
func (p *peer) tell(about topic) {
	if rev := p.agreed.Load(); rev != nil && rev.names[about.op] != "" {
		p.notify(about, nil)
	}
}

// tell notifies the subscription, if it asked for that list, or for the resource.
func (l *listen) tell(about topic) {
	if l.kinds[about.op] || about.op == wire.OpResourceUpdated {
		l.queue(about)
	}
}

// followers finds the followers of each resource, so that a change costs nothing for those of other resources.
type followers struct {
	mu sync.Mutex
	of map[string]audience // by URI
}

// audience are the followers of a resource: mostly one.
type audience struct {
	one  follower
	more map[follower]struct{}
}

func (f *followers) add(uri string, who follower) {
	f.mu.Lock()
	defer f.mu.Unlock()
	a := f.of[uri]
	switch {
	case a.one == nil:
		a.one = who
		delete(a.more, who)
	case a.one == who:
	case a.more == nil:
		a.more = map[follower]struct{}{who: {}}
	default:
		a.more[who] = struct{}{}
	}
	if f.of == nil {
		f.of = map[string]audience{}
	}
	f.of[uri] = a
}

func (f *followers) remove(uri string, who follower) {
	f.mu.Lock()
	defer f.mu.Unlock()
	a := f.of[uri]
	if a.one == who {
		a.one = nil
	}
	delete(a.more, who)
	if a.one == nil && len(a.more) == 0 {
		delete(f.of, uri)
	} else {
		f.of[uri] = a
	}
}

func (f *followers) list(uri string) []follower {
	f.mu.Lock()
	defer f.mu.Unlock()
	a := f.of[uri]
	list := slices.Collect(maps.Keys(a.more))
	if a.one != nil {
		list = append(list, a.one)
	}
	return list
}

// listFollowers returns the followers that a change of a list may concern. Whether it is for each of them is looked up later, without Server.mu.
func (s *Server) listFollowers() []follower {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make([]follower, 0, len(s.peers)+len(s.listens))
	for _, p := range s.peers {
		all = append(all, p)
	}
	for l := range s.listens {
		all = append(all, l)
	}
	return all
}
