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
