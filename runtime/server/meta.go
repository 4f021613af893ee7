package server

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/mcpkiln/mcpkiln/runtime/check"
	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

// The runtime owns the keys of _meta that the protocol defines, in every revision and message: it removes a handler's values under them, and
// writes those that belong there (LET01, LET08, LET21). A handler serves all revisions at once, so a key that one of them lacks could reach a
// client that gives it another meaning; and a value that names another server or another task would be wrong. The same holds for the members
// that state a result's type. Keys of extensions belong to the handler.

// withoutOwnMembers returns a handler's result or params without the members and keys of _meta that the runtime owns; changed is false if
// there were none.
func (rev *revision) withoutOwnMembers(object []byte, names []string) (without []byte, changed bool) {
	if !check.Mentions(object, rev.metaMember) && !slices.ContainsFunc(names, func(name string) bool { return check.Mentions(object, name) }) {
		return object, false
	}
	members := membersOf(object)
	for _, name := range names {
		if members[name] != nil {
			delete(members, name)
			changed = true
		}
	}
	if meta := members[rev.metaMember]; meta != nil {
		if kept := rev.withoutOwnKeys(meta); len(kept) != len(meta) {
			members[rev.metaMember], changed = kept, true
		}
	}
	if !changed {
		return object, false
	}
	without, _ = json.Marshal(members) // no value of these types fails
	return without, true
}

// withoutOwnKeys returns a handler's _meta without the keys that the runtime owns.
func (rev *revision) withoutOwnKeys(meta []byte) []byte {
	members := membersOf(meta)
	n := len(members)
	for _, key := range rev.Own.Meta {
		delete(members, key)
	}
	if len(members) == n {
		return meta
	}
	meta, _ = json.Marshal(members) // no value of these types fails
	return meta
}

// metaWith returns a result's _meta with the runtime's members (reserved) before those of meta.
func (rev *revision) metaWith(reserved, meta []byte) []byte {
	b := wire.AppendMembers([]byte{'{'}, reserved)
	return append(wire.AppendMembers(b, rev.withoutOwnKeys(meta)), '}')
}

// reservedKeys returns the members of a _meta under the keys that the runtime owns.
func (rev *revision) reservedKeys(meta []byte) []byte {
	members := membersOf(meta)
	maps.DeleteFunc(members, func(key string, _ json.RawMessage) bool { return !slices.Contains(rev.Own.Meta, key) })
	own, _ := json.Marshal(members) // no value of these types fails
	return own
}

// metaOf returns the name and value of the member _meta in a sample result of the revision; the sample names a task and the server, if results of the
// revision do. name is "" without such a member.
func metaOf(w *wire.Revision, task string) (name string, meta map[string]json.RawMessage) {
	result := w.AppendCallResult(nil, &wire.CallResult{Content: []byte("[]"), Meta: []byte(`{"own":0}`), RelatedTask: task, ServerInfo: []byte("{}")})
	for name, value := range membersOf(result) {
		meta = membersOf(value)
		if meta["own"] != nil || meta[w.Meta.RelatedTask] != nil || meta[w.Meta.ServerInfo] != nil {
			return name, meta
		}
	}
	return "", nil
}
