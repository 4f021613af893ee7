package tasktest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/task"
)

// Replica is the store and the dispatcher of one of several engines that share their tasks.
type Replica struct {
	Store      task.Store
	Dispatcher task.Dispatcher // nil: tasks run where they are created, answered or found
	// Started, if not nil, is called with the engine. What it starts ends with t.Cleanup, after the engine.
	Started func(e *task.Engine)
}

// RunEngines checks several engines on a durable store: open returns the replicas of n engines, all of them with the same tasks, of
// which there are none yet. Time is the machine's, and nothing is expected within less than a minute.
func RunEngines(t *testing.T, open func(t *testing.T, n int) []Replica) {
	for name, check := range map[string]func(*engines){
		"EXT15EveryEngineSeesEveryTask":                   everyEngineSeesAll,
		"DUR05AParkedRunBeginsAgainWithItsAnswerAnywhere": parkedRunsGoOn,
		"DUR05AParkedQuestionEndsAtItsDeadline":           parkedQuestionsEnd,
		"DUR05OneOfTwoAnswersIsEnoughToWork":              oneAnswerIsEnough,
		"CAN11AParkedTaskIsCancelledAnywhere":             parkedTasksAreCancelled,
		"DUR04AnEngineThatEndsHandsOver":                  endingEnginesHandOver,
	} {
		t.Run(name, func(t *testing.T) { check(&engines{T: t, open: open}) })
	}
}

// engines are two engines under test.
type engines struct {
	*testing.T
	open func(t *testing.T, n int) []Replica
	both []*task.Engine
}

// endless is a lease that does not end during a check, so that nothing happens because of its end.
const endless = time.Hour

// start makes the engines.
func (e *engines) start(c task.Config) {
	e.Helper()
	replicas := e.open(e.T, 2)
	for n, r := range replicas {
		c := c
		c.Store, c.Dispatcher, c.Machine, c.Resume, c.Node = r.Store, r.Dispatcher, Machine(), true, fmt.Sprint("engine-", n)
		c.Limits.PollsPerSecond = -1
		engine := task.New(c)
		if r.Started != nil {
			r.Started(engine)
		}
		e.Cleanup(func() { // before the store and the dispatcher
			if err := engine.Close(context.WithoutCancel(e.Context())); err != nil {
				e.Errorf("close: %v", err)
			}
		})
		e.both = append(e.both, engine)
	}
}

func (e *engines) create(at *task.Engine) string {
	e.Helper()
	c, err := at.Create(e.Context(), task.Spec{Owner: ada, Tool: "tool"})
	if err != nil {
		e.Fatalf("create: %v", err)
	}
	c.Start()
	return c.Task.ID
}

// result waits for the end of a task.
func (e *engines) result(at *task.Engine, id string) string {
	e.Helper()
	ctx, stop := context.WithTimeout(e.Context(), patience)
	defer stop()
	got, err := at.Wait(ctx, ada, id)
	if err != nil || got.Status != task.Completed {
		e.Fatalf("the task is %s (%s), %v", got.Status, got.StatusMessage, err)
	}
	return string(got.Result)
}

// idle waits until a task that has asked is run by nobody, and returns how many questions are open.
func (e *engines) idle(id string) (open int) {
	e.Helper()
	deadline := time.Now().Add(patience)
	for tick := time.NewTicker(5 * time.Millisecond); ; <-tick.C {
		got, err := e.both[0].Get(e.Context(), ada, id)
		if err == nil && len(got.Questions) > 0 && len(e.both[0].Running())+len(e.both[1].Running()) == 0 {
			tick.Stop()
			return len(got.Questions)
		}
		if time.Now().After(deadline) {
			e.Fatalf("the task is %s with %d questions, %v; %d and %d runs go on", got.Status, len(got.Questions), err,
				len(e.both[0].Running()), len(e.both[1].Running()))
		}
	}
}

func (e *engines) answer(at *task.Engine, id, name string) {
	e.Helper()
	if _, err := at.Answer(e.Context(), ada, id, task.Answer{Name: name, Data: []byte("yes")}); err != nil {
		e.Fatalf("answer: %v", err)
	}
}

func resulting(result string) task.Outcome {
	return task.Outcome{Status: task.Completed, Result: []byte(result)}
}

func everyEngineSeesAll(e *engines) {
	var runs atomic.Int64
	e.start(task.Config{Lease: endless, Runner: func(_ context.Context, r *task.Run) task.Outcome {
		runs.Add(1)
		return resulting(r.Task().ID)
	}})
	const tasks = 50
	var all sync.WaitGroup
	for n := range tasks {
		all.Go(func() {
			id := e.create(e.both[n%2])
			ctx, stop := context.WithTimeout(e.Context(), patience)
			defer stop()
			if got, err := e.both[(n+1)%2].Wait(ctx, ada, id); err != nil || string(got.Result) != id {
				e.Errorf("the other engine sees %+v, %v", got, err)
			}
		})
	}
	all.Wait()
	if n := runs.Load(); n != tasks {
		e.Errorf("%d runs of %d tasks", n, tasks)
	}
}

func parkedRunsGoOn(e *engines) {
	var steps atomic.Int64
	e.start(task.Config{Lease: endless, ParkAfter: time.Millisecond, Runner: func(ctx context.Context, r *task.Run) task.Outcome {
		_, err := r.Do(ctx, "step", func(context.Context) ([]byte, error) {
			steps.Add(1)
			return nil, nil
		})
		if err != nil {
			return task.Outcome{Status: task.Failed, Message: err.Error()}
		}
		data, _ := r.Ask(ctx, task.Question{Name: "q"})
		return resulting(string(data))
	}})
	for n, answering := range []*task.Engine{e.both[0], e.both[1], e.both[1], e.both[0]} {
		id := e.create(e.both[n/2])
		e.idle(id)
		e.answer(answering, id, "q")
		if got := e.result(e.both[0], id); got != "yes" || steps.Load() != int64(n+1) {
			e.Errorf("%d: %q after %d steps", n, got, steps.Load())
		}
	}
}

func parkedQuestionsEnd(e *engines) {
	e.start(task.Config{Lease: endless, ParkAfter: time.Millisecond, Runner: func(ctx context.Context, r *task.Run) task.Outcome {
		_, err := r.Ask(ctx, task.Question{Name: "q", Deadline: time.Now().Add(500 * time.Millisecond)})
		return resulting(fmt.Sprint(errors.Is(err, task.ErrUnanswered)))
	}})
	for n := range e.both {
		if got := e.result(e.both[0], e.create(e.both[n])); got != "true" {
			e.Errorf("unanswered: %s", got)
		}
	}
}

func oneAnswerIsEnough(e *engines) {
	worked := make(chan struct{}, 1)
	ask := func(ctx context.Context, r *task.Run, name string) string {
		data, _ := r.Ask(ctx, task.Question{Name: name})
		return string(data)
	}
	e.start(task.Config{Lease: endless, ParkAfter: 100 * time.Millisecond, Runner: func(ctx context.Context, r *task.Run) task.Outcome {
		var asking sync.WaitGroup
		var a, b string
		asking.Go(func() {
			if a = ask(ctx, r, "a"); a == "" {
				return
			}
			select { // longer than until a run is parked
			case <-time.After(500 * time.Millisecond):
				select {
				case worked <- struct{}{}:
				default:
				}
			case <-ctx.Done():
			}
		})
		asking.Go(func() { b = ask(ctx, r, "b") })
		asking.Wait()
		return resulting(a + b)
	}})
	id := e.create(e.both[0])
	for e.idle(id) < 2 { // parked before it could ask the other one
		id = e.create(e.both[0])
	}
	e.answer(e.both[1], id, "a")
	select {
	case <-worked:
	case <-time.After(patience):
		e.Fatal("what follows from one answer waits for the other")
	}
	e.answer(e.both[0], id, "b")
	if got := e.result(e.both[1], id); got != "yesyes" {
		e.Errorf("%q", got)
	}
}

func parkedTasksAreCancelled(e *engines) {
	e.start(task.Config{Lease: endless, ParkAfter: time.Millisecond, Runner: func(ctx context.Context, r *task.Run) task.Outcome {
		_, _ = r.Ask(ctx, task.Question{Name: "q"})
		return resulting("")
	}})
	for _, at := range e.both {
		id := e.create(e.both[0])
		e.idle(id)
		if got, err := at.Cancel(e.Context(), ada, id, task.Cancel{Reason: "enough"}); err != nil || got.Status != task.Cancelled {
			e.Errorf("a parked task is %s after its cancel, %v", got.Status, err)
		}
	}
}

func endingEnginesHandOver(e *engines) {
	began, hold := make(chan struct{}, 100), make(chan struct{})
	e.start(task.Config{Lease: 3 * time.Second, Runner: func(ctx context.Context, r *task.Run) task.Outcome {
		began <- struct{}{}
		select {
		case <-hold:
		case <-ctx.Done():
		}
		return resulting("done")
	}})
	id := e.create(e.both[0])
	<-began
	first, other := e.both[0], e.both[1]
	if len(first.Running()) == 0 { // a dispatcher may have decided for the other
		first, other = other, first
	}
	if err := first.Close(e.Context()); err != nil {
		e.Fatal(err)
	}
	close(hold)
	if got := e.result(other, id); got != "done" {
		e.Errorf("%q", got)
	}
}
