package postgres

import (
	"cmp"
	"fmt"
	"runtime"
	"sync"
	"testing"

	"github.com/mcpkiln/mcpkiln/runtime/task"
	"github.com/mcpkiln/mcpkiln/runtime/task/internal/calls"
)

// TestLookupsTogetherAreAnsweredAsAlone: each call gets the answer that it would have in an exchange of its own.
func TestLookupsTogetherAreAnsweredAsAlone(t *testing.T) {
	s := openAt(t, newURL(t), Options{})
	var asked sync.WaitGroup
	const each, tasks = 4, 12
	together := calls.New[*lookup, looked](each*tasks, ErrClosed)
	for n := range tasks {
		made, err := s.Create(t.Context(), task.Task{ID: fmt.Sprint("task-", n), Owner: fmt.Sprint("owner-", n), Tool: "tool", Status: task.Working, TTL: task.Unlimited,
			Args: []byte(fmt.Sprint(n))}, task.Quota{})
		if err != nil {
			t.Fatal(err)
		}
		ask := func(owner, id, want string) {
			asked.Go(func() {
				found, err := together.Do(t.Context(), &lookup{owner: owner, id: id})
				got := fmt.Sprintf("%s %s", found.task.ID, found.task.Args)
				if err := cmp.Or(err, found.err); err != nil {
					got = err.Error()
				}
				if got != want {
					t.Errorf("%s for %s of %s, want %s", got, id, owner, want)
				}
			})
		}
		ask(made.Owner, made.ID, fmt.Sprint(made.ID, " ", n))
		ask("owner-x", made.ID, (&task.NotFoundError{Reason: task.Foreign, Tool: "tool"}).Error())
		ask(made.Owner, "task-x", (&task.NotFoundError{Reason: task.Unknown}).Error())
		ask(made.Owner, made.ID, fmt.Sprint(made.ID, " ", n)) // the same once more
	}
	for together.Len() < each*tasks {
		runtime.Gosched()
	}
	together.Serve(s.lookUp)
	asked.Wait()
	together.Close()
}
