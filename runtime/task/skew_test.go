package task_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/task"
	"github.com/mcpkiln/mcpkiln/runtime/task/internal/chaos"
)

// counting is a durable store that counts what an engine does too often.
type counting struct {
	task.Store
	sweeps  atomic.Int64
	rescues atomic.Int64
}

func (s *counting) Durable() bool { return true }

func (s *counting) Begin(ctx context.Context, id, node string, d time.Duration) (task.Begun, error) {
	b, err := s.Store.Begin(ctx, id, node, d)
	if err == nil && b.Lease.Epoch > 1 {
		s.rescues.Add(1)
	}
	return b, err
}

func (s *counting) Expire(ctx context.Context, limit int) (task.Expiry, error) {
	s.sweeps.Add(1)
	return s.Store.Expire(ctx, limit)
}

// onSkewedClocks runs test with an engine whose clock is an hour or a day away from its store's.
func onSkewedClocks(t *testing.T, runner task.Runner, test func(w *world, s *counting)) {
	for _, by := range []time.Duration{time.Hour, -time.Hour, 24 * time.Hour, -24 * time.Hour} {
		t.Run(fmt.Sprint(by), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &counting{Store: task.NewMemory()}
				w := &world{t, newEngine(task.Config{Store: chaos.Skewed{Store: s, By: by}, Resume: true, Runner: runner}), t.Context()}
				test(w, s)
				if err := w.Close(context.Background()); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

func TestTSK15AClockThatIsWrongExpiresNothingEarly(t *testing.T) {
	var cause error
	onSkewedClocks(t, func(ctx context.Context, _ *task.Run) task.Outcome {
		<-ctx.Done()
		cause = context.Cause(ctx)
		return done("")
	}, func(w *world, s *counting) {
		ttl := 30 * time.Minute
		id := w.create(task.Spec{TTL: &ttl})
		time.Sleep(ttl - time.Second)
		w.status(id, task.Working)
		w.wantRunning(1)
		if n := s.sweeps.Load(); n > 1000 {
			w.Errorf("%d sweeps in half an hour", n)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if _, err := w.Get(w.ctx, ada, id); !errors.Is(err, task.ErrNotFound) {
			w.Errorf("after its ttl: %v", err)
		}
		w.wantRunning(0)
		if !errors.Is(cause, task.ErrExpired) {
			w.Errorf("the run ended with %v", cause)
		}
		if n := s.rescues.Load(); n > 0 {
			w.Errorf("%d runs too many", n)
		}
	})
}

// A question is open for as long as its asker meant, whether its run waits or is parked.
func TestTSK19AClockThatIsWrongEndsNoQuestionEarly(t *testing.T) {
	onSkewedClocks(t, func(ctx context.Context, r *task.Run) task.Outcome {
		wait := 10 * time.Minute
		if r.Task().Tool == "short" {
			wait = 20 * time.Second // it is not parked
		}
		answer, err := r.Ask(ctx, task.Question{Name: "q", Deadline: time.Now().Add(wait)})
		return done(fmt.Sprint(string(answer), err))
	}, func(w *world, s *counting) {
		defer func() {
			if n := s.rescues.Load(); n > 4 { // the long ones are begun again with their answer or at their deadline
				w.Errorf("%d runs too many", n)
			}
		}()
		for tool, wait := range map[string]time.Duration{"short": 20 * time.Second, "long": 10 * time.Minute} {
			answered, late := w.create(task.Spec{Tool: tool}), w.create(task.Spec{Tool: tool})
			time.Sleep(wait - time.Second)
			w.status(late, task.InputRequired)
			w.status(answered, task.InputRequired)
			w.answer(answered, task.Answer{Name: "q", Data: []byte("yes ")})
			time.Sleep(21 * time.Second) // the engine has looked for orphans
			synctest.Wait()
			if got := w.status(answered, task.Completed); string(got.Result) != "yes <nil>" {
				w.Errorf("%s, answered: %q", tool, got.Result)
			}
			if got := w.status(late, task.Completed); string(got.Result) != task.ErrUnanswered.Error() {
				w.Errorf("%s, late: %q", tool, got.Result)
			}
		}
	})
}
