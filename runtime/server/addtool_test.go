package server

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/mcpkiln/mcpkiln/runtime/check"
	"github.com/mcpkiln/mcpkiln/runtime/task"
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

// SRV06, TSK04: a task that was acknowledged runs with the tool that accepted its arguments, also if that is removed, or another one has its name, before
// the task begins.
func TestSRV06ATaskKeepsTheToolThatAcceptedIt(t *testing.T) {
	add := func(s *Server, v Validator, answer string) error {
		return s.AddTool([]byte(`{"name":"added","inputSchema":{"type":"object"},"execution":{"taskSupport":"optional"}}`), v,
			func(context.Context, *Call, json.RawMessage) (json.RawMessage, error) {
				return json.RawMessage(answer), nil
			})
	}
	for _, replaced := range []bool{false, true} {
		var f *fixture
		f = dual(t, Definition{Tools: []Tool{tool("echo", structured(echo), withTask(TaskOptional))}}, WithObserver(func(e Event) {
			if e.Kind != TaskCreated {
				return
			}
			if !f.srv.RemoveTool("added") {
				t.Error("there is no tool to remove")
			}
			if replaced {
				if err := add(f.srv, refusing{}, `{"of":"the newer one"}`); err != nil {
					t.Error(err)
				}
			}
		}))
		c := f.dialTasks("")
		for _, stateless := range []bool{false, true} {
			f.srv.RemoveTool("added")
			if err := add(f.srv, anything{}, `{"of":"its own"}`); err != nil {
				t.Fatal(err)
			}
			var m message
			if stateless {
				m = f.await(t.Context(), f.create(t.Context(), "added", `{"text":"x"}`, withTasks), task.Completed)
			} else {
				m = c.request("2", "tasks/result", taskID(c.start("1", "added", "")))
			}
			if m.Error != nil || !strings.Contains(m.raw, "its own") {
				t.Errorf("replaced %v, stateless %v: %s", replaced, stateless, m.raw)
			}
		}
	}
}

type refusing struct{}

func (refusing) Validate([]byte) check.Violations { return check.Violations{{Keyword: "type"}} }

type counting struct{ n *int }

func (c counting) Validate([]byte) check.Violations {
	*c.n++
	return nil
}
