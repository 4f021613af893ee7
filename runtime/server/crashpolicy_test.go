package server

import (
	"context"
	"encoding/json"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/check"
	"github.com/mcpkiln/mcpkiln/runtime/inflight"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
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

// CAN21: at a shutdown a task that may not run again has the grace period, however long the shutdown may take, and one that ends then is no failure.
func TestCAN21ATaskThatMayNotRunAgainEndsWithTheGracePeriod(t *testing.T) {
	for _, grace := range []time.Duration{0, time.Second, 2 * time.Second} {
		for name, stop := range map[string]func(ctx context.Context, s *Server) error{
			"Shutdown": func(ctx context.Context, s *Server) error { return s.Shutdown(ctx) },
			"Run": func(ctx context.Context, s *Server) error {
				_, conn := rpc.Pipe()
				told, tell := context.WithCancel(ctx)
				tell()
				return s.Run(told, conn)
			},
		} {
			endsWithGrace(t, grace, name, stop)
		}
	}
}

func endsWithGrace(t *testing.T, grace time.Duration, name string, stop func(ctx context.Context, s *Server) error) {
	synctest.Test(t, func(t *testing.T) {
		h := newHold()
		once := tool("once", h.handler(), func(t *Tool) { t.Task = TaskPolicy{Support: TaskOptional, OnCrash: FailOnCrash} })
		f := dual(t, Definition{Tools: []Tool{once}}, WithGrace(grace))
		f.create(t.Context(), "once", `{}`, tasksAsks)
		<-h.began
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		begun := time.Now()
		if err := stop(ctx, f.srv); err != nil || time.Since(begun) != grace {
			t.Errorf("%s, grace %v: it took %v: %v", name, grace, time.Since(begun), err)
		}
		if cause := <-h.ended; cause.Source != inflight.SourceShutdown {
			t.Error(cause)
		}
	})
}
