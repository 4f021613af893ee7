package server

import (
	"context"
	"sync/atomic"

	"github.com/mcpkiln/mcpkiln/runtime/rpc"
)

// account is what one requestor uses of the limits that all share. Its connections, sessions and exchanges share it (TSK28).
type account struct {
	who     Requestor
	peers   atomic.Int64 // and runs of tasks with it; changed under Server.mu
	calls   atomic.Int64 // its share of Server.calls
	bytes   atomic.Int64 // its share of Server.bytes
	unread  share        // its share of Server.unread
	coming  share        // its share of Server.coming
	opened  share        // its share of Server.opened
	spooled share        // its share of Server.spooled
}

// openAccount finds or makes the account of a requestor, for a peer or the run of a task. With mu.
func (s *Server) openAccount(who Requestor) *account {
	a := s.accountOf(who)
	a.peers.Add(1)
	return a
}

func (s *Server) accountOf(who Requestor) *account {
	if who == (Requestor{}) {
		return &s.anonymous
	}
	a := s.accounts[who]
	if a == nil {
		var ok bool
		if a, ok = s.closed.Get().(*account); !ok {
			a = new(account)
		}
		a.who = who
		a.unread.who = who
		s.accounts[who] = a
	}
	return a
}

// leaveAccount is for the end of a peer, or of a run. With mu.
func (s *Server) leaveAccount(a *account) {
	a.peers.Add(-1)
	s.closeAccount(a)
}

// closeAccount forgets an account that has no peers. It stays while handlers run that are late: they count, and what they were
// answered. With mu.
func (s *Server) closeAccount(a *account) {
	if a == &s.anonymous || a.peers.Load() > 0 || a.calls.Load() > 0 || a.bytes.Load() > 0 || s.accounts[a.who] != a {
		return
	}
	delete(s.accounts, a.who)
	s.closed.Put(a)
}

// leftAlone is for the end of what an account without peers may have counted last.
func (s *Server) leftAlone(a *account) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closeAccount(a)
}

// keep counts n bytes that are kept of the client, if they fit; drop gives them back (TSK28).
func (p *peer) keep(n int64) *rpc.Error {
	return p.s.takeBytes(p.account, n)
}

func (s *Server) takeBytes(a *account, n int64) *rpc.Error {
	if s.bytes.Take(&a.bytes, n) {
		return nil
	}
	return full(&s.bytes, &a.bytes, n, "limit reached: at most %d bytes of requests in flight, subscriptions and answers, of one caller three quarters of that", s.bytes.Max)
}

func (p *peer) drop(n int64) {
	p.s.bytes.Give(&p.account.bytes, n)
	if p.account.peers.Load() == 0 {
		p.s.leftAlone(p.account)
	}
}

// Requestor is who a quota counts for: an identity, callers with one quota key, or, its zero value, everybody else. Requestors can be
// compared.
type Requestor struct{ principal, key string }

// RequestorFrom returns whom the requests of ctx count for.
func RequestorFrom(ctx context.Context) Requestor {
	if principal := PrincipalFrom(ctx); principal != "" {
		return Requestor{principal: principal}
	}
	return Requestor{key: quotaKeyFrom(ctx)}
}

func withRequestor(ctx context.Context, who Requestor) context.Context {
	switch {
	case who.principal != "":
		return WithPrincipal(ctx, who.principal)
	case who.key != "":
		return WithQuotaKey(ctx, who.key)
	}
	return ctx
}

type principalKey struct{}

// WithPrincipal returns a context that carries the identity of the peer; Serve and HTTP handlers take it from there.
// Tasks belong to it (TSK21).
func WithPrincipal(ctx context.Context, principal string) context.Context {
	return context.WithValue(ctx, principalKey{}, principal)
}

// PrincipalFrom returns the identity in ctx, "" without one.
func PrincipalFrom(ctx context.Context) string {
	p, _ := ctx.Value(principalKey{}).(string)
	return p
}

type quotaKey struct{}

// WithQuotaKey returns a context that names a peer without an identity to quotas, for example by its address. Without a name all
// anonymous callers count as one, so that one of them can use up what they have for all (TSK28). Callers of one key wait for one another,
// too: behind ten that do not read their answers, another one's large answer takes up to a minute, so a key should stand for few. It says
// nothing about whose tasks are. streamhttp.WithQuotaKey does this for HTTP.
func WithQuotaKey(ctx context.Context, key string) context.Context {
	return context.WithValue(ctx, quotaKey{}, key)
}

func quotaKeyFrom(ctx context.Context) string {
	key, _ := ctx.Value(quotaKey{}).(string)
	return key
}
