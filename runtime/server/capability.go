package server

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/mcpkiln/mcpkiln/runtime/check"
	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

// declaration is a JSON object of nested capabilities; nil stands for the value true.
type declaration map[string]declaration

// add declares the capability at path; "" is none.
func (d declaration) add(path string) {
	if path == "" {
		return
	}
	for name := range wire.Steps(path) {
		if d[name] == nil {
			d[name] = declaration{}
		}
		d = d[name]
	}
}

// flag declares the capability at path with the value true.
func (d declaration) flag(path string) {
	parent, name := "", path
	if i := strings.LastIndexByte(path, '/'); i >= 0 {
		parent, name = path[:i], path[i+1:]
	}
	d.add(path)
	for step := range wire.Steps(parent) {
		d = d[step]
	}
	d[name] = nil
}

func (d declaration) appendJSON(b []byte) []byte {
	if d == nil {
		return append(b, "true"...)
	}
	b = append(b, '{')
	for i, name := range slices.Sorted(maps.Keys(d)) {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(check.AppendString(b, name), ':')
		b = d[name].appendJSON(b)
	}
	return append(b, '}')
}

// declares reports whether the raw object has an object at path. The schema of every revision makes a capability an object, so a client that writes
// anything else, even true, has not declared it (LET21), and is not sent what requires it (SRV08). Its message is not refused for that: clients
// declare more than a server knows, and a request that requires the capability is refused with the object to declare (EXT18).
func declares(raw []byte, path string) bool {
	value := at(raw, path)
	return path != "" && len(value) > 0 && value[0] == '{'
}

// at is the value at path within the raw object, nil for none.
func at(raw []byte, path string) []byte {
	for name := range wire.Steps(path) {
		var members map[string]json.RawMessage
		if json.Unmarshal(raw, &members) != nil {
			return nil
		}
		raw = members[name]
	}
	return raw
}

// capabilities is what the server declares to p: exactly what it serves (TSK01).
func (p *peer) capabilities(rev *revision) []byte {
	d, c := declaration{}, &rev.Capabilities
	if p.s.hasTools(rev) {
		d.add(c.Tools)
	}
	if rev.tasks {
		d.add(c.TaskCall)
		d.add(c.TaskCancel)
		d.add(c.Tasks)
		if p.listsTasks() {
			d.add(c.TaskList)
		}
	}
	for i := range rev.Methods {
		if m := &rev.Methods[i]; rev.answers(m) && m.Declares != c.ResourceUpdated {
			d.add(m.Declares)
		}
	}
	for _, path := range c.Extensions {
		d.add(path)
	}
	if p.sessionless { // a client without a session gets no notifications outside of its requests
		return d.appendJSON(nil)
	}
	if rev.names[wire.OpLog] != "" {
		d.add(c.Logging)
	}
	for op, path := range rev.changes() {
		if rev.names[op] != "" && path != "" {
			d.flag(path)
		}
	}
	return d.appendJSON(nil)
}

// listsTasks reports whether p may list tasks. Without an identity, callers that the server can not tell apart see one another's tasks, so that
// takes WithTaskList (TSK21).
func (p *peer) listsTasks() bool { return p.who.principal != "" || p.s.cfg.listTasks }

// serverInfo is how the server names itself. Its members have the same names in every revision that has them.
func serverInfo(d *Definition) []byte {
	b := check.AppendString([]byte(`{"name":`), d.Name)
	if d.Title != "" {
		b = check.AppendString(append(b, `,"title":`...), d.Title)
	}
	b = check.AppendString(append(b, `,"version":`...), d.Version)
	return append(wire.AppendMembers(b, []byte(d.Info)), '}')
}
