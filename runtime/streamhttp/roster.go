package streamhttp

import (
	"cmp"
	"iter"
	"slices"
	"sync/atomic"

	"github.com/mcpkiln/mcpkiln/runtime/internal/heap"
	"github.com/mcpkiln/mcpkiln/runtime/internal/quota"
	"github.com/mcpkiln/mcpkiln/runtime/server"
)

// roster has all sessions, the tenants to which they belong, and each tenant's idle sessions, which may be ended for new ones. Its callers hold
// Endpoint.mu.
type roster struct {
	sessions map[string]*session
	tenants  map[server.Requestor]*tenant
	idle     heap.Heap[*tenant] // those with idle sessions, the one with the most sessions, idle or in use, first
}

// tenant is a principal, or callers without an identity: those with one quota key, or all without any.
type tenant struct {
	who         server.Requestor
	sessions    int
	sessionless int            // messages without a session that are being served
	unread      atomic.Int64   // its part of Endpoint.unread
	idle        list[*session] // the first is unused for the longest
	position    int            // in roster.idle
}

// Before implements heap.Element.
func (t *tenant) Before(u *tenant) bool { return t.sessions > u.sessions }

// Position implements heap.Element.
func (t *tenant) Position() *int { return &t.position }

func newRoster() roster {
	return roster{sessions: map[string]*session{}, tenants: map[server.Requestor]*tenant{}}
}

func (r *roster) tenantOf(s *session) *tenant {
	t := r.tenants[s.who]
	if t == nil {
		t = &tenant{who: s.who}
		r.tenants[s.who] = t
	}
	s.tenant = t
	return t
}

// leave forgets a tenant that has no session and no sessionless message any more.
func (r *roster) leave(t *tenant) {
	if t.sessions == 0 && t.sessionless == 0 {
		delete(r.tenants, t.who)
	}
}

// addSessionless counts a sessionless message for its tenant. It can not give way as a session can, but what its client has not read counts with
// that of the sessions.
func (r *roster) addSessionless(s *session) { r.tenantOf(s).sessionless++ }

func (r *roster) removeSessionless(s *session) {
	s.tenant.sessionless--
	r.leave(s.tenant)
}

func (r *roster) add(s *session) {
	t := r.tenantOf(s)
	t.sessions++
	r.sessions[s.id] = s
	r.recount(t)
}

func (r *roster) rename(s *session, id string) {
	if r.sessions[s.id] == s {
		delete(r.sessions, s.id)
		r.sessions[id] = s
	}
	s.id = id
}

// remove forgets a session; a second time it does nothing.
func (r *roster) remove(s *session) {
	if r.sessions[s.id] != s {
		return
	}
	delete(r.sessions, s.id)
	r.markBusy(s)
	t := s.tenant
	t.sessions--
	r.recount(t)
	r.leave(t)
}

// recount moves a tenant to its place in idle, after its number of sessions has changed.
func (r *roster) recount(t *tenant) {
	if t.idle.first != nil {
		r.idle.Fix(t)
	}
}

func (r *roster) markBusy(s *session) {
	if !s.idleAt.listed {
		return
	}
	s.tenant.idle.remove(s)
	if s.tenant.idle.first == nil {
		r.idle.Remove(s.tenant)
	}
}

func (r *roster) markIdle(s *session) {
	if s.idleAt.listed || r.sessions[s.id] != s {
		return
	}
	s.tenant.idle.push(s)
	if s.tenant.idle.first == s {
		r.idle.Push(s.tenant)
	}
}

// makeRoom decides whether a requestor may have one more session. Within its fair part of limit there is room. Beyond that the new session
// replaces an unused one, which is removed: one of the tenant with the most sessions, if that has more than the requestor, else one of the requestor's
// own. So a principal can not end sessions of those who have fewer, nor keep others from opening some by keeping its own in use.
func (r *roster) makeRoom(who server.Requestor, limit int) (unused *session, ok bool) {
	t := cmp.Or(r.tenants[who], &tenant{})
	if quota.Fair(int64(t.sessions), int64(len(r.sessions)), 1, int64(limit)) {
		return nil, true
	}
	unused = t.idle.first
	if r.idle.Len() > 0 && r.idle.First().sessions > t.sessions {
		unused = r.idle.First().idle.first
	}
	if unused == nil {
		return nil, false
	}
	r.remove(unused)
	return unused, true
}

// largest returns the tenants that have idle sessions, the one with the most sessions first.
func (r *roster) largest() []*tenant {
	return slices.SortedFunc(slices.Values(r.idle.All()), func(a, b *tenant) int { return b.sessions - a.sessions })
}

// givingWay yields all sessions in the order in which what they keep gives way: idle ones of the tenant with the most sessions first, then the others.
func (r *roster) givingWay() iter.Seq[*session] {
	return func(yield func(*session) bool) {
		for _, t := range r.largest() {
			for s := t.idle.first; s != nil; s = s.idleAt.after {
				if !yield(s) {
					return
				}
			}
		}
		for _, s := range r.sessions {
			if !s.idleAt.listed && !yield(s) {
				return
			}
		}
	}
}
