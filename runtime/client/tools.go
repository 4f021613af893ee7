package client

import (
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	"github.com/mcpkiln/mcpkiln/runtime/check/paramheader"
	"github.com/mcpkiln/mcpkiln/runtime/internal/exact"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

// knownTools remembers what decides how tools are called, from the last list of them.
type knownTools struct {
	mu      sync.Mutex
	tools   map[string]knownTool
	leftOut []LeftOut // by the list
}

type knownTool struct {
	params  []paramheader.Param // arguments that headers repeat
	support string              // whether it runs as a task: required, optional, or anything else for no
	invalid string              // why no headers can repeat its arguments, so that the list has left it out; "" if they can
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
		if _, again := t.tools[name]; again || len(t.tools) < maxKnown {
			t.tools[name] = known
		}
	}
}

// replace forgets all tools but those of a list that was read to its end.
func (t *knownTools) replace(all *knownTools) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.tools, t.leftOut = all.tools, all.leftOut
}

// missing returns what the last list of tools has left out.
func (t *knownTools) missing() []LeftOut {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.leftOut)
}

// learn adds a tool to those of its page, or returns why it can not be called: one whose input is no object can not, nor can one over HTTP that declares
// headers in an invalid way.
func (s *Session) learn(d *wire.Dialect, name string, definition json.RawMessage, page map[string]knownTool) (why string) {
	var tool struct {
		Execution struct {
			TaskSupport string `json:"taskSupport"`
		} `json:"execution"`
	}
	_ = exact.Unmarshal(definition, &tool)
	if kind := memberOf(memberOf(definition, "inputSchema"), "type"); kind != nil && textOf(kind) != "object" { // arguments are always an object
		return rpc.Printable(fmt.Sprintf("the type of its inputSchema is not object: %.80s", kind))
	}
	known := knownTool{support: tool.Execution.TaskSupport}
	if d.HTTP.ParamPrefix != "" && !s.link.shared() {
		var err error
		if known.params, err = paramheader.Of(definition); err != nil {
			known.invalid = fmt.Sprintf("its %s is not valid: %v", paramheader.Keyword, err)
			page[name] = known
			return known.invalid
		}
	}
	page[name] = known
	if s.expected.get(name) != nil {
		s.compare(readDefinition(definition))
	}
	return ""
}
