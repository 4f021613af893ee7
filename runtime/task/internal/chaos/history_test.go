package chaos

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/task"
	"github.com/mcpkiln/mcpkiln/runtime/task/tasktest"
)

// The model finds each thing that must not happen, in a history that is right but for that.
func TestModelFindsWhatMustNotHappen(t *testing.T) {
	for _, c := range []struct {
		name, said, want string
	}{
		{"right", "", ""},
		{"lost", "created other -", "other was acknowledged and is lost"},
		{"stuck", "created open -", "open is working"},
		{"step lost", "stepped done step-2", `the step gave ["step-1" "step-2"]`},
		{"asked twice", "asked done 2", "done was asked 2 times"},
		{"finished twice", "finished done step-1/yes", "done was finished 2 times"},
		{"changed after its end", "seen done step-1/no", `somebody saw "step-1/no"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			store := keep(t)
			h := NewHistory()
			for _, line := range []string{"created done -", "stepped done step-1", "asked done 1", "answers done no", "answers done yes", "finished done step-1/yes", c.said} {
				h.Note(line)
			}
			wrong := strings.Join(h.Check(t.Context(), store), "\n")
			if c.want == "" && wrong != "" || !strings.Contains(wrong, c.want) {
				t.Errorf("the model found %q, want %q", wrong, c.want)
			}
		})
	}
	h := NewHistory()
	for _, line := range []string{"created done -", "stepped done step-1", "answers done no"} {
		h.Note(line)
	}
	if wrong := h.Check(t.Context(), keep(t)); len(wrong) != 1 || !strings.Contains(wrong[0], `the answers were ["no"]`) {
		t.Errorf("an answer that nobody gave: %q", wrong)
	}
}

// keep is a store with a task that is done and one that is not.
func keep(t *testing.T) task.Store {
	t.Helper()
	store, ctx := task.NewMemory(), context.Background()
	for _, id := range []string{"done", "open"} {
		if _, err := store.Create(ctx, task.Task{ID: id, Owner: owner, Machine: tasktest.Machine(), TTL: task.Unlimited}, task.Quota{}); err != nil {
			t.Fatal(err)
		}
	}
	b, err := store.Begin(ctx, "done", "node", 1)
	if err == nil {
		_, err = store.Finish(ctx, b.Lease, task.Outcome{Status: task.Completed, Result: []byte("step-1/yes")})
	}
	if err != nil {
		t.Fatal(err)
	}
	return store
}

// What is asked is answered at the speed of the store, however much of it there is: a storm on a busy machine leaves many tasks that ask.
func TestDUR05ABacklogOfQuestionsIsAnsweredAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, store := NewHistory(), task.NewMemory()
		w := newWorker(Replica{Node: "asks", Lease: time.Minute}, tasktest.Replica{Store: store}, func(...any) {})
		for range 1000 {
			c, err := w.engine.Create(t.Context(), task.Spec{Owner: owner, Tool: "tool"})
			if err != nil {
				t.Fatal(err)
			}
			c.Start()
		}
		synctest.Wait()
		asked := time.Now()
		if err := h.Settle(t.Context(), store, time.Minute); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(asked); took > 5*pause {
			t.Errorf("it took %v", took)
		}
		w.end()
	})
}
