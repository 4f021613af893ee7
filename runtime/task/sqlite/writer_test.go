package sqlite

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/task"
)

// queue has calls come while the writer is busy, and returns their errors.
func queue(t *testing.T, s *Store, calls ...func() error) []error {
	t.Helper()
	busy, free := make(chan struct{}), make(chan struct{})
	var all sync.WaitGroup
	all.Go(func() {
		_ = s.submit(context.Background(), func(*batch) error {
			close(busy)
			<-free
			return nil
		})
	})
	<-busy
	errs := make([]error, len(calls))
	for i, call := range calls {
		before := s.ops.Len()
		all.Go(func() { errs[i] = call() })
		for s.ops.Len() == before {
			select {
			case <-t.Context().Done():
				t.Fatal("a call does not come")
			default:
			}
		}
	}
	close(free)
	all.Wait()
	return errs
}

func TestCallersShareACommit(t *testing.T) {
	each(t, func(t *testing.T, driver, file string) {
		s := newStore(t, driver, file)
		seen := map[*batch]int{}
		var calls []func() error
		for range 50 {
			calls = append(calls, func() error {
				return s.submit(context.Background(), func(b *batch) error { seen[b]++; return nil })
			})
		}
		for _, err := range queue(t, s, calls...) {
			if err != nil {
				t.Error(err)
			}
		}
		if len(seen) != 1 {
			t.Errorf("50 callers took %d commits", len(seen))
		}
	})
}

// One call that the file refuses takes no others of its batch with it, and what callers see of each other in a batch is what they
// would see one after the other.
func TestFailedCallsFailAlone(t *testing.T) {
	each(t, func(t *testing.T, driver, file string) {
		s := newStore(t, driver, file)
		create := func(id string) func() error {
			return func() error { _, err := s.Create(context.Background(), aTask(id), task.Quota{Kept: 3}); return err }
		}
		errs := queue(t, s, create("a"), create("a"), create("b"), func() error {
			return s.submit(context.Background(), func(b *batch) error {
				if err := b.create(&record{account: "oada", state: task.NewState(aTask("half"), b.now)}, task.Quota{}); err != nil {
					return err
				}
				_, err := b.exec("INSERT INTO no_such_table VALUES (1)")
				return err
			})
		}, create("c"), create("d"))
		texts := fmt.Sprint(errs[0], errs[2], errs[4])
		if texts != "<nil> <nil> <nil>" || !errors.Is(errs[1], task.ErrExists) || !strings.Contains(fmt.Sprint(errs[3]), "no such table") {
			t.Errorf("errors: %v", errs)
		}
		if limit := (*task.LimitError)(nil); !errors.As(errs[5], &limit) {
			t.Errorf("the fourth task of three: %v", errs[5])
		}
		if page, err := s.List(t.Context(), "ada", "", 10); err != nil || len(page.Tasks) != 3 {
			t.Errorf("tasks: %+v, %v", page, err)
		}
	})
}

func TestCallersThatAreGoneAreNotServed(t *testing.T) {
	each(t, func(t *testing.T, driver, file string) {
		s := newStore(t, driver, file)
		gone, leave := context.WithCancelCause(t.Context())
		why := errors.New("the client has hung up")
		busy, free := make(chan struct{}), make(chan struct{})
		var all sync.WaitGroup
		all.Go(func() {
			_ = s.submit(context.Background(), func(*batch) error { close(busy); <-free; return nil })
		})
		<-busy
		var err error
		all.Go(func() { _, err = s.Create(gone, aTask("late"), task.Quota{}) })
		leave(why)
		close(free)
		all.Wait()
		if !errors.Is(err, why) {
			t.Errorf("create: %v", err)
		}
		if _, err := s.Get(t.Context(), "ada", "late"); !errors.Is(err, task.ErrNotFound) {
			t.Errorf("get of what nobody waited for: %v", err)
		}
	})
}

// Reads of a task that runs take no lock of the writer's, which changes hundreds of tasks at once when many expire.
func TestTSK15ReadsDoNotWaitForTheWriter(t *testing.T) {
	each(t, func(t *testing.T, driver, file string) {
		s := newStore(t, driver, file)
		a := aTask("a")
		a.Grace = time.Hour
		if _, err := s.Create(t.Context(), a, task.Quota{}); err != nil {
			t.Fatal(err)
		}
		read := make(chan error, 1)
		_ = s.submit(t.Context(), func(*batch) error {
			s.mu.Lock()
			defer s.mu.Unlock()
			go func() { _, err := s.Get(context.Background(), "ada", "a"); read <- err }()
			select {
			case err := <-read:
				read <- err
			case <-time.After(time.Minute):
				t.Error("a read waits for the writer")
			}
			return nil
		})
		if err := <-read; err != nil {
			t.Error(err)
		}
	})
}
