package streamhttp

import (
	"container/heap"
	"slices"
)

// roster is who has which sessions, and which of them may give way to new ones: those that nobody is using. Its users hold
// Endpoint.mu.
type roster struct {
	sessions map[string]*session
	tenants  map[string]*tenant
	idle     tenants // those with idle sessions, the one with the most sessions of any kind first
}

// tenant is a principal, or everybody without an identity.
type tenant struct {
	principal string
	sessions  int
	idle      queue
	place     int // in roster.idle
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
	return roster{sessions: map[string]*session{}, tenants: map[string]*tenant{}}
}

func (r *roster) add(s *session) {
	t := r.tenants[s.principal]
	if t == nil {
		t = &tenant{principal: s.principal}
		r.tenants[s.principal] = t
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
		delete(r.tenants, t.principal)
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

// yield removes the session that has to give way: of the tenant with the most sessions, the one that was unused for the longest
// time. Nil when all are in use.
func (r *roster) yield() *session {
	if len(r.idle) == 0 {
		return nil
	}
	s := r.idle[0].idle.first
	r.remove(s)
	return s
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
