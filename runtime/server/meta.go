package server

import (
	"encoding/json"

	"github.com/mcpkiln/mcpkiln/runtime/check"
)

// Keys of _meta that the runtime writes are its own: what a handler has under them is left out (LET08, LET21).

// owns tells whether the key is the runtime's in any revision: a task's result is read in all of them.
func (s *Server) owns(key string) bool {
	for _, w := range s.wires {
		if key == w.Meta.ServerInfo || key == w.Meta.RelatedTask {
			return key != ""
		}
	}
	return false
}

// unowned is the _meta of a handler without the keys that are the runtime's.
func (s *Server) unowned(meta []byte) []byte {
	var members map[string]json.RawMessage
	if len(meta) == 0 || json.Unmarshal(meta, &members) != nil {
		return meta
	}
	n := len(members)
	for key := range members {
		if s.owns(key) {
			delete(members, key)
		}
	}
	if len(members) == n {
		return meta
	}
	meta, _ = json.Marshal(members) // no value of these types fails
	return meta
}

// signed is the _meta of a result with the server's name.
func (r *request) signed(meta []byte) []byte {
	b := append(append(check.AppendString([]byte{'{'}, r.wire.Meta.ServerInfo), ':'), r.p.s.info...)
	return append(AppendMembers(b, r.p.s.unowned(meta)), '}')
}
