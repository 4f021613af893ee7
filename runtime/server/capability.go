package server

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/mcpkiln/mcpkiln/runtime/check"
)

// declaration is an object of nested capabilities.
type declaration map[string]declaration

// add declares the capability at path; "" is none.
func (d declaration) add(path string) {
	if path == "" {
		return
	}
	for name := range strings.SplitSeq(path, "/") {
		if d[name] == nil {
			d[name] = declaration{}
		}
		d = d[name]
	}
}

func (d declaration) appendJSON(b []byte) []byte {
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

// declares tells whether the raw object has a member at path.
func declares(raw []byte, path string) bool {
	if path == "" {
		return false
	}
	for name := range strings.SplitSeq(path, "/") {
		var members map[string]json.RawMessage
		if json.Unmarshal(raw, &members) != nil || members[name] == nil || string(members[name]) == "null" {
			return false
		}
		raw = members[name]
	}
	return true
}

// asksForms tells whether a client with these capabilities shows forms: it says so, or it declares the whole without
// naming a mode.
func (c *Capabilities) asksForms(raw []byte) bool {
	return declares(raw, c.ElicitForm) || declares(raw, c.Elicit) && !declares(raw, c.ElicitURL)
}

// capabilities is what the server declares to p: exactly what it serves (TSK01).
func (p *peer) capabilities(w *wire) []byte {
	d := declaration{}
	if len(p.s.def.Tools) > 0 {
		d.add(w.Capabilities.Tools)
	}
	if w.tasks {
		d.add(w.Capabilities.TaskCall)
		d.add(w.Capabilities.TaskCancel)
		if p.listsTasks() {
			d.add(w.Capabilities.TaskList)
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
	return append(b, '}')
}
