package sqlite

import (
	"context"
	"errors"
	"os"
	"testing"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/task"
	"github.com/mcpkiln/mcpkiln/runtime/task/tasktest"
)

// No task changes any more in a file that is gone: the first call that notices it wakes whoever waits for any task.
func TestTSK09DUR01ALostFileWakesTheWatchersOfAllTasks(t *testing.T) {
	for what, call := range map[string]func(ctx context.Context, s *Store, l task.Lease) error{
		"get": func(ctx context.Context, s *Store, _ task.Lease) error {
			_, err := s.Get(ctx, "ada", "one")
			return err
		},
		"list": func(ctx context.Context, s *Store, _ task.Lease) error {
			_, err := s.List(ctx, "ada", "", 10)
			return err
		},
		"heartbeat": func(ctx context.Context, s *Store, l task.Lease) error {
			_, err := s.Heartbeat(ctx, []task.Lease{l}, time.Minute)
			return err
		},
		"orphans": func(ctx context.Context, s *Store, _ task.Lease) error { _, err := s.Orphans(ctx, 10); return err },
		"finish": func(ctx context.Context, s *Store, l task.Lease) error {
			_, err := s.Finish(ctx, l, task.Outcome{Status: task.Completed})
			return err
		},
	} {
		t.Run(what, func(t *testing.T) {
			each(t, func(t *testing.T, driver, file string) {
				s := newStore(t, driver, file)
				changed := map[string]<-chan struct{}{}
				for _, id := range []string{"one", "other"} {
					if _, err := s.Create(t.Context(), aTask(id), task.Quota{}); err != nil {
						t.Fatal(err)
					}
				}
				begun, err := s.Begin(t.Context(), "one", "node", time.Minute)
				for _, id := range []string{"one", "other"} {
					if err == nil {
						_, changed[id], err = s.Watch(t.Context(), "ada", id)
					}
				}
				if err := errors.Join(err, os.Remove(file)); err != nil {
					t.Fatal(err)
				}
				if err := call(t.Context(), s, begun.Lease); !errors.Is(err, task.ErrLost) {
					t.Fatalf("the error is %v", err)
				}
				for id, changed := range changed {
					select {
					case <-changed:
					default:
						t.Errorf("who waits for the task %q is not woken", id)
					}
				}
			})
		})
	}
}

// watching tells when somebody has begun to watch a task.
type watching struct {
	*Store
	begun chan struct{}
}

func (s *watching) Watch(ctx context.Context, owner, id string) (task.Task, <-chan struct{}, error) {
	t, changed, err := s.Store.Watch(ctx, owner, id)
	s.begun <- struct{}{}
	return t, changed, err
}

// Who waits for a result when the file is removed is told so, once the store does not take the result.
func TestTSK09DUR06WaitsEndWithAFileThatIsGone(t *testing.T) {
	each(t, func(t *testing.T, driver, file string) {
		s := &watching{newStore(t, driver, file), make(chan struct{}, 8)}
		release := make(chan struct{})
		e := task.New(task.Config{Machine: tasktest.Machine(), Store: s, Runner: func(context.Context, *task.Run) task.Outcome {
			<-release
			return task.Outcome{Status: task.Completed, Result: []byte("{}")}
		}})
		defer e.Close(context.Background())
		made, err := e.Create(t.Context(), task.Spec{Owner: "ada", Tool: "tool"})
		if err != nil {
			t.Fatal(err)
		}
		made.Start()
		waited := make(chan error)
		go func() {
			_, err := e.Wait(t.Context(), "ada", made.Task.ID)
			waited <- err
		}()
		<-s.begun
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
		close(release)
		if err := <-waited; !errors.Is(err, task.ErrLost) {
			t.Errorf("the wait ended with %v", err)
		}
	})
}

// A process that dies takes no cancel with it, although a question is open: the next one finds the task at once.
func TestEXT11DUR01ACancelThatWasAcknowledgedOutlivesTheProcess(t *testing.T) {
	each(t, func(t *testing.T, driver, file string) {
		s := newStore(t, driver, file)
		_, err := s.Create(t.Context(), aTask("one"), task.Quota{})
		if err != nil {
			t.Fatal(err)
		}
		begun, err := s.Begin(t.Context(), "one", "node", time.Hour)
		if err == nil {
			_, err = s.Ask(t.Context(), begun.Lease, task.Question{Name: "q"})
		}
		if err == nil {
			_, err = s.Cancel(t.Context(), "ada", "one", task.Cancel{})
		}
		if err := errors.Join(err, s.Close()); err != nil { // as after a crash: no run has parked
			t.Fatal(err)
		}
		ids, err := newStore(t, driver, file).Orphans(t.Context(), 10)
		if err != nil || len(ids) != 1 || ids[0] != "one" {
			t.Errorf("orphans are %q, %v", ids, err)
		}
	})
}
