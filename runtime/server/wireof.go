package server

// Wire returns the wire of a revision, or nil when it is not served.
func (s *Server) Wire(revision string) *Wire {
	for _, w := range s.wires {
		if w.Revision == revision {
			return w.Wire
		}
	}
	return nil
}

// Handshakes tells whether there is a revision with sessions.
func (s *Server) Handshakes() bool { return s.handshake() != nil }

// EndSubscriptions ends the subscriptions that out carries, each with its result, and waits for that up to the grace period: a
// transport that stops calls it before it cancels exchanges.
func (s *Server) EndSubscriptions(out Outlet) {
	s.mu.Lock()
	var own []*peer
	for l := range s.listens {
		if l.peer.out == out {
			own = append(own, l.peer)
		}
	}
	s.mu.Unlock()
	for _, p := range own {
		s.endListens(p)
	}
}
