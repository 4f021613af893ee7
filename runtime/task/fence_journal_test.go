package task

import (
	"context"
	"errors"
	"testing"
	"time"
)

// down is a store that does not answer to steps.
type down struct{ Store }

func (down) Record(context.Context, Lease, string, []byte) error {
	return errors.New("the server is gone")
}

// A handler whose lease ends while the store is away is told so, whichever comes first, the timer or the error: an error that it could take for its own
// would fail the task.
func TestDUR06FencedRunIsNotToldOfTheOutage(t *testing.T) {
	got := make(chan error, 1)
	e := New(Config{Store: down{NewMemory()}, Machine: ^Machine(0), Runner: func(ctx context.Context, r *Run) Outcome {
		r.setFence(time.Now().Add(-time.Second)) // its timer is late
		_, err := r.Do(ctx, "step", func(context.Context) ([]byte, error) { return nil, nil })
		got <- err
		return Outcome{Status: Failed, Message: err.Error()}
	}})
	c, err := e.Create(t.Context(), Spec{Owner: "ada"})
	if err != nil {
		t.Fatal(err)
	}
	c.Start()
	if err := <-got; !errors.Is(err, ErrLease) {
		t.Errorf("the handler was told %v", err)
	}
	if err := e.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if left, err := e.Get(t.Context(), "ada", c.Task.ID); err != nil || left.Status == Failed && left.StatusMessage == "the server is gone" {
		t.Errorf("the task: %+v, %v", left, err)
	}
}
