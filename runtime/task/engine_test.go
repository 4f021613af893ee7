package task_test

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/mcpkiln/mcpkiln/runtime/inflight"
	"github.com/mcpkiln/mcpkiln/runtime/task"
	"github.com/mcpkiln/mcpkiln/runtime/task/tasktest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const ada = "ada"

// world is an engine in a bubble.
type world struct {
	*testing.T
	*task.Engine
	ctx context.Context
}

// newEngine makes an engine whose tasks may make every transition, unless c says otherwise.
func newEngine(c task.Config) *task.Engine {
	c.Machine = cmp.Or(c.Machine, tasktest.Machine())
	return task.New(c)
}

// in runs test in a bubble with an engine, which is closed at the end.
func in(t *testing.T, c task.Config, test func(w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := &world{t, newEngine(c), t.Context()}
		synctest.Wait() // the first look for expired tasks is over
		test(w)
		if err := w.Close(context.Background()); err != nil {
			t.Errorf("close: %v", err)
		}
		synctest.Wait()
	})
}

// Live is how many runs the engine holds once everybody is idle: who waits for a task learns of its end before the engine has let go of the run.
func (w *world) Live() int {
	synctest.Wait()
	return w.Engine.Live()
}

// create makes and starts a task of ada.
func (w *world) create(s task.Spec) string {
	w.Helper()
	if s.Owner == "" {
		s.Owner = ada
	}
	if s.Tool == "" {
		s.Tool = "tool"
	}
	c, err := w.Create(w.ctx, s)
	if err != nil {
		w.Fatalf("create: %v", err)
	}
	c.Start()
	synctest.Wait()
	return c.Task.ID
}

func (w *world) get(id string) task.Task {
	w.Helper()
	t, err := w.Get(w.ctx, ada, id)
	if err != nil {
		w.Fatalf("get: %v", err)
	}
	return t
}

func (w *world) status(id string, want task.Status) task.Task {
	w.Helper()
	t := w.get(id)
	if t.Status != want {
		w.Fatalf("task is %s (%s), want %s", t.Status, t.StatusMessage, want)
	}
	return t
}

func done(result string) task.Outcome {
	return task.Outcome{Status: task.Completed, Result: []byte(result)}
}

// quick is a runner that is done at once.
func quick(context.Context, *task.Run) task.Outcome { return done("result") }

// patient works until its context ends, and returns a result all the same.
func patient(ctx context.Context, _ *task.Run) task.Outcome {
	<-ctx.Done()
	return done("too late")
}

// causes makes a patient runner that tells why its context ended.
func causes(to chan<- error) task.Runner {
	return func(ctx context.Context, r *task.Run) task.Outcome {
		defer func() { to <- context.Cause(ctx) }()
		return patient(ctx, r)
	}
}

func source(err error) inflight.Source {
	var c *inflight.Cause
	errors.As(err, &c)
	if c == nil {
		return 0
	}
	return c.Source
}

// record collects log records.
type record struct {
	mu    sync.Mutex
	lines []string
}

func (r *record) Write(b []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lines = append(r.lines, string(b))
	return len(b), nil
}

func (r *record) logger() *slog.Logger {
	return slog.New(slog.NewTextHandler(r, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

// count is how many records hold all of the texts.
func (r *record) count(texts ...string) (n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
lines:
	for _, l := range r.lines {
		for _, text := range texts {
			if !strings.Contains(l, text) {
				continue lines
			}
		}
		n++
	}
	return n
}

func TestTSK04NothingHappensBeforeStart(t *testing.T) {
	var changes []task.Task
	var ran bool
	in(t, task.Config{
		OnChange: func(t task.Task) { changes = append(changes, t) },
		Runner: func(ctx context.Context, r *task.Run) task.Outcome {
			ran = true
			r.Describe(ctx, "running")
			return done("")
		},
	}, func(w *world) {
		c, err := w.Create(w.ctx, task.Spec{Owner: ada, Tool: "tool"})
		if err != nil {
			t.Fatal(err)
		}
		w.status(c.Task.ID, task.Working)
		time.Sleep(time.Minute)
		if ran || len(changes) > 0 {
			t.Fatalf("before Start: ran %v, changes %v", ran, changes)
		}
		c.Start()
		c.Start()
		synctest.Wait()
		w.status(c.Task.ID, task.Completed)
		if len(changes) != 2 || changes[0].StatusMessage != "running" || changes[1].Status != task.Completed {
			t.Errorf("changes after Start: %+v", changes)
		}
	})
}

func TestTSK04CancelBeforeStartIsToldAfterIt(t *testing.T) {
	var changes []task.Status
	in(t, task.Config{OnChange: func(t task.Task) { changes = append(changes, t.Status) }, Runner: func(context.Context, *task.Run) task.Outcome {
		t.Error("a task that was cancelled before it started ran")
		return done("")
	}}, func(w *world) {
		c, err := w.Create(w.ctx, task.Spec{Owner: ada})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Cancel(w.ctx, ada, c.Task.ID, task.Cancel{Force: true}); err != nil {
			t.Fatal(err)
		}
		if len(changes) > 0 {
			t.Errorf("told before Start: %v", changes)
		}
		c.Start()
		synctest.Wait()
		if len(changes) != 1 || changes[0] != task.Cancelled {
			t.Errorf("told after Start: %v", changes)
		}
	})
}

func TestTSK05IDsAreLongAndDifferent(t *testing.T) {
	in(t, task.Config{Runner: quick}, func(w *world) {
		seen := map[string]bool{}
		for range 1000 {
			id := w.create(task.Spec{})
			// 26 characters of base32 carry 130 bits.
			if len(id) < 26 || strings.Trim(id, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567") != "" || seen[id] {
				t.Fatalf("id %q is short, not base32, or not new", id)
			}
			seen[id] = true
		}
	})
}

func TestTSK06TaskOutlivesItsRequest(t *testing.T) {
	in(t, task.Config{Runner: func(ctx context.Context, _ *task.Run) task.Outcome {
		select {
		case <-ctx.Done():
			t.Errorf("the task ended with its request: %v", context.Cause(ctx))
		case <-time.After(time.Minute):
		}
		if ctx.Value(testing.Benchmark) != nil {
			t.Error("the task sees values of its request")
		}
		return done("")
	}}, func(w *world) {
		ctx, cancel := context.WithCancel(w.ctx)
		c, err := w.Create(ctx, task.Spec{Owner: ada})
		if err != nil {
			t.Fatal(err)
		}
		cancel()
		c.Start()
		time.Sleep(2 * time.Minute)
		w.status(c.Task.ID, task.Completed)
	})
}

func TestTSK08TimesAndIntervals(t *testing.T) {
	in(t, task.Config{Runner: func(context.Context, *task.Run) task.Outcome {
		time.Sleep(time.Second)
		return done("")
	}}, func(w *world) {
		start := time.Now()
		ttl := 10 * time.Minute
		id := w.create(task.Spec{TTL: &ttl, PollInterval: 2 * time.Second})
		got := w.get(id)
		if !got.CreatedAt.Equal(start) || !got.UpdatedAt.Equal(start) || got.TTL != ttl || got.PollInterval != 2*time.Second {
			t.Errorf("new task: %+v", got)
		}
		time.Sleep(time.Minute)
		if got = w.get(id); !got.CreatedAt.Equal(start) || got.UpdatedAt.Sub(start) != time.Second {
			t.Errorf("finished task: created %v, updated %v", got.CreatedAt, got.UpdatedAt)
		}
	})
}

func TestTSK25PanicFailsTheTaskAlone(t *testing.T) {
	log := &record{}
	in(t, task.Config{Logger: log.logger(), Runner: func(_ context.Context, r *task.Run) task.Outcome {
		if r.Task().Tool == "broken" {
			panic("secret detail")
		}
		return done("fine")
	}}, func(w *world) {
		broken := w.create(task.Spec{Tool: "broken"})
		fine := w.create(task.Spec{})
		got := w.status(broken, task.Failed)
		if got.Error == nil || got.Error.Code != -32603 || strings.Contains(got.Error.Message+got.StatusMessage, "secret") {
			t.Errorf("failed task: %+v", got)
		}
		w.status(fine, task.Completed)
		if log.count("level=ERROR", "secret detail", "stack=", "engine_test.go", broken, "tool=broken", "requestor=ada") != 1 {
			t.Errorf("the stack is not logged: %q", log.lines)
		}
	})
}

func TestTSK25GoexitFailsTheTaskAlone(t *testing.T) {
	in(t, task.Config{Runner: func(context.Context, *task.Run) task.Outcome {
		goexit()
		return done("")
	}}, func(w *world) { w.status(w.create(task.Spec{}), task.Failed) })
}
