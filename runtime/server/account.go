package server

import (
	"sync/atomic"
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
