package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/inflight"
	"github.com/mcpkiln/mcpkiln/runtime/task"
	"github.com/mcpkiln/mcpkiln/runtime/task/internal/chaos"
	"github.com/mcpkiln/mcpkiln/runtime/task/tasktest"
)

// longLease is one that no test waits for: what happens before its end does not happen because of it.
const longLease = time.Hour

// within is a context for what has to happen, however slow the machine is.
func within(t *testing.T) context.Context {
	ctx, stop := context.WithTimeout(t.Context(), 2*time.Minute)
	t.Cleanup(stop)
	return ctx
}

// engineAt is a replica in this process.
func engineAt(t *testing.T, s *Store, c task.Config) *task.Engine {
	t.Helper()
	c.Store, c.Machine, c.Resume = s, tasktest.Machine(), true
	c.Limits = task.Limits{Running: -1, AllRunning: -1, PollsPerSecond: -1}
	e := task.New(c)
	t.Cleanup(func() {
		if err := e.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	return e
}

// quick ends at once; patient when its context does, and tells why and when.
func quick(_ context.Context, r *task.Run) task.Outcome {
	return task.Outcome{Status: task.Completed, Result: fmt.Append(nil, "run ", r.Epoch())}
}

type end struct {
	cause error
	at    time.Time
}

func patient(began chan<- string, ended chan<- end) task.Runner {
	return func(ctx context.Context, r *task.Run) task.Outcome {
		began <- r.Task().ID
		<-ctx.Done()
		ended <- end{context.Cause(ctx), time.Now()}
		return task.Outcome{Status: task.Completed, Result: []byte("late")}
	}
}

// start creates n tasks and starts them.
func start(t *testing.T, e *task.Engine, n int) (ids []string) {
	t.Helper()
	for range n {
		c, err := e.Create(t.Context(), task.Spec{Owner: "ada", Tool: "tool"})
		if err != nil {
			t.Fatal(err)
		}
		c.Start()
		ids = append(ids, c.Task.ID)
	}
	return ids
}

func TestEXT15TasksAreFoundOnEveryReplica(t *testing.T) {
	url := newURL(t)
	first, second := openAt(t, url, Options{}), openAt(t, url, Options{})
	e, other := engineAt(t, first, task.Config{Runner: quick}), engineAt(t, second, task.Config{Runner: quick})
	for range 20 {
		c, err := e.Create(t.Context(), task.Spec{Owner: "ada", Tool: "tool"})
		if err != nil {
			t.Fatal(err)
		}
		if got, err := other.Get(t.Context(), "ada", c.Task.ID); err != nil || got.Status != task.Working {
			t.Fatalf("right after its creation another replica has %+v, %v", got, err)
		}
		c.Start()
		if got, err := other.Wait(within(t), "ada", c.Task.ID); err != nil || string(got.Result) != "run 1" {
			t.Fatalf("another replica waited and got %+v, %v", got, err)
		}
	}
}

// A cancel on another replica ends the context without any heartbeat: by a notification, or by asking where there are none.
func TestDUR03CancelFromAnotherReplica(t *testing.T) {
	for name, o := range map[string]Options{"listening": {}, "behind a pooler": {Bouncer: true}} {
		t.Run(name, func(t *testing.T) {
			url := newURL(t)
			began, ended := make(chan string, 1), make(chan end, 1)
			runs := engineAt(t, openAt(t, url, o), task.Config{Runner: patient(began, ended), Lease: longLease})
			other := openAt(t, url, o)
			var took []time.Duration
			times := *cancels
			if o.Bouncer {
				times = min(times, 50) // each of them waits for a poll
			}
			for n := range times {
				id := start(t, runs, 1)[0]
				<-began
				from := time.Now()
				got, err := other.Cancel(t.Context(), "ada", id, task.Cancel{Force: n%2 == 0, Reason: "enough"})
				if err != nil || !got.CancelRequested || n%2 == 0 && got.Status != task.Cancelled {
					t.Fatalf("the answer to the cancel: %+v, %v", got, err)
				}
				select {
				case e := <-ended:
					var cause *inflight.Cause
					if !errors.As(e.cause, &cause) || cause.Source != inflight.SourcePeer {
						t.Fatalf("the run ended with %v", e.cause)
					}
					took = append(took, e.at.Sub(from))
				case <-within(t).Done():
					t.Fatal("the run was not told")
				}
			}
			slices.Sort(took)
			t.Logf("%d cancels: half of the contexts were over after %v", len(took), took[len(took)/2])
			most := 50 * time.Millisecond
			if o.Bouncer {
				most = time.Second
			}
			chaos.Figure(t, "99 % of the contexts were over", took[len(took)*99/100], most)
		})
	}
}

// Cancels on three replicas race with results. One of them decides, and all see it.
func TestDUR02CancelsRaceWithResults(t *testing.T) {
	url := newURL(t)
	var engines []*task.Engine
	for range 3 {
		engines = append(engines, engineAt(t, openAt(t, url, Options{}), task.Config{Runner: quick}))
	}
	won := map[task.Status]int{}
	for range *races {
		c, err := engines[0].Create(t.Context(), task.Spec{Owner: "ada", Tool: "tool"})
		if err != nil {
			t.Fatal(err)
		}
		var all sync.WaitGroup
		winners := make(chan int, len(engines))
		for n, e := range engines {
			all.Go(func() {
				if got, err := e.Cancel(t.Context(), "ada", c.Task.ID, task.Cancel{Force: true, Reason: fmt.Sprint(n)}); err == nil && got.CancelReason == fmt.Sprint(n) {
					winners <- n
				}
			})
		}
		c.Start()
		all.Wait()
		got, err := engines[1].Wait(within(t), "ada", c.Task.ID)
		if err != nil {
			t.Fatal(err)
		}
		if won[got.Status]++; len(winners) > 1 || len(winners) == 1 != (got.Status == task.Cancelled) {
			t.Errorf("%d cancels won, and the task is %s", len(winners), got.Status)
		}
	}
	t.Logf("%v", won)
}

func TestTSK15ManyTasksExpireAtOnce(t *testing.T) {
	chaos.ExpireAtOnce(t, openAt(t, newURL(t), Options{}), *expire, *longest)
}

// replica starts a process that holds tasks in their handlers.
func replica(t *testing.T, h *chaos.History, r chaos.Replica) *chaos.Process {
	t.Helper()
	p, err := chaos.Start(r, h)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Kill() })
	return p
}

// A replica that is told to end hands over what it runs, and another begins it at once: nobody waits for a lease.
func TestDUR04OrderlyEndHandsOverAtOnce(t *testing.T) {
	url, h := newURL(t), chaos.NewHistory()
	p := replica(t, h, chaos.Replica{Target: url, Node: "first", Lease: longLease, Creators: 4, Hold: true})
	if err := h.Await(within(t), func() bool { return h.Count("began") >= 20 }); err != nil {
		t.Fatal(err)
	}
	e := engineAt(t, openAt(t, url, Options{}), task.Config{Runner: quick, Lease: longLease})
	from := time.Now()
	if err := p.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	for _, id := range h.IDs("began") {
		if got, err := e.Wait(within(t), "ada", id); err != nil || string(got.Result) != "run 2" {
			t.Fatalf("handed over: %+v, %v", got, err)
		}
	}
	chaos.Figure(t, fmt.Sprint(h.Count("began"), " tasks were over after SIGTERM"), time.Since(from), time.Second)
	if killed, err := p.Wait(); killed || err != nil || h.Count("closed") != 1 {
		t.Errorf("the replica ended with %v, killed: %v, %s", err, killed, h)
	}
}

// The tasks of a replica that was killed begin elsewhere when its lease is over.
func TestDUR04TasksOfAKilledReplica(t *testing.T) {
	url, h, lease := newURL(t), chaos.NewHistory(), *rescue
	p := replica(t, h, chaos.Replica{Target: url, Node: "first", Lease: lease, Creators: 8, Hold: true})
	if err := h.Await(within(t), func() bool { return h.Count("began") >= 50 }); err != nil {
		t.Fatal(err)
	}
	e := engineAt(t, openAt(t, url, Options{}), task.Config{Runner: quick, Lease: lease})
	from := time.Now()
	if err := p.Kill(); err != nil {
		t.Fatal(err)
	}
	for _, id := range h.IDs("created") {
		if got, err := e.Wait(within(t), "ada", id); err != nil || !strings.HasPrefix(string(got.Result), "run ") {
			t.Fatalf("after the kill: %+v, %v", got, err)
		}
	}
	chaos.Figure(t, fmt.Sprintf("%d tasks were over after the kill, with a lease of %v", h.Count("created"), lease), time.Since(from), lease+lease/3+time.Second)
}

// A replica that was stopped for three leases changes nothing when it goes on, and its runs end.
func TestDUR02StoppedReplicaIsTooLate(t *testing.T) {
	const lease = time.Second
	url, h := newURL(t), chaos.NewHistory()
	p := replica(t, h, chaos.Replica{Target: url, Node: "first", Lease: lease, Creators: 2, Hold: true})
	if err := h.Await(within(t), func() bool { return h.Count("began") >= 5 }); err != nil {
		t.Fatal(err)
	}
	if err := p.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	stopped := time.After(3 * lease)
	e := engineAt(t, openAt(t, url, Options{}), task.Config{Runner: quick, Lease: lease})
	ids, results := h.IDs("began"), map[string]string{}
	for _, id := range ids {
		got, err := e.Wait(within(t), "ada", id)
		if err != nil {
			t.Fatal(err)
		}
		results[id] = string(got.Result)
	}
	<-stopped
	if err := p.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	from := time.Now()
	if err := h.Await(within(t), func() bool { return h.Count("stopped") >= len(ids) }); err != nil {
		t.Fatal(err)
	}
	chaos.Figure(t, fmt.Sprint(len(ids), " contexts were over after SIGCONT"), time.Since(from), time.Second)
	for _, id := range ids {
		if said := h.Said("finished", id); len(said) > 0 {
			t.Errorf("%s was finished by the late replica: %v", id, said)
		}
		if cause := h.Said("stopped", id); len(cause) != 1 || !strings.Contains(cause[0], task.ErrLease.Error()) {
			t.Errorf("the late run ended with %q", cause)
		}
		if got, err := e.Get(t.Context(), "ada", id); err != nil || string(got.Result) != results[id] {
			t.Errorf("the result was %s, and is %s, %v", results[id], got.Result, err)
		}
	}
}

// A lease that was lost is not polled for ever by a process that runs nothing any more.
func TestDUR02ALostLeaseIsFollowedNoLonger(t *testing.T) {
	url := newURL(t)
	late, heir := openAt(t, url, Options{Bouncer: true}), openAt(t, url, Options{Bouncer: true})
	for id, lose := range map[string]func() error{
		"taken": func() error { _, err := heir.Begin(t.Context(), "taken", "heir", time.Hour); return err },
		"over": func() error {
			_, err := heir.Cancel(t.Context(), "ada", "over", task.Cancel{Force: true})
			return err
		},
		"gone": func() error {
			do(t, url, "DELETE FROM mcpkiln_tasks WHERE id = 'gone'")
			return nil
		},
	} {
		if _, err := late.Create(t.Context(), aTask(id), task.Quota{}); err != nil {
			t.Fatal(err)
		}
		if _, err := late.Begin(t.Context(), id, "late", time.Microsecond); err != nil {
			t.Fatal(err)
		}
		late.poll()
		if _, follows := late.follow.all()[id]; !follows {
			t.Errorf("%s: a lease that nobody else has is not followed", id)
		}
		if err := lose(); err != nil {
			t.Fatal(err)
		}
		late.poll()
		if _, follows := late.follow.all()[id]; follows {
			t.Errorf("%s: still followed", id)
		}
	}
}

// A heartbeat whose answer breaks off names no lease lost: its runs would be stopped.
func TestDUR06AHeartbeatThatFailsLosesNothing(t *testing.T) {
	url := newURL(t)
	s := openAt(t, url, Options{})
	var leases []task.Lease
	for _, id := range []string{"one", "two"} {
		if _, err := s.Create(t.Context(), aTask(id), task.Quota{}); err != nil {
			t.Fatal(err)
		}
		b, err := s.Begin(t.Context(), id, "node", time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		leases = append(leases, b.Lease)
	}
	do(t, url, "UPDATE mcpkiln_tasks SET epoch = -1 WHERE id = 'two'") // which no program can read
	if beat, err := s.Heartbeat(t.Context(), leases, time.Hour); err == nil || len(beat.Lost) > 0 {
		t.Errorf("%+v, %v", beat, err)
	}
}
