package tasktest

import (
	"fmt"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/mcpkiln/mcpkiln/runtime/task"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// recorder is a reporter that remembers.
type recorder struct{ failures []string }

func (r *recorder) Helper() {}
func (r *recorder) Errorf(format string, args ...any) {
	r.failures = append(r.failures, fmt.Sprintf(format, args...))
}
func (r *recorder) FailNow() { runtime.Goexit() }

// failures runs one check on a store and returns what it complained about.
func failures(t *testing.T, c check, open func(task.Store) task.Store) []string {
	r := &recorder{}
	synctest.Test(t, func(t *testing.T) {
		done := make(chan struct{})
		go func() {
			defer close(done)
			c.run(&probe{reporter: r, ctx: t.Context(), Store: open(task.NewMemory())})
		}()
		<-done
		time.Sleep(2 * time.Hour) // a check that was abandoned half-way leaves waiters, which give up
	})
	return r.failures
}

func TestSuiteNoticesEachFault(t *testing.T) {
	byName := map[string]check{}
	for _, c := range checks() {
		byName[c.name] = c
	}
	for _, f := range faults {
		t.Run(f.name, func(t *testing.T) {
			for _, name := range f.noticed {
				c, ok := byName[name]
				if !ok {
					t.Fatalf("there is no check %s", name)
				}
				if got := failures(t, c, f.open); len(got) == 0 {
					t.Errorf("%s passes although %s", name, f.name)
				}
			}
		})
	}
}

func TestSuitePassesWithoutFault(t *testing.T) {
	for _, c := range checks() {
		if got := failures(t, c, func(s task.Store) task.Store { return s }); len(got) > 0 {
			t.Errorf("%s complains about the memory store: %v", c.name, got)
		}
	}
}
