package server

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/task"
)

// What the tracker has of a tool's calls is made once for each kind: by revision, and for calls that become tasks apart from the others.
func TestCallsOfOneKindShareWhatTheTrackerHas(t *testing.T) {
	f := dual(t, Definition{Tools: []Tool{tool("echo", structured(echo), withTask(TaskOptional), func(t *Tool) {
		t.Cancel = CancelPolicy{Timeout: time.Minute, Uncancellable: true}
	})}})
	echo := f.srv.tools.get("echo")
	kinds := map[any]bool{}
	for _, rev := range f.srv.revisions {
		m := rev.methods["tools/call"]
		inline, asTask := echo.kind(rev, m, false), echo.kind(rev, m, true)
		kinds[inline], kinds[asTask] = true, true
		if echo.kind(rev, m, false) != inline || echo.kind(rev, m, true) != asTask {
			t.Errorf("%s: another call of a kind does not share it", rev.Version)
		}
		if inline.Tool != "echo" || inline.Method != m.Name || inline.Variant != rev.index || inline.Timeout != time.Minute || !inline.Protected {
			t.Errorf("%s: an inline call is %+v", rev.Version, inline)
		}
		if asTask.Tool != "echo" || asTask.Method != m.Name || asTask.Variant != rev.index || asTask.Timeout != 0 || asTask.Protected {
			t.Errorf("%s: a call that becomes a task is %+v", rev.Version, asTask) // the task has a timeout and a cancellation of its own
		}
	}
	if len(kinds) != 2*len(f.srv.revisions) {
		t.Errorf("%d kinds of %d revisions", len(kinds), len(f.srv.revisions))
	}
}

// metas is a store that notes the Meta of each task.
type metas struct {
	*task.Memory
	all [][]byte
}

// Create implements task.Store.
func (s *metas) Create(ctx context.Context, t task.Task, q task.Quota) (task.Task, error) {
	s.all = append(s.all, t.Meta)
	return s.Memory.Create(ctx, t, q)
}

// Tasks of a tool share the Meta that says nothing of their own requests, unless it is large (TSK28).
func TestTSK28TasksShareTheirMeta(t *testing.T) {
	store := &metas{Memory: task.NewMemory()}
	f := newFixture(t, jobs(newHold()), WithTaskStore(store))
	c := f.dialTasks("ada")
	for i, extra := range []string{"", "", `,"_meta":{"progressToken":7}`, `,"_meta":{"k":1}`, ""} {
		c.start(string(rune('1'+i)), "quick", extra)
	}
	shared := func(a, b int) bool { return &store.all[a][0] == &store.all[b][0] }
	if !shared(0, 1) || !shared(0, 4) {
		t.Error("tasks of equal requests do not share their Meta")
	}
	if shared(0, 2) || shared(0, 3) {
		t.Error("a task has the Meta of another one's request")
	}
	r := &request{tool: f.srv.tools.get("quick")}
	large := []byte(strings.Repeat("x", smallMessage+1))
	if first, second := r.sharedMeta(large), r.sharedMeta(large); &first[0] == &second[0] || &first[0] == &large[0] {
		t.Error("a large Meta is kept with the tool")
	}
	small := []byte("{}")
	if first, second := r.sharedMeta(small), r.sharedMeta(small); &first[0] != &second[0] || &first[0] == &small[0] {
		t.Error("a Meta that is shared aliases the request")
	}
}
