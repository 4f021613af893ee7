package server

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/mcpkiln/mcpkiln/runtime/check"
	"github.com/mcpkiln/mcpkiln/runtime/task"
)

type anything struct{}

func (anything) Validate([]byte) check.Violations       { return nil }
func (anything) ValidateOutput([]byte) check.Violations { return nil }

// What the manifest, or for an added tool its annotations, says of a crash is stored with the task.
func TestDUR02TheTaskKnowsHowOftenItMayBeginAgain(t *testing.T) {
	h := newHold()
	policy := func(p TaskPolicy) func(*Tool) { return func(t *Tool) { p.Support = TaskOptional; t.Task = p } }
	store := task.NewMemory()
	f := dual(t, Definition{Tools: []Tool{
		tool("default", h.handler(), policy(TaskPolicy{})), tool("five", h.handler(), policy(TaskPolicy{MaxReruns: 5})), tool("fails", h.handler(), policy(TaskPolicy{OnCrash: FailOnCrash})),
	}}, WithTaskStore(store))
	for name, annotations := range map[string]string{"added": `{}`, "destructive": `{"destructiveHint":true}`, "idempotent": `{"destructiveHint":true,"idempotentHint":true}`} {
		err := f.srv.AddTool([]byte(`{"name":"`+name+`","inputSchema":{"type":"object"},"annotations":`+annotations+`,"execution":{"taskSupport":"optional"}}`), anything{},
			func(ctx context.Context, call *Call, _ json.RawMessage) (json.RawMessage, error) {
				return nil, h.run(ctx, call)
			})
		if err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]int{"default": 3, "five": 5, "fails": 0, "added": 3, "destructive": 0, "idempotent": 3} {
		id := f.create(t.Context(), name, `{}`, tasksAsks)
		<-h.began
		page, err := store.ListAll(t.Context(), task.Filter{Tools: []string{name}}, "", 1)
		if err != nil || len(page.Tasks) != 1 || page.Tasks[0].ID != id || page.Tasks[0].Reruns != want {
			t.Errorf("%s: %v %v", name, page.Tasks, err)
		}
	}
	h.free()
	_ = f.srv.Shutdown(t.Context())
}
