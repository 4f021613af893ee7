package task_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/task"
)

func TestTSK07MachinesRefuseWhatTasksCanNotLiveWith(t *testing.T) {
	ends := func(from task.Status) []task.Edge {
		return []task.Edge{{From: from, To: task.Completed}, {From: from, To: task.Failed}, {From: from, To: task.Cancelled}}
	}
	asks, answered := task.Edge{From: task.Working, To: task.InputRequired}, task.Edge{From: task.InputRequired, To: task.Working}
	for name, c := range map[string]struct {
		edges []task.Edge
		fits  bool
	}{
		"both revisions":     {append(slices.Concat(ends(task.Working), ends(task.InputRequired)), asks, answered), true},
		"no questions":       {ends(task.Working), true},
		"none":               {nil, false},
		"can not be ended":   {ends(task.Working)[:2], false},
		"can not end asking": {append(ends(task.Working), asks, answered), false},
		"can not go on":      {append(slices.Concat(ends(task.Working), ends(task.InputRequired)), asks), false},
		"out of an end":      {append(ends(task.Working), task.Edge{From: task.Completed, To: task.Working}), false},
		"unknown status":     {append(ends(task.Working), task.Edge{From: task.Working, To: "paused"}), false},
	} {
		m, err := task.NewMachine(c.edges)
		if (err == nil) != c.fits {
			t.Errorf("%s: %v", name, err)
		}
		for _, from := range task.Statuses() {
			for _, to := range task.Statuses() {
				if want := c.fits && slices.Contains(c.edges, task.Edge{From: from, To: to}); m.Allows(from, to) != want {
					t.Errorf("%s: from %s to %s: %v", name, from, to, !want)
				}
			}
		}
	}
}

// What the machine of the configuration does not allow no task does.
func TestTSK07TheConfiguredMachineDecides(t *testing.T) {
	machine, err := task.NewMachine([]task.Edge{
		{From: task.Working, To: task.Completed}, {From: task.Working, To: task.Failed}, {From: task.Working, To: task.Cancelled},
	})
	if err != nil {
		t.Fatal(err)
	}
	in(t, task.Config{Machine: machine, Runner: func(ctx context.Context, r *task.Run) task.Outcome {
		_, err := r.Ask(ctx, task.Question{Name: "q"})
		return task.Outcome{Status: task.Completed, Message: err.Error()}
	}}, func(w *world) {
		got := w.get(w.create(task.Spec{}))
		if want := (&task.EdgeError{From: task.Working, To: task.InputRequired}).Error(); got.Status != task.Completed || got.StatusMessage != want {
			t.Errorf("%s: %s", got.Status, got.StatusMessage)
		}
	})
}

// race is what happened to one task of the stress test.
type race struct {
	id       string
	ends     atomic.Int32 // terminal changes that were told
	cancel   atomic.Bool  // the cancel won
	finished atomic.Bool  // the handler returned a result
	woken    atomic.Int32
	version  uint64 // of the end
}

// races are the tasks by id.
type races struct {
	mu   sync.Mutex
	byID map[string]*race
}

func (rs *races) put(id string, r *race) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	rs.byID[id] = r
}

func (rs *races) changed(t task.Task) {
	if t.Status.Terminal() {
		rs.mu.Lock()
		defer rs.mu.Unlock()
		rs.byID[t.ID].ends.Add(1)
	}
}

// racing asks if its tool does, and is done.
func racing(ctx context.Context, r *task.Run) task.Outcome {
	if r.Task().Tool == "asks" {
		r.Ask(ctx, task.Question{Name: "q"})
	}
	r.Describe(ctx, "nearly")
	r.Local().(*race).finished.Store(true)
	return done("result")
}

// TestTSK07CancelRacesCompletion lets 5,000 tasks be cancelled, answered, timed out and finished at the same time: each
// has exactly one end, which stays, and every waiter wakes.
func TestTSK07CancelRacesCompletion(t *testing.T) {
	const n = 5000
	rs := &races{byID: map[string]*race{}}
	e := newEngine(task.Config{Limits: task.Limits{Running: -1, PollsPerSecond: -1}, OnChange: rs.changed, Runner: racing})
	var all sync.WaitGroup
	for i := range n {
		s := task.Spec{Owner: ada, Tool: []string{"quick", "asks"}[i%2]}
		if i%5 == 0 {
			s.Timeout = time.Duration(i) * time.Microsecond
		}
		rs.start(t, e, s, task.Cancel{Force: i%3 != 0}, &all)
	}
	all.Wait()
	for _, r := range rs.byID {
		r.check(t, e)
	}
	if err := e.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, r := range rs.byID {
		if got, err := e.Get(t.Context(), ada, r.id); err != nil || got.Version != r.version {
			t.Errorf("a terminal task changed: %+v, %v", got, err)
		}
		if n := r.ends.Load(); n != 1 { // told by runs, which Close waited for
			t.Errorf("%d ends were told, want 1", n)
		}
	}
}

// start lets everything that can happen to a task happen to a new one.
func (rs *races) start(t *testing.T, e *task.Engine, s task.Spec, how task.Cancel, all *sync.WaitGroup) {
	r := &race{}
	s.Local = r
	c, err := e.Create(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	r.id = c.Task.ID
	rs.put(r.id, r)
	for range 2 {
		all.Go(func() {
			if got, err := e.Wait(t.Context(), ada, r.id); err == nil && got.Status.Terminal() {
				r.woken.Add(1)
			}
		})
	}
	all.Go(c.Start)
	all.Go(func() { answerUntilOver(t, e, r.id) })
	all.Go(func() {
		got, err := e.Cancel(t.Context(), ada, r.id, how)
		r.cancel.Store(err == nil && got.Status == task.Cancelled)
		if over := (*task.TerminalError)(nil); err != nil && !errors.As(err, &over) {
			t.Errorf("cancel: %v", err)
		}
	})
}

// answerUntilOver answers the question whenever it is open.
func answerUntilOver(t *testing.T, e *task.Engine, id string) {
	for {
		got, changed, err := e.Watch(t.Context(), ada, id)
		if err != nil || got.Status.Terminal() {
			return
		}
		e.Answer(t.Context(), ada, id, task.Answer{Name: "q", Data: []byte("yes")})
		<-changed
	}
}

func (r *race) check(t *testing.T, e *task.Engine) {
	got, err := e.Get(t.Context(), ada, r.id)
	r.version = got.Version
	switch {
	case err != nil:
		t.Errorf("get: %v", err)
	case r.cancel.Load() && got.Status != task.Cancelled:
		t.Errorf("the cancel won, and the task is %s", got.Status)
	case got.Status == task.Completed && (!r.finished.Load() || string(got.Result) != "result"):
		t.Errorf("completed without its result: %+v", got)
	case got.Status != task.Completed && got.Result != nil:
		t.Errorf("%s with a result", got.Status)
	case !got.Status.Terminal():
		t.Errorf("the task is %s", got.Status)
	case r.woken.Load() != 2:
		t.Errorf("%d of 2 waiters woke", r.woken.Load())
	}
}
