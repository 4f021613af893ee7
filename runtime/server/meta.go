package server

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/mcpkiln/mcpkiln/runtime/check"
	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

// The keys of _meta that the protocol defines are the runtime's, in every revision and message: a handler's values under them are left out, and
// the runtime writes those that belong there (LET01, LET08, LET21). A handler speaks for all revisions at once, so that a key which one of
// them lacks would reach a client that reads something else in it; and who says that it is another server, or that a result belongs to
// another task, is wrong. The same goes for the members of results that say of what type they are. Keys of extensions are the handler's.

// ownMembers is a result or params of a handler without what is the runtime's; changed is false where there is none.
func (rev *revision) ownMembers(object []byte, names []string) (without []byte, changed bool) {
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

// withoutOwnKeys is a handler's _meta without the keys that are the runtime's.
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

// metaWith is a result's _meta with what the runtime says in it.
func (rev *revision) metaWith(reserved, meta []byte) []byte {
	b := wire.AppendMembers([]byte{'{'}, reserved)
	return append(wire.AppendMembers(b, rev.withoutOwnKeys(meta)), '}')
}

// reservedKeys is what the runtime said in a _meta that it wrote.
func (rev *revision) reservedKeys(meta []byte) []byte {
	members := membersOf(meta)
	maps.DeleteFunc(members, func(key string, _ json.RawMessage) bool { return !slices.Contains(rev.Own.Meta, key) })
	own, _ := json.Marshal(members) // no value of these types fails
	return own
}

// metaOf finds, in a result with metadata that names a task and the server where the revision does, the member that holds it, and its
// value. "" for none.
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
