package client

import (
	"encoding/json"

	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

// declared takes what the server declared.
func (s *Session) declared(d *wire.Dialect, v *wire.Values) {
	s.server = newDeclaration(d, v)
	if s.server.capabilities == nil {
		raw := rpc.Printable(rpc.CutTo(string(v[wire.SlotCapabilities]), maxBeginning))
		s.cfg.logger.Warn("the server's capabilities are missing or no object, so it counts as offering nothing", "capabilities", raw)
	}
}

// newDeclaration returns what the server declared.
func newDeclaration(d *wire.Dialect, v *wire.Values) declaration {
	said := declaration{info: v[wire.SlotServerInfo], capabilities: v[wire.SlotCapabilities], instructions: v.Text(wire.SlotInstructions)}
	if _ = json.Unmarshal(said.capabilities, &said.offers); said.offers == nil {
		said.capabilities = nil // they are no object
	}
	for op := range said.has {
		call := d.Call(wire.Op(op))
		said.has[op] = call != nil && said.offer(call.Needs)
	}
	said.tasks = d.Task.ServerDecides && said.offer(d.Offers.Tasks)
	said.taskCalls = d.Task.ClientDecides && d.Offers.TaskCall != "" && said.offer(d.Offers.TaskCall)
	return said
}

// offer reports whether the declaration has the capability at path. The empty path needs no capability.
func (s *declaration) offer(path string) bool {
	if path == "" {
		return true
	}
	at := s.offers
	var value any = s.offers
	for name := range wire.Steps(path) {
		value = at[name]
		at, _ = value.(map[string]any)
	}
	return value != nil && value != false
}

// declare returns this client's capabilities, as the revision writes them.
func (s *Session) declare(d *wire.Dialect) json.RawMessage {
	all, h, at := map[string]any{}, &s.cfg.handlers, &d.Declares
	add := func(on bool, path string, value any) {
		if on && path != "" {
			setAt(all, path, value)
		}
	}
	form, url := h.Elicit != nil, h.OpenURL != nil && at.ElicitationURL != ""
	add(form || url, at.Elicitation, nil)
	add(form && at.ElicitationForm != "", at.ElicitationForm, nil)
	add(url, at.ElicitationURL, nil)
	add(h.Sample != nil, at.Sampling, nil)
	add(h.Sample != nil && h.SampleTools, at.SamplingTools, nil)
	add(h.Sample != nil && h.SampleContext, at.SamplingContext, nil)
	add(d.Task.ServerDecides, at.Tasks, nil)
	asTask := (form || url) && at.TaskElicit != "" || h.Sample != nil && at.TaskCreateMessage != ""
	add(asTask, at.Tasks, nil)
	add(asTask, at.TaskCancel, nil)
	add(asTask, at.TaskList, nil)
	add(form || url, at.TaskElicit, nil)
	add(h.Sample != nil, at.TaskCreateMessage, nil)
	add(h.Roots != nil, at.Roots, nil)
	add(h.Roots != nil, at.RootsListChanged, true)
	text, _ := json.Marshal(all)
	return text
}

// setAt sets the value at a path; nil stands for an empty object, which replaces no other value.
func setAt(all map[string]any, path string, value any) {
	var names []string
	for name := range wire.Steps(path) {
		names = append(names, name)
	}
	last := len(names) - 1
	for _, name := range names[:last] {
		inner, ok := all[name].(map[string]any)
		if !ok {
			inner = map[string]any{}
			all[name] = inner
		}
		all = inner
	}
	switch {
	case value != nil:
		all[names[last]] = value
	case all[names[last]] == nil:
		all[names[last]] = map[string]any{}
	}
}
