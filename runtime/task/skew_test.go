package task_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/task"
)

// skewed is a durable store whose clock is ahead of this process's, or behind it.
type skewed struct {
	task.Store
	by      time.Duration
	sweeps  *atomic.Int64
	rescues *atomic.Int64
}

func (s skewed) Durable() bool { return true }

// shown is a task as its store's clock shows it.
func (s skewed) shown(t task.Task) task.Task {
	t.CreatedAt, t.UpdatedAt, t.Questions = t.CreatedAt.Add(s.by), t.UpdatedAt.Add(s.by), slices.Clone(t.Questions)
	for i := range t.Questions {
		s.question(&t.Questions[i])
	}
	return t
}

func (s skewed) question(q *task.Question) {
	if q.AskedAt = q.AskedAt.Add(s.by); !q.Deadline.IsZero() {
		q.Deadline = q.Deadline.Add(s.by).Round(0)
	}
}

func (s skewed) Create(ctx context.Context, t task.Task, q task.Quota) (task.Task, error) {
	t, err := s.Store.Create(ctx, t, q)
	return s.shown(t), err
}

func (s skewed) Get(ctx context.Context, owner, id string) (task.Task, error) {
	t, err := s.Store.Get(ctx, owner, id)
	return s.shown(t), err
}

func (s skewed) Watch(ctx context.Context, owner, id string) (task.Task, <-chan struct{}, error) {
	t, changed, err := s.Store.Watch(ctx, owner, id)
	return s.shown(t), changed, err
}

func (s skewed) Begin(ctx context.Context, id, node string, d time.Duration) (task.Begun, error) {
	b, err := s.Store.Begin(ctx, id, node, d)
	if err == nil && b.Lease.Epoch > 1 {
		s.rescues.Add(1)
	}
	b.Task, b.Now, b.Journal = s.shown(b.Task), b.Now.Add(s.by).Round(0), slices.Clone(b.Journal)
	for i := range b.Journal {
		s.question(&b.Journal[i].Question)
	}
	return b, err
}

// Ask takes a deadline for one of the store's own clock, unless the asker says what its own shows.
func (s skewed) Ask(ctx context.Context, l task.Lease, q task.Question) (task.Task, error) {
	if q.AskedAt.IsZero() && !q.Deadline.IsZero() {
		q.Deadline = q.Deadline.Add(-s.by)
	}
	t, err := s.Store.Ask(ctx, l, q)
	return s.shown(t), err
}

func (s skewed) Park(ctx context.Context, l task.Lease) (task.Task, error) {
	t, err := s.Store.Park(ctx, l)
	return s.shown(t), err
}

func (s skewed) Expire(ctx context.Context, limit int) (task.Expiry, error) {
	s.sweeps.Add(1)
	x, err := s.Store.Expire(ctx, limit)
	if !x.Next.IsZero() {
		x.Next = x.Next.Add(s.by).Round(0)
	}
	return x, err
}

// onSkewedClocks runs test with an engine whose clock is an hour or a day away from its store's.
func onSkewedClocks(t *testing.T, runner task.Runner, test func(w *world, s skewed)) {
	for _, by := range []time.Duration{time.Hour, -time.Hour, 24 * time.Hour, -24 * time.Hour} {
		t.Run(fmt.Sprint(by), func(t *testing.T) {
			s := skewed{by: by, sweeps: &atomic.Int64{}, rescues: &atomic.Int64{}}
			synctest.Test(t, func(t *testing.T) {
				s.Store = task.NewMemory()
				w := &world{t, newEngine(task.Config{Store: s, Resume: true, Runner: runner}), t.Context()}
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
	}, func(w *world, s skewed) {
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
	}, func(w *world, s skewed) {
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
