package server

import (
	"encoding/json"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/mcpkiln/mcpkiln/runtime/check"
)

// declaration is an object of nested capabilities; a nil one is the value true.
type declaration map[string]declaration

// add declares the capability at path; "" is none.
func (d declaration) add(path string) {
	if path == "" {
		return
	}
	for name := range steps(path) {
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
	for step := range steps(parent) {
		d = d[step]
	}
	d[name] = nil
}

// steps are the member names of a path.
func steps(path string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for name := range strings.SplitSeq(path, "/") {
			if strings.Contains(name, "~") {
				name = unescape(name)
			}
			if !yield(name) {
				return
			}
		}
	}
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

// declares tells whether the raw object has an object at path: a capability that is anything else is not declared (LET21).
func declares(raw []byte, path string) bool {
	if path == "" {
		return false
	}
	for name := range steps(path) {
		var members map[string]json.RawMessage
		if json.Unmarshal(raw, &members) != nil {
			return false
		}
		if raw = members[name]; len(raw) == 0 || raw[0] != '{' {
			return false
		}
	}
	return true
}

// capabilities is what the server declares to p: exactly what it serves (TSK01).
func (p *peer) capabilities(w *wire) []byte {
	d, c := declaration{}, &w.Capabilities
	if len(p.s.def.Tools) > 0 {
		d.add(c.Tools)
	}
	if w.tasks {
		d.add(c.TaskCall)
		d.add(c.TaskCancel)
		d.add(c.Tasks)
		if p.listsTasks() {
			d.add(c.TaskList)
		}
	}
	for i := range w.Methods {
		if m := &w.Methods[i]; w.handlers[m.Name] != nil && m.Declares != c.ResourceUpdated {
			d.add(m.Declares)
		}
	}
	if w.names[OpLog] != "" {
		d.add(c.Logging)
	}
	for op, path := range w.notices() {
		if w.names[op] != "" && path != "" {
			d.flag(path)
		}
	}
	return d.appendJSON(nil)
}

// listsTasks: without an identity a list would show tasks to whoever can reach the server, so it needs the operator's
// word (TSK21).
func (p *peer) listsTasks() bool { return p.principal != "" || p.s.cfg.listTasks }

// serverInfo is how the server names itself. Its members are the same in every revision.
func serverInfo(d *Definition) []byte {
	b := check.AppendString([]byte(`{"name":`), d.Name)
	if d.Title != "" {
		b = check.AppendString(append(b, `,"title":`...), d.Title)
	}
	b = check.AppendString(append(b, `,"version":`...), d.Version)
	return append(AppendMembers(b, []byte(d.Info)), '}')
}

// unescape undoes the escapes of a name in a capability's path.
func unescape(name string) string {
	return strings.ReplaceAll(strings.ReplaceAll(name, "~1", "/"), "~0", "~")
}
