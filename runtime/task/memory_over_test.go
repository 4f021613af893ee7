package task

import (
	"errors"
	"reflect"
	"slices"
	"testing"

	"github.com/mcpkiln/mcpkiln/runtime/rpc"
)

// What is kept of a task that is over is all that it was, and who held its lease.
func TestTSK10NothingOfATaskIsLostWhenItIsOver(t *testing.T) {
	s := aTimedState()
	want := &s.Task
	want.Status, want.Questions, want.Meta, want.Result, want.Error = Failed, nil, []byte("meta"), []byte("result"), &rpc.Error{Code: 1}
	for field, value := range reflect.ValueOf(want).Elem().Fields() {
		if ended := []string{"Questions", "Args", "Grace"}; value.IsZero() != slices.Contains(ended, field.Name) {
			t.Fatalf("%s is %v here, which shows nothing", field.Name, value)
		}
	}
	before := s
	r := &record{state: &before, id: want.ID, tool: want.Tool, owner: &owner{name: want.Owner}, account: &account{}}
	m := NewMemory()
	m.finish(r)
	var got Task
	if r.copyTo(&got); !reflect.DeepEqual(&got, want) {
		t.Errorf("it is %+v, and was %+v", got, *want)
	}
	holder := Lease{want.ID, s.Node, s.Epoch}
	for _, row := range []struct {
		by    Lease
		stale bool
	}{{holder, false}, {Lease{want.ID, "another", s.Epoch}, true}, {Lease{want.ID, s.Node, s.Epoch + 1}, true}} {
		var after Task
		err := m.change(r, &after, 0, func(s *State) error { return s.Record(row.by, "late", nil, got.UpdatedAt) })
		if _, over := errors.AsType[*TerminalError](err); over == row.stale || errors.Is(err, ErrLease) != row.stale || !reflect.DeepEqual(&after, want) {
			t.Errorf("%+v: %v, %+v", row.by, err, after)
		}
	}
}

// Whoever watches a task that is over learns that it was removed.
func TestTSK15ARemovalWakesWatchersOfATaskThatIsOver(t *testing.T) {
	m, ctx := NewMemory(), t.Context()
	if _, err := m.Create(ctx, Task{ID: "id", Owner: "ada", TTL: Unlimited, Machine: ^Machine(0)}, Quota{}); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Cancel(ctx, "ada", "id", Cancel{Force: true}); err != nil {
		t.Fatal(err)
	}
	over, removed, err := m.Watch(ctx, "ada", "id")
	if err != nil || !over.Status.Terminal() {
		t.Fatalf("%v, %+v", err, over)
	}
	select {
	case <-removed:
		t.Error("woken before the task was removed")
	default:
	}
	if _, err := m.Discard(ctx, "ada"); err != nil {
		t.Fatal(err)
	}
	<-removed
}
