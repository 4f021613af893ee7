package server

import (
	"context"
	"sync/atomic"

	"github.com/mcpkiln/mcpkiln/runtime/rpc"
)

// account is what one Requestor uses of the limits that all share. All its connections, sessions and exchanges count in it (TSK28).
type account struct {
	who    Requestor
	peers  atomic.Int64 // how many peers and runs of tasks count in it; changed under Server.mu
	calls  atomic.Int64 // its share of Server.calls
	bytes  atomic.Int64 // its share of Server.bytes
	unread share        // its share of Server.unread
	coming share        // its share of Server.coming
	files  fileShares   // its shares of Server.opened and Server.files
}

// openAccount finds or makes the account of a Requestor, for one more peer or run of a task. The caller holds s.mu.
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

// leaveAccount removes a peer or a run of a task from its account. The caller holds s.mu.
func (s *Server) leaveAccount(a *account) {
	a.peers.Add(-1)
	s.closeAccount(a)
}

// closeAccount deletes an account that has no peers. An account stays while calls that outlived their peer run, or bytes are counted in it. The caller
// holds s.mu.
func (s *Server) closeAccount(a *account) {
	if a == &s.anonymous || a.peers.Load() > 0 || a.calls.Load() > 0 || a.bytes.Load() > 0 || s.accounts[a.who] != a {
		return
	}
	delete(s.accounts, a.who)
	s.closed.Put(a)
}

// closeUnused closes an account without peers if nothing counts in it any more.
func (s *Server) closeUnused(a *account) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closeAccount(a)
}

// charge counts n bytes that are kept for the client, if they fit into its account, until refund (TSK28).
func (p *peer) charge(n int64) *rpc.Error {
	return p.s.takeBytes(p.account, n)
}

func (s *Server) takeBytes(a *account, n int64) *rpc.Error {
	if s.bytes.Take(&a.bytes, n) {
		return nil
	}
	return full(&s.bytes, &a.bytes, n, "limit reached: at most %d bytes of requests in flight, subscriptions and answers, of one caller three quarters of that", s.bytes.Max)
}

// refund gives back n bytes that charge counted.
func (p *peer) refund(n int64) {
	p.s.bytes.Give(&p.account.bytes, n)
	if p.account.peers.Load() == 0 {
		p.s.closeUnused(p.account)
	}
}

// Requestor is whom a request counts for in the limits: the callers with one identity, those with one quota key, or, as the zero value, all others. It is
// comparable.
type Requestor struct{ principal, key string }

// RequestorFrom returns the Requestor that the requests of ctx count for.
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
// Tasks belong to the identity (TSK21).
func WithPrincipal(ctx context.Context, principal string) context.Context {
	return context.WithValue(ctx, principalKey{}, principal)
}

// PrincipalFrom returns the identity in ctx, "" without one.
func PrincipalFrom(ctx context.Context) string {
	p, _ := ctx.Value(principalKey{}).(string)
	return p
}

type quotaKey struct{}

// WithQuotaKey returns a context whose requests count for key, such as a network address, if they have no identity. Without a key all anonymous
// callers count as one, so that one of them can use up the limits of all (TSK28). Callers with one key also wait for one another: behind ten that do
// not read their answers, another one's large answer takes up to a minute, so a key should stand for few. Tasks do not belong to a key.
// streamhttp.WithQuotaKey does this for HTTP.
func WithQuotaKey(ctx context.Context, key string) context.Context {
	return context.WithValue(ctx, quotaKey{}, key)
}

func quotaKeyFrom(ctx context.Context) string {
	key, _ := ctx.Value(quotaKey{}).(string)
	return key
}
