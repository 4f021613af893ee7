package streamhttp

import (
	"cmp"
	"container/heap"
	"slices"
	"sync/atomic"

	"github.com/mcpkiln/mcpkiln/runtime/internal/quota"
	"github.com/mcpkiln/mcpkiln/runtime/server"
)

// roster is who has which sessions, and which of them may give way to new ones: those that nobody is using. Its users hold
// Endpoint.mu.
type roster struct {
	sessions map[string]*session
	tenants  map[server.Requestor]*tenant
	idle     tenants // those with idle sessions, the one with the most sessions of any kind first
}

// tenant is a principal, or callers without an identity.
type tenant struct {
	who      server.Requestor
	sessions int
	unread   atomic.Int64 // its part of Endpoint.unread
	idle     queue
	place    int // in roster.idle
}

// queue is the idle sessions of one tenant, linked by their own fields: a session comes and goes with every request.
type queue struct{ first, last *session }

func (q *queue) push(s *session) {
	s.resting, s.before, s.after = true, q.last, nil
	if q.last == nil {
		q.first = s
	} else {
		q.last.after = s
	}
	q.last = s
}

func (q *queue) remove(s *session) {
	if s.before == nil {
		q.first = s.after
	} else {
		s.before.after = s.after
	}
	if s.after == nil {
		q.last = s.before
	} else {
		s.after.before = s.before
	}
	s.resting, s.before, s.after = false, nil, nil
}

func newRoster() roster {
	return roster{sessions: map[string]*session{}, tenants: map[server.Requestor]*tenant{}}
}

func (r *roster) add(s *session) {
	t := r.tenants[s.who]
	if t == nil {
		t = &tenant{who: s.who}
		r.tenants[s.who] = t
	}
	t.sessions++
	s.tenant = t
	r.sessions[s.id] = s
	r.recount(t)
}

// remove forgets a session; a second time it does nothing.
func (r *roster) remove(s *session) {
	if r.sessions[s.id] != s {
		return
	}
	delete(r.sessions, s.id)
	r.busy(s)
	t := s.tenant
	t.sessions--
	r.recount(t)
	if t.sessions == 0 {
		delete(r.tenants, t.who)
	}
}

func (r *roster) recount(t *tenant) {
	if t.idle.first != nil {
		heap.Fix(&r.idle, t.place)
	}
}

// busy says that the session is in use.
func (r *roster) busy(s *session) {
	if !s.resting {
		return
	}
	s.tenant.idle.remove(s)
	if s.tenant.idle.first == nil {
		heap.Remove(&r.idle, s.tenant.place)
	}
}

// rest says that nobody uses the session any more.
func (r *roster) rest(s *session) {
	if s.resting || r.sessions[s.id] != s {
		return
	}
	s.tenant.idle.push(s)
	if s.tenant.idle.first == s {
		heap.Push(&r.idle, s.tenant)
	}
}

// makeRoom decides whether who may have one more session. Within what is fair of limit, there is room. Beyond that the new session
// takes the place of one that nobody uses, which is removed: of whoever has the most, if that is more than who has, else of who. So
// one principal can not end sessions of those who have fewer, nor keep them from opening some by keeping its own in use.
func (r *roster) makeRoom(who server.Requestor, limit int) (unused *session, ok bool) {
	t := cmp.Or(r.tenants[who], &tenant{})
	if quota.Fair(int64(t.sessions), int64(len(r.sessions)), 1, int64(limit)) {
		return nil, true
	}
	unused = t.idle.first
	if len(r.idle) > 0 && r.idle[0].sessions > t.sessions {
		unused = r.idle[0].idle.first
	}
	if unused == nil {
		return nil, false
	}
	r.remove(unused)
	return unused, true
}

// largest are the tenants with idle sessions, the one with the most sessions first.
func (r *roster) largest() []*tenant {
	return slices.SortedFunc(slices.Values(r.idle), func(a, b *tenant) int { return b.sessions - a.sessions })
}

// tenants is a heap.
type tenants []*tenant

func (h tenants) Len() int           { return len(h) }
func (h tenants) Less(i, j int) bool { return h[i].sessions > h[j].sessions }
func (h tenants) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].place, h[j].place = i, j
}

// Push implements heap.Interface.
func (h *tenants) Push(x any) {
	t := x.(*tenant)
	t.place = len(*h)
	*h = append(*h, t)
}

// Pop implements heap.Interface.
func (h *tenants) Pop() any {
	last := len(*h) - 1
	t := (*h)[last]
	(*h)[last] = nil
	*h = (*h)[:last]
	return t
}
