package server

import (
	"encoding/json"

	"github.com/mcpkiln/mcpkiln/runtime/check"
)

// The keys of _meta that the runtime writes are its own: a handler's values under them are left out (LET08, LET21).

// ownKey tells whether the runtime writes the key in any revision: a task's result is read in all of them.
func (s *Server) ownKey(key string) bool {
	for _, w := range s.wires {
		if key == w.Meta.ServerInfo || key == w.Meta.RelatedTask {
			return key != ""
		}
	}
	return false
}

// withoutOwnKeys is a handler's _meta without the keys that the runtime writes.
func (s *Server) withoutOwnKeys(meta []byte) []byte {
	var members map[string]json.RawMessage
	if len(meta) == 0 || json.Unmarshal(meta, &members) != nil {
		return meta
	}
	n := len(members)
	for key := range members {
		if s.ownKey(key) {
			delete(members, key)
		}
	}
	if len(members) == n {
		return meta
	}
	meta, _ = json.Marshal(members) // no value of these types fails
	return meta
}

// metaWithServer is a result's _meta with the server's name and version.
func (r *request) metaWithServer(meta []byte) []byte {
	b := append(append(check.AppendString([]byte{'{'}, r.wire.Meta.ServerInfo), ':'), r.p.s.info...)
	return append(AppendMembers(b, r.p.s.withoutOwnKeys(meta)), '}')
}

// metaOf finds, in a result that names a task and the server, the member that says so, and its value. "" for none.
func metaOf(w *Wire, task string) (name string, meta map[string]json.RawMessage) {
	result := w.AppendCallResult(nil, &CallResult{Content: []byte("[]"), RelatedTask: task, ServerInfo: []byte("{}")})
	for name, value := range membersOf(result) {
		meta = membersOf(value)
		if meta[w.Meta.RelatedTask] != nil || meta[w.Meta.ServerInfo] != nil {
			return name, meta
		}
	}
	return "", nil
}
