package server

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/mcpkiln/mcpkiln/runtime/check"
)

// VAL07, TSK28: what a validator that is not generated makes of arguments counts like what a generated decoder does, before it begins.
func TestVAL07ArgumentsOfAddedToolsAreCountedBeforeTheyAreValidated(t *testing.T) {
	f := dual(t, Definition{Tools: []Tool{tool("echo", structured(echo))}})
	validated := 0
	err := f.srv.AddTool([]byte(`{"name":"added","inputSchema":{"type":"object"}}`), counting{&validated}, func(context.Context, *Call, json.RawMessage) (json.RawMessage, error) { return nil, nil })
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range []string{"[]", "{}", "1"} {
		m := f.ask(t.Context(), frame(1, "tools/call", nothing, callParams("added", `{"x":[`+strings.Repeat(one+",", 2<<20)+`1]}`)))
		if validated != 0 || !strings.Contains(m.raw, "limit") {
			t.Errorf("two million of %s: validated %d times, %.300s", one, validated, m.raw)
		}
	}
	f.ask(t.Context(), frame(1, "tools/call", nothing, callParams("added", `{"x":[`+strings.Repeat("[],", 1<<10)+`1]}`))).wantNoError(t)
	f.ask(t.Context(), frame(1, "tools/call", nothing, callParams("added", `{"x":"`+strings.Repeat(`,[{\"`, 1<<20)+`"}`))).wantNoError(t)
	if validated != 2 {
		t.Errorf("what is not large is validated %d times", validated)
	}
}

type counting struct{ n *int }

func (c counting) Validate([]byte) check.Violations {
	*c.n++
	return nil
}
