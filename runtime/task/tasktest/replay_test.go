package tasktest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/task"
)

// replayed runs a task to its end and answers its questions with yes.
func replayed(t *testing.T, spec task.Spec, runner task.Runner) (result string, err error) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		e := task.New(task.Config{Store: AlwaysReplay(), Machine: Machine(), Runner: runner, Resume: true})
		defer e.Close(context.Background())
		spec.Owner = ada
		made, failed := e.Create(t.Context(), spec)
		if failed != nil {
			t.Fatal(failed)
		}
		made.Start()
		id := made.Task.ID
		for range 100 {
			synctest.Wait()
			var now task.Task
			if now, err = e.Get(t.Context(), ada, id); err != nil || now.Status.Terminal() {
				if result = string(now.Result); now.Error != nil {
					result = now.Error.Message
				}
				return
			}
			for _, q := range now.Questions {
				if _, err = e.Answer(t.Context(), ada, id, task.Answer{Name: q.Name, Data: []byte("yes")}); err != nil {
					return
				}
			}
			time.Sleep(100 * time.Millisecond)
		}
		err = errors.New("the task does not end")
	})
	return result, err
}

func completed(result string, err error) task.Outcome {
	if err != nil {
		result = err.Error()
	}
	return task.Outcome{Status: task.Completed, Result: []byte(result)}
}

// count is a step that says how often it was done.
func count(n *int) func(context.Context) ([]byte, error) {
	return func(context.Context) ([]byte, error) {
		*n++
		return fmt.Append(nil, *n), nil
	}
}

func TestDUR08AlwaysReplayRunsAHandlerAgainWhereverItMayHaveTo(t *testing.T) {
	var runs, one, two int
	handler := func(ctx context.Context, r *task.Run) task.Outcome {
		runs++
		a, err := r.Do(ctx, "one", count(&one))
		if err != nil {
			return completed("", err)
		}
		answer, err := r.Ask(ctx, task.Question{Name: "q"})
		if err != nil {
			return completed("", err)
		}
		b, err := r.Do(ctx, "two", count(&two))
		return completed(string(a)+string(answer)+string(b), err)
	}
	// A task may be dispatched twice, and then begins once more than it has to: what counts is that each of the four has a run of its own.
	if got, err := replayed(t, task.Spec{}, handler); got != "1yes1" || err != nil || runs < 4 || one != 1 || two != 1 {
		t.Errorf("%q, %v after %d runs, steps %d and %d", got, err, runs, one, two)
	}
	for name, spec := range map[string]task.Spec{"fails on a crash": {Reruns: -1}, "can not be cancelled": {Uncancellable: true}} {
		runs, one, two = 0, 0, 0
		if got, err := replayed(t, spec, handler); got != "1yes1" || err != nil || runs != 1 {
			t.Errorf("a task that %s: %q, %v after %d runs", name, got, err, runs)
		}
	}
}

// What goes wrong when a handler runs again goes wrong in its test.
func TestDUR08AlwaysReplayShowsWhatDoesNotReplay(t *testing.T) {
	runs, steps := 0, 0
	if got, err := replayed(t, task.Spec{}, func(ctx context.Context, r *task.Run) task.Outcome {
		runs++
		name := fmt.Sprint("made at random ", runs)
		_, err := r.Do(ctx, name, count(&steps))
		return completed("done", err)
	}); !strings.Contains(got, "are the names of its steps and questions the same in every run?") || err != nil {
		t.Errorf("%q, %v after %d steps", got, err, steps)
	}
	effects := 0
	if got, err := replayed(t, task.Spec{}, func(ctx context.Context, r *task.Run) task.Outcome {
		effects++ // outside of a step
		_, err := r.Do(ctx, "step", count(&steps))
		return completed(fmt.Sprint(effects), err)
	}); got != "2" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
}

// Steps and questions of several goroutines are replayed, too.
func TestDUR08AlwaysReplayOfConcurrentStepsAndQuestions(t *testing.T) {
	done := map[string]int{}
	var mu sync.Mutex
	got, err := replayed(t, task.Spec{}, func(ctx context.Context, r *task.Run) task.Outcome {
		var work sync.WaitGroup
		all := make([]string, 6)
		failed := make([]error, 6)
		for i := range all {
			work.Go(func() {
				name := fmt.Sprint("n", i)
				var data []byte
				if i%2 == 0 {
					data, failed[i] = r.Ask(ctx, task.Question{Name: name})
				} else {
					data, failed[i] = r.Do(ctx, name, func(context.Context) ([]byte, error) {
						mu.Lock()
						defer mu.Unlock()
						done[name]++
						return []byte("did"), nil
					})
				}
				all[i] = string(data)
			})
		}
		work.Wait()
		return completed(fmt.Sprint(all), errors.Join(failed...))
	})
	if got != "[yes did yes did yes did]" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	for name, n := range done {
		if n != 1 {
			t.Errorf("%s was done %d times", name, n)
		}
	}
}
