package tasktest

import (
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/mcpkiln/mcpkiln/runtime/task"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// failures runs one check on a store and returns what it complained about.
func failures(t *testing.T, c check, open func(task.Store) task.Store) []string {
	r := &recorder{}
	synctest.Test(t, func(t *testing.T) {
		done := make(chan struct{})
		go func() {
			defer close(done)
			c.run(&probe{reporter: r, ctx: t.Context(), Store: open(task.NewMemory()), second: time.Second, patience: patience})
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

// The same faults are seen by a store's own clock.
func TestSuiteNoticesFaultsOnAnOwnClock(t *testing.T) {
	byName := map[string]check{}
	for _, c := range checks() {
		byName[c.name] = c
	}
	for _, f := range faults {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			c := byName[f.noticed[0]]
			if got := onOwnClock(t.Context(), c, 50*time.Millisecond, func() task.Store { return f.open(task.NewMemory()) }); len(got) == 0 {
				t.Errorf("%s passes although %s", c.name, f.name)
			}
		})
	}
}

func TestDUR08OneContractOnEveryClock(t *testing.T) {
	RunOnOwnClock(t, func(*testing.T) task.Store { return task.NewMemory() })
	RunOnOwnClock(t, func(*testing.T) task.Store { return &telling{Store: task.NewMemory()} })
}

func TestSuitePassesWithoutFault(t *testing.T) {
	for _, c := range checks() {
		if got := failures(t, c, func(s task.Store) task.Store { return s }); len(got) > 0 {
			t.Errorf("%s complains about the memory store: %v", c.name, got)
		}
	}
}

// lasting is a memory store that claims to outlive the process.
type lasting struct{ task.Store }

func (lasting) Durable() bool { return true }

func TestDUR08EnginesShareAStore(t *testing.T) {
	RunEngines(t, func(_ *testing.T, n int) (all []Replica) {
		s := lasting{task.NewMemory()}
		for range n {
			all = append(all, Replica{Store: s})
		}
		return all
	})
}
