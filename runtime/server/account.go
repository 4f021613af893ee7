package server

import (
	"sync/atomic"

	"github.com/mcpkiln/mcpkiln/runtime/rpc"
)

// account is what one requestor has of what is there for all. Its connections, sessions and exchanges share it (TSK28).
type account struct {
	who    Requestor
	peers  atomic.Int64 // with it; changed under Server.mu
	calls  atomic.Int64 // its part of Server.calls
	bytes  atomic.Int64 // its part of Server.bytes
	unread budget       // its part of Server.unread
	coming budget       // its part of Server.coming
}

// openAccount finds or makes the account of a new peer. With mu.
func (s *Server) openAccount(p *peer) {
	a := s.accounts[p.who]
	if a == nil {
		var ok bool
		if a, ok = s.closed.Get().(*account); !ok {
			a = new(account)
			a.unread.init(s.cfg.maxUnread / accountParts)
			a.coming.init(s.cfg.maxUnread / accountParts)
		}
		a.who = p.who
		s.accounts[p.who] = a
	}
	a.peers.Add(1)
	p.account = a
}

// leaveAccount is for the end of a peer. With mu.
func (s *Server) leaveAccount(p *peer) {
	p.account.peers.Add(-1)
	s.closeAccount(p.account)
}

// closeAccount forgets an account that has no peers. It stays while handlers run that are late: they count. With mu.
func (s *Server) closeAccount(a *account) {
	if a.peers.Load() > 0 || a.calls.Load() > 0 || s.accounts[a.who] != a {
		return
	}
	delete(s.accounts, a.who)
	s.closed.Put(a)
}

// smallMessage is up to how many bytes a message is not counted: the number of requests bounds those.
const smallMessage = 4 << 10

// reserve is how many requests more may be in flight that end others, or ask whether the server is there: they pass when everything
// else is refused.
const reserve = 1_000

func (m *Method) reserved() bool { return m.Op == OpPing || m.Op == OpCancelTask }

// hold counts the request, and its message, until it is released.
func (r *request) hold() *rpc.Error {
	s, a := r.p.s, r.p.account
	if !r.holdCall() {
		return rpc.Errorf(rpc.CodeInvalidRequest, "limit reached: at most %d requests in flight, of one caller three quarters of that", s.calls.Max)
	}
	r.counted = true
	if n := int64(r.size); n > smallMessage {
		if !s.bytes.Take(&a.bytes, n) {
			r.letGo()
			return rpc.Errorf(rpc.CodeInvalidRequest, "limit reached: at most %d bytes of requests in flight, of one caller three quarters of that", s.bytes.Max)
		}
		r.held = n
	}
	return nil
}

func (r *request) holdCall() bool {
	s, a := r.p.s, r.p.account
	if r.method.reserved() {
		return s.calls.TakeReserved(&a.calls, 1, reserve)
	}
	return s.calls.Take(&a.calls, 1)
}

// letGo gives back what the request and its answer hold.
func (r *request) letGo() {
	r.room.free()
	if !r.counted {
		return
	}
	s, a := r.p.s, r.p.account
	if r.held > 0 {
		s.bytes.Give(&a.bytes, r.held)
	}
	s.calls.Give(&a.calls, 1)
	r.counted, r.held = false, 0
	if a.peers.Load() == 0 {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.closeAccount(a)
	}
}
