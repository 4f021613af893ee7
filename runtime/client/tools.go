package client

import (
	"encoding/json"
	"sync"

	"github.com/mcpkiln/mcpkiln/runtime/check/paramheader"
	"github.com/mcpkiln/mcpkiln/runtime/internal/exact"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

// knownTools remembers what decides how tools are called, from the last list of them.
type knownTools struct {
	mu    sync.Mutex
	tools map[string]knownTool
}

type knownTool struct {
	params  []paramheader.Param // arguments that headers repeat
	support string              // whether it runs as a task: required, optional, or anything else for no
}

func (t *knownTools) get(name string) (knownTool, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	known, ok := t.tools[name]
	return known, ok
}

// maxKnown is how many tools are remembered.
const maxKnown = 1 << 16

// add adds the tools of one page of a list.
func (t *knownTools) add(page map[string]knownTool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.tools == nil {
		t.tools = map[string]knownTool{}
	}
	for name, known := range page {
		if len(t.tools) < maxKnown {
			t.tools[name] = known
		}
	}
}

// replace forgets all tools but those of a list that was read to its end.
func (t *knownTools) replace(all *knownTools) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.tools = all.tools
}

// learn remembers the tools of a page and returns the definitions of those that can be called: one whose input is no object can not,
// nor can one over HTTP that declares headers in an invalid way. The tools are also added to list, which has those of the pages so far.
func (s *Session) learn(d *wire.Dialect, tools []json.RawMessage, list *knownTools) []json.RawMessage {
	headers := d.HTTP.ParamPrefix != "" && !s.link.shared()
	valid := tools[:0:0]
	page := map[string]knownTool{}
	for _, definition := range tools {
		var tool struct {
			Name      string `json:"name"`
			Execution struct {
				TaskSupport string `json:"taskSupport"`
			} `json:"execution"`
		}
		_ = exact.Unmarshal(definition, &tool)
		if kind := memberOf(memberOf(definition, "inputSchema"), "type"); kind != nil && textOf(kind) != "object" { // arguments are always an object
			s.cfg.logger.Warn("a tool was left out: the type of its inputSchema is not object", "tool", tool.Name, "type", rpc.Printable(string(kind)))
			continue
		}
		known := knownTool{support: tool.Execution.TaskSupport}
		if headers {
			var err error
			if known.params, err = paramheader.Of(definition); err != nil {
				s.cfg.logger.Warn("a tool was left out: "+paramheader.Keyword+" is not valid", "tool", tool.Name, "error", err)
				continue
			}
		}
		page[tool.Name] = known
		if s.expected.get(tool.Name) != nil {
			s.compare(readDefinition(definition))
		}
		valid = append(valid, definition)
	}
	s.tools.add(page)
	list.add(page)
	return valid
}
