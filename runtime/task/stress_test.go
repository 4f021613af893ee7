package task_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/task"
)

func TestTSK07EdgesAreThoseOfTheProtocol(t *testing.T) {
	allowed := map[[2]task.Status]bool{
		{task.Working, task.InputRequired}: true, {task.Working, task.Completed}: true,
		{task.Working, task.Failed}: true, {task.Working, task.Cancelled}: true,
		{task.InputRequired, task.Working}: true, {task.InputRequired, task.Completed}: true,
		{task.InputRequired, task.Failed}: true, {task.InputRequired, task.Cancelled}: true,
	}
	for _, from := range task.Statuses() {
		for _, to := range task.Statuses() {
			if got := from.CanBecome(to); got != allowed[[2]task.Status{from, to}] {
				t.Errorf("%s to %s: %v", from, to, got)
			}
		}
		if from.Terminal() != (from != task.Working && from != task.InputRequired) {
			t.Errorf("%s terminal: %v", from, from.Terminal())
		}
	}
}

// race is what happened to one task of the stress test.
type race struct {
	id       string
	ends     atomic.Int32 // terminal changes that were told
	cancel   atomic.Bool  // the cancel won
	finished atomic.Bool  // the handler returned a result
}

// TestTSK07CancelRacesCompletion lets 5,000 tasks be cancelled, answered, timed out and finished at the same time.
func TestTSK07CancelRacesCompletion(t *testing.T) {
	const n = 5000
	races := make([]race, n)
	var byID sync.Map
	e := task.New(task.Config{
		Limits: task.Limits{Running: -1, PollsPerSecond: -1},
		OnChange: func(t task.Task) {
			if v, ok := byID.Load(t.ID); ok && t.Status.Terminal() {
				v.(*race).ends.Add(1)
			}
		},
		Runner: func(ctx context.Context, r *task.Run) task.Outcome {
			me := r.Local().(*race)
			if r.Task().Tool == "asks" {
				r.Ask(ctx, task.Question{Name: "q"})
			}
			r.Describe(ctx, "nearly")
			me.finished.Store(true)
			return done("result")
		},
	})
	var all sync.WaitGroup
	var woken atomic.Int32
	for i := range n {
		me := &races[i]
		s := task.Spec{Owner: ada, Tool: []string{"quick", "asks"}[i%2], Local: me}
		if i%5 == 0 {
			s.Timeout = time.Duration(i) * time.Microsecond
		}
		c, err := e.Create(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		me.id = c.Task.ID
		byID.Store(me.id, me)
		for range 2 {
			all.Go(func() {
				if got, err := e.Wait(t.Context(), ada, me.id); err == nil && got.Status.Terminal() {
					woken.Add(1)
				}
			})
		}
		all.Go(c.Start)
		all.Go(func() { answerUntilOver(t, e, me.id) })
		all.Go(func() {
			got, err := e.Cancel(t.Context(), ada, me.id, task.Cancel{Force: i%3 != 0})
			me.cancel.Store(err == nil && got.Status == task.Cancelled)
			if over := (*task.TerminalError)(nil); err != nil && !errors.As(err, &over) {
				t.Errorf("cancel: %v", err)
			}
		})
	}
	all.Wait()
	if got := woken.Load(); got != 2*n {
		t.Errorf("%d of %d waiters woke", got, 2*n)
	}
	versions := map[string]uint64{}
	for i := range races {
		versions[races[i].id] = races[i].check(t, e)
	}
	if err := e.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	for i := range races {
		me := &races[i]
		if got, err := e.Get(t.Context(), ada, me.id); err != nil || got.Version != versions[me.id] {
			t.Errorf("a terminal task changed: %+v, %v", got, err)
		}
		if n := me.ends.Load(); n != 1 { // told by runs, which Close waited for
			t.Errorf("%d ends were told, want 1", n)
		}
	}
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

func (r *race) check(t *testing.T, e *task.Engine) uint64 {
	got, err := e.Get(t.Context(), ada, r.id)
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
	}
	return got.Version
}
