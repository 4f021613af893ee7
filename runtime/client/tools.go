package client

import (
	"encoding/json"
	"sync"

	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

// knownTools remembers of tools what decides how they are called, as the last list of them said.
type knownTools struct {
	mu    sync.Mutex
	tools map[string]knownTool
}

type knownTool struct {
	params  []param // arguments that headers repeat
	support string  // whether it runs as a task: required, optional, or anything else for no
}

func (t *knownTools) get(name string) (knownTool, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	known, ok := t.tools[name]
	return known, ok
}

func (t *knownTools) put(name string, known knownTool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.tools == nil {
		t.tools = map[string]knownTool{}
	}
	t.tools[name] = known
}

// learn reads the definitions of tools and returns those that can be called: over HTTP, one whose declaration of headers is not valid can
// not.
func (s *Session) learn(d *wire.Dialect, tools []json.RawMessage) []json.RawMessage {
	headers := d.HTTP.ParamPrefix != "" && !s.link.shared()
	valid := tools[:0:0]
	for _, definition := range tools {
		var tool struct {
			Name      string
			Execution struct{ TaskSupport string }
		}
		_ = json.Unmarshal(definition, &tool)
		known := knownTool{support: tool.Execution.TaskSupport}
		if headers {
			var err error
			if known.params, err = paramsOf(definition); err != nil {
				s.cfg.logger.Warn("a tool was left out: "+headerKeyword+" is not valid", "tool", tool.Name, "error", err)
				continue
			}
		}
		s.tools.put(tool.Name, known)
		if s.expected.get(tool.Name) != nil {
			s.compare(readDefinition(definition))
		}
		valid = append(valid, definition)
	}
	return valid
}
