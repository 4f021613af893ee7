package task_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/mcpkiln/mcpkiln/runtime/inflight"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/task"
)

func goexit() { runtime.Goexit() }

// after works for a while and returns an outcome.
func after(d time.Duration, o task.Outcome) task.Runner {
	return func(context.Context, *task.Run) task.Outcome {
		time.Sleep(d)
		return o
	}
}

func TestTSK09WaitBlocksUntilTerminalAndWakesEveryWaiter(t *testing.T) {
	in(t, task.Config{Runner: after(time.Minute, done("result"))}, func(w *world) {
		id := w.create(task.Spec{})
		var woken atomic.Int32
		for range 100 {
			go func() {
				got, err := w.Wait(w.ctx, ada, id)
				if err != nil || string(got.Result) != "result" || got.Status != task.Completed {
					t.Errorf("wait: %+v, %v", got, err)
				}
				woken.Add(1)
			}()
		}
		time.Sleep(time.Minute - 1)
		synctest.Wait()
		if n := woken.Load(); n != 0 {
			t.Fatalf("%d waiters returned before the end", n)
		}
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		if n := woken.Load(); n != 100 {
			t.Fatalf("%d of 100 waiters woke", n)
		}
	})
}

func TestTSK09CancelledWaitersLeaveNothing(t *testing.T) {
	in(t, task.Config{Runner: after(time.Hour, done("result"))}, func(w *world) {
		id := w.create(task.Spec{TTL: new(2 * time.Hour)})
		before := goroutinesOfTasks()
		ctx, cancel := context.WithCancelCause(w.ctx)
		gone := errors.New("peer has gone")
		ended := make(chan error, 2000)
		for range cap(ended) {
			go func() {
				_, err := w.Wait(ctx, ada, id)
				ended <- err
			}()
		}
		synctest.Wait()
		cancel(gone)
		for range cap(ended) {
			if err := <-ended; !errors.Is(err, gone) {
				t.Fatalf("waiter ended with %v", err)
			}
		}
		synctest.Wait()
		if now := goroutinesOfTasks(); now != before {
			t.Errorf("%d goroutines before 2,000 waiters, %d after", before, now)
		}
		if timers, live := w.Timers(), w.Live(); timers > 3 || live != 1 {
			t.Errorf("%d timers and %d tasks are held, want an expiry, a heartbeat, a look at fences, and one task", timers, live)
		}
		if got, err := w.Wait(w.ctx, ada, id); err != nil || string(got.Result) != "result" {
			t.Errorf("the result is lost: %+v, %v", got, err)
		}
	})
}

// goroutinesOfTasks counts the goroutines that are in the package, or were started there. The Go runtime has some of its own, more or less.
func goroutinesOfTasks() (n int) {
	all := make([]byte, 8<<20)
	for stack := range strings.SplitSeq(string(all[:runtime.Stack(all, true)]), "\n\n") {
		if strings.Contains(stack, "mcpkiln/runtime/task.") {
			n++
		}
	}
	return n
}

func TestTSK10OutcomesAreKeptVerbatim(t *testing.T) {
	want := &rpc.Error{Code: -32042, Message: "visit first", Data: []byte(`{"urls": [ ]}`)}
	for _, o := range []task.Outcome{done(`{"content" : [ ]}`), {Status: task.Failed, Error: want}} {
		in(t, task.Config{Runner: after(time.Second, o)}, func(w *world) {
			got, err := w.Wait(w.ctx, ada, w.create(task.Spec{}))
			if err != nil || string(got.Result) != string(o.Result) || got.Error != o.Error || got.Status != o.Status {
				t.Errorf("outcome %+v came back as %+v, %v", o, got, err)
			}
		})
	}
}

func TestTSK11WaitOfCancelledTaskGivesAnError(t *testing.T) {
	in(t, task.Config{Runner: patient}, func(w *world) {
		id := w.create(task.Spec{})
		if _, err := w.Cancel(w.ctx, ada, id, task.Cancel{Force: true, Reason: "enough"}); err != nil {
			t.Fatal(err)
		}
		got, err := w.Wait(w.ctx, ada, id)
		if err != nil || got.Error == nil || got.Error.Code != task.CodeCancelled || !strings.Contains(got.Error.Message, "enough") {
			t.Errorf("wait: %+v, %v", got, err)
		}
	})
}

func TestTSK12ErrorResultHasTheStatusOfItsRevision(t *testing.T) {
	for _, status := range []task.Status{task.Failed, task.Completed} {
		o := task.Outcome{Status: status, Message: "no such file", Result: []byte(`{"isError":true}`)}
		in(t, task.Config{Runner: after(0, o)}, func(w *world) {
			got := w.status(w.create(task.Spec{}), status)
			if got.StatusMessage != "no such file" || got.Error != nil || string(got.Result) != `{"isError":true}` {
				t.Errorf("task: %+v", got)
			}
		})
	}
}

func TestTSK16ListPagesThroughTheEngine(t *testing.T) {
	in(t, task.Config{Runner: quick, Limits: task.Limits{Page: 2}}, func(w *world) {
		var want, got []string
		for range 5 {
			want = append(want, w.create(task.Spec{}))
		}
		p, err := w.List(w.ctx, ada, "", 0)
		for ; err == nil; p, err = w.List(w.ctx, ada, p.Next, 0) {
			for _, t := range p.Tasks {
				got = append(got, t.ID)
			}
			if p.Next == "" {
				break
			}
		}
		if err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("listed %v, %v, want %v", got, err, want)
		}
		if _, err := w.List(w.ctx, ada, "nonsense", 0); !errors.Is(err, task.ErrCursor) || !strings.Contains(err.Error(), "cursor") {
			t.Errorf("TSK17: bad cursor: %v", err)
		}
	})
}

func TestTSK17RefusalsSayWhichAndTellNoSecret(t *testing.T) {
	log := &record{}
	in(t, task.Config{Runner: quick, Logger: log.logger()}, func(w *world) {
		id := w.create(task.Spec{})
		expired := w.create(task.Spec{TTL: new(time.Millisecond)})
		synctest.Wait()
		time.Sleep(time.Millisecond) // past the ttl, at this instant perhaps not removed
		_, unknown := w.Get(w.ctx, ada, "unknown")
		_, late := w.Get(w.ctx, ada, expired)
		_, foreign := w.Get(w.ctx, "eve", id)
		for _, err := range []error{unknown, late, foreign} {
			if !errors.Is(err, task.ErrNotFound) || err.Error() != unknown.Error() || !strings.Contains(err.Error(), "task") {
				t.Errorf("refusals differ: %v and %v", err, unknown)
			}
		}
		if log.count("task access refused", "requestor=eve", id, "reason=foreign", "operation=get", "tool=tool") != 1 {
			t.Errorf("the audit log does not tell the stranger: %q", log.lines)
		}
	})
}

func TestTSK18CancelIsDoneWhenItReturns(t *testing.T) {
	ended := make(chan error, 1)
	in(t, task.Config{Runner: causes(ended)}, func(w *world) {
		id := w.create(task.Spec{})
		got, err := w.Cancel(w.ctx, ada, id, task.Cancel{Force: true, Reason: "enough"})
		if err != nil || got.Status != task.Cancelled {
			t.Fatalf("cancel: %+v, %v", got, err)
		}
		if cause := <-ended; source(cause) != inflight.SourcePeer || !strings.Contains(cause.Error(), "enough") {
			t.Errorf("the work ended with %v", cause)
		}
		synctest.Wait()
		if after := w.status(id, task.Cancelled); after.Result != nil || after.Version != got.Version {
			t.Errorf("the late result counted: %+v", after)
		}
		var over *task.TerminalError
		if _, err := w.Cancel(w.ctx, ada, id, task.Cancel{Force: true}); !errors.As(err, &over) || !strings.Contains(err.Error(), "cancelled") {
			t.Errorf("second cancel: %v", err)
		}
	})
}

func TestEXT11CooperativeCancelEndsWhenTheWorkDoes(t *testing.T) {
	in(t, task.Config{Runner: func(ctx context.Context, r *task.Run) task.Outcome {
		<-ctx.Done()
		time.Sleep(time.Second)
		return done("discarded")
	}}, func(w *world) {
		id := w.create(task.Spec{})
		if got, err := w.Cancel(w.ctx, ada, id, task.Cancel{}); err != nil || got.Status != task.Working || !got.CancelRequested {
			t.Fatalf("cancel: %+v, %v", got, err)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if got := w.status(id, task.Cancelled); got.Result != nil {
			t.Errorf("the result of cancelled work is kept: %+v", got)
		}
	})
}

func TestEXT11UncancellableTaskCompletes(t *testing.T) {
	in(t, task.Config{Runner: func(ctx context.Context, r *task.Run) task.Outcome {
		time.Sleep(time.Minute)
		reason, asked := r.CancelRequested()
		return done(fmt.Sprintf("%v %v %s", ctx.Err(), asked, reason))
	}}, func(w *world) {
		id := w.create(task.Spec{Uncancellable: true})
		if _, err := w.Cancel(w.ctx, ada, id, task.Cancel{Reason: "please"}); err != nil {
			t.Fatal(err)
		}
		got, err := w.Wait(w.ctx, ada, id)
		if err != nil || string(got.Result) != "<nil> true please" {
			t.Errorf("task: %+v, %v", got, err)
		}
	})
}

func TestTSK20ChangesComeInOrderAndOnce(t *testing.T) {
	var got []string
	in(t, task.Config{
		OnChange: func(t task.Task) {
			got = append(got, fmt.Sprintf("%s %s %d", t.Owner, t.Status, len(t.Questions)))
			time.Sleep(time.Millisecond) // slow: others queue up meanwhile
		},
		Runner: func(ctx context.Context, r *task.Run) task.Outcome {
			r.Ask(ctx, task.Question{Name: "q"})
			return done("")
		},
	}, func(w *world) {
		id := w.create(task.Spec{})
		time.Sleep(time.Second)
		if _, err := w.Answer(w.ctx, ada, id, task.Answer{Name: "q"}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		want := "[ada input_required 1 ada working 0 ada completed 0]"
		if fmt.Sprint(got) != want {
			t.Errorf("changes were %v, want %v", got, want)
		}
	})
}

func TestTSK21StrangersReachNothing(t *testing.T) {
	in(t, task.Config{Runner: patient}, func(w *world) {
		id := w.create(task.Spec{})
		before := w.get(id)
		for _, eve := range []string{"eve", ""} {
			_, get := w.Get(w.ctx, eve, id)
			_, wait := w.Wait(w.ctx, eve, id)
			_, _, watch := w.Watch(w.ctx, eve, id)
			_, cancel := w.Cancel(w.ctx, eve, id, task.Cancel{Force: true})
			_, answer := w.Answer(w.ctx, eve, id, task.Answer{Name: "q"})
			for what, err := range map[string]error{"get": get, "wait": wait, "watch": watch, "cancel": cancel, "answer": answer} {
				if !errors.Is(err, task.ErrNotFound) {
					t.Errorf("%s by a stranger: %v", what, err)
				}
			}
			if p, err := w.List(w.ctx, eve, "", 0); err != nil || len(p.Tasks) > 0 {
				t.Errorf("list by a stranger: %v, %v", p, err)
			}
		}
		if after := w.status(id, task.Working); after.Version != before.Version {
			t.Errorf("strangers changed the task: %+v", after)
		}
	})
}

// A status message is a diagnosis: lists have it for every task. What ended the task keeps its whole text (TSK28).
func TestTSK28StatusMessagesAreCut(t *testing.T) {
	long := strings.Repeat("ä", 1<<20)
	run := func(ctx context.Context, r *task.Run) task.Outcome {
		if err := r.Describe(ctx, long); err != nil {
			t.Error(err)
		}
		return task.Outcome{Status: task.Failed, Message: long, Error: &rpc.Error{Code: 1, Message: long}}
	}
	in(t, task.Config{Runner: run}, func(w *world) {
		id := w.create(task.Spec{})
		got, err := w.Wait(w.ctx, ada, id)
		if err != nil || got.Error.Message != long || len(got.StatusMessage) > task.MaxStatusMessage+len("…") || !utf8.ValidString(got.StatusMessage) {
			t.Errorf("%d bytes of status message, %v", len(got.StatusMessage), err)
		}
	})
}

// A page ends when it gets large, and the next one goes on (TSK28).
func TestTSK28APageEndsWhenItIsLarge(t *testing.T) {
	run := func(context.Context, *task.Run) task.Outcome {
		return task.Outcome{Status: task.Failed, Message: strings.Repeat("x", 1<<20), Error: &rpc.Error{Code: 1}}
	}
	in(t, task.Config{Runner: run, Limits: task.Limits{Page: 10_000}}, func(w *world) {
		const tasks = 600
		for range tasks {
			w.create(task.Spec{})
		}
		synctest.Wait()
		seen, cursor := 0, ""
		for range tasks {
			p, err := w.List(w.ctx, ada, cursor, 0)
			size := 0
			for _, t := range p.Tasks {
				size += len(t.StatusMessage)
			}
			if seen += len(p.Tasks); err != nil || size > 1<<20+2*task.MaxStatusMessage {
				t.Fatalf("a page of %d bytes, %v", size, err)
			}
			if cursor = p.Next; cursor == "" {
				break
			}
		}
		if seen != tasks {
			t.Errorf("%d tasks are listed", seen)
		}
	})
}
