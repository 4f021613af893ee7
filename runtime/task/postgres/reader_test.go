package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/mcpkiln/mcpkiln/runtime/task"
)

// TestLookupsTogetherAreAnsweredAsAlone: each call gets the answer that it would have in an exchange of its own.
func TestLookupsTogetherAreAnsweredAsAlone(t *testing.T) {
	s := openAt(t, newURL(t), Options{})
	gone, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("gave up"))
	want := map[*lookup]string{}
	var calls []*lookup
	for n := range 12 {
		made, err := s.Create(t.Context(), task.Task{ID: fmt.Sprint("task-", n), Owner: fmt.Sprint("owner-", n), Tool: "tool", Status: task.Working, TTL: task.Unlimited,
			Args: []byte(fmt.Sprint(n))}, task.Quota{})
		if err != nil {
			t.Fatal(err)
		}
		add := func(ctx context.Context, owner, id, answer string) {
			l := &lookup{ctx: ctx, owner: owner, id: id, done: make(chan looked, 1)}
			calls, want[l] = append(calls, l), answer
		}
		add(t.Context(), made.Owner, made.ID, fmt.Sprint(made.ID, " ", n))
		add(t.Context(), "owner-x", made.ID, (&task.NotFoundError{Reason: task.Foreign, Tool: "tool"}).Error())
		add(t.Context(), made.Owner, "task-x", (&task.NotFoundError{Reason: task.Unknown}).Error())
		add(gone, made.Owner, made.ID, "gave up")
		add(t.Context(), made.Owner, made.ID, fmt.Sprint(made.ID, " ", n)) // the same once more
	}
	slices.Reverse(calls)
	s.lookUp(calls)
	for _, l := range calls {
		found := <-l.done
		got := fmt.Sprintf("%s %s", found.task.ID, found.task.Args)
		if found.err != nil {
			got = found.err.Error()
		}
		if got != want[l] {
			t.Errorf("%s for %s of %s, want %s", got, l.id, l.owner, want[l])
		}
	}
}
