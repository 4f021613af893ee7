package task

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func TestEventsDropWhatIsOlder(t *testing.T) {
	var ev events
	var got []uint64
	tell := func(t Task) { got = append(got, t.Version) }
	for _, version := range []uint64{2, 1, 2, 3} {
		ev.publish(&Task{Version: version}, tell)
	}
	if fmt.Sprint(got) != "[2 3]" {
		t.Errorf("told %v", got)
	}
}

func TestMemoryForgetsOwnersWithoutTasks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := NewMemory()
		for n := range 1000 {
			task := Task{ID: fmt.Sprint(n), Owner: fmt.Sprint("owner ", n/2), TTL: time.Minute}
			if _, err := m.Create(t.Context(), task, Quota{}); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(time.Minute)
		if x, err := m.Expire(t.Context(), 1000); err != nil || len(x.Removed) != 1000 {
			t.Fatalf("%d removed, %v", len(x.Removed), err)
		}
		for i := range m.owners {
			if n := len(m.owners[i].owners) + len(m.ids[i].records) + m.ids[i].expiry.Len(); n > 0 {
				t.Errorf("%d things are left in shard %d", n, i)
			}
		}
	})
}

// Many do all that makes tasks come, grow, end and go; then everything that was counted is given back.
func TestTSK28CountsComeBackToZero(t *testing.T) {
	release := make(chan struct{})
	e := New(Config{
		Machine: ^Machine(0),
		Limits:  Limits{Running: 40, Kept: 60, Bytes: 200_000, AllBytes: 500_000, PollsPerSecond: -1},
		Runner: func(ctx context.Context, r *Run) Outcome {
			_, _ = r.Do(ctx, "step", func(context.Context) ([]byte, error) { return make([]byte, rand.IntN(20_000)), nil })
			if rand.IntN(2) == 0 {
				_, _ = r.Ask(ctx, Question{Name: "q", Payload: make([]byte, rand.IntN(5000))})
			}
			if rand.IntN(4) == 0 {
				<-release // whatever becomes of ctx
			}
			return Outcome{Status: Completed, Result: make([]byte, rand.IntN(50_000))}
		},
	})
	m := e.store.(*Memory)
	work := func(worker int) {
		owner, ttl := fmt.Sprint(worker%4), 20*time.Millisecond
		for range 200 {
			c, err := e.Create(t.Context(), Spec{Owner: owner, QuotaKey: fmt.Sprint(worker % 3)[:rand.IntN(2)], TTL: &ttl, Args: make([]byte, rand.IntN(10_000))})
			if err != nil {
				runtime.Gosched()
				continue
			}
			c.Start()
			switch id := c.Task.ID; rand.IntN(5) {
			case 0:
				_, _ = e.Cancel(t.Context(), owner, id, Cancel{Force: rand.IntN(2) == 0})
			case 1:
				_, _ = e.Answer(t.Context(), owner, id, Answer{Name: "q", Data: make([]byte, rand.IntN(30_000))})
			case 2:
				e.Discard(t.Context(), owner)
			}
			if got := m.size.bytes.Load(); got > 500_000+100*SmallGrowth {
				t.Errorf("%d bytes are kept", got)
			}
		}
	}
	var workers sync.WaitGroup
	for w := range 8 {
		workers.Go(func() { work(w) })
	}
	workers.Wait()
	close(release)
	for w := range 4 {
		e.Discard(t.Context(), fmt.Sprint(w))
	}
	if err := e.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	left := m.size.bytes.Load() + int64(len(m.keyed.byKey)+e.slots.all+len(e.slots.owners)+len(e.slots.keys)+len(e.runs))
	for i := range m.owners {
		left += int64(len(m.owners[i].owners) + len(m.ids[i].records) + m.ids[i].expiry.Len())
	}
	if left != 0 {
		t.Errorf("left: %d bytes, %d keys, %v slots, %d runs", m.size.bytes.Load(), len(m.keyed.byKey), e.slots, len(e.runs))
	}
}

// A task that is discarded, or expires, while its run begins gives its slot back; the run that begins nevertheless has one of the same requestor.
func TestTSK28ARunThatBeginsLateCountsForItsQuotaKey(t *testing.T) {
	e := New(Config{Machine: ^Machine(0), Runner: func(context.Context, *Run) Outcome { return Outcome{Status: Completed} }})
	c, err := e.Create(t.Context(), Spec{Owner: "ada", QuotaKey: "east", Tool: "tool"})
	if err != nil {
		t.Fatal(err)
	}
	b, err := e.store.Begin(t.Context(), c.Task.ID, "node", time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	r := e.run(c.Task.ID)
	e.Discard(t.Context(), "ada") // before the engine knows that the store let it begin
	counted := func() string {
		e.mu.Lock()
		defer e.mu.Unlock()
		return fmt.Sprint(e.slots)
	}
	if got := counted(); got != "{map[] map[] 0}" {
		t.Errorf("discarded: %s", got)
	}
	e.fillIn(r, &b, time.Now())
	if got := counted(); got != "{map[] map[east:1] 1}" {
		t.Errorf("begun: %s", got)
	}
	e.forget(r)
	if got := counted(); got != "{map[] map[] 0}" {
		t.Errorf("over: %s", got)
	}
	if err := e.Close(context.Background()); err != nil {
		t.Error(err)
	}
}

// A cancel that is recorded after the store let the run begin, and before the engine knows that, is not forgotten.
func TestCAN14ACancelWhileTheRunBeginsIsKnownToIt(t *testing.T) {
	e := New(Config{Machine: ^Machine(0), Runner: func(context.Context, *Run) Outcome { return Outcome{Status: Completed} }})
	c, err := e.Create(t.Context(), Spec{Owner: "ada", Tool: "tool", Uncancellable: true})
	if err != nil {
		t.Fatal(err)
	}
	b, err := e.store.Begin(t.Context(), c.Task.ID, "node", time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	r := e.run(c.Task.ID)
	if _, err := e.Cancel(t.Context(), "ada", c.Task.ID, Cancel{Reason: "changed my mind"}); err != nil {
		t.Fatal(err)
	}
	e.fillIn(r, &b, time.Now())
	if reason, asked := r.CancelRequested(); !asked || reason != "changed my mind" {
		t.Errorf("asked %t: %q", asked, reason)
	}
	e.forget(r)
	if err := e.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

// A look is no poll, and leaves nothing with a task that stays until it expires.
func TestTSK22ALookIsNoPollAndLeavesNothing(t *testing.T) {
	m := NewMemory()
	e := New(Config{Machine: ^Machine(0), Store: m, Limits: Limits{PollsPerSecond: 1}, Runner: func(context.Context, *Run) Outcome { return Outcome{Status: Completed} }})
	c, err := e.Create(t.Context(), Spec{Owner: "ada", Tool: "tool"})
	if err != nil {
		t.Fatal(err)
	}
	for range 10 {
		if got, err := e.Look(t.Context(), "ada", c.Task.ID); err != nil || got.ID != c.Task.ID {
			t.Fatalf("%+v, %v", got, err)
		}
	}
	if _, err := e.Get(t.Context(), "ada", c.Task.ID); err != nil {
		t.Errorf("the first poll: %v", err)
	}
	if _, err := e.Look(t.Context(), "bob", c.Task.ID); !errors.Is(err, ErrNotFound) {
		t.Errorf("for somebody else: %v", err)
	}
	if r, err := m.find(c.Task.ID); err != nil || r.changed != nil {
		t.Errorf("%v: a channel that nobody waits for: %v", err, r.changed)
	}
	if err := e.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

// A question that may wait for ever is not over at once, however long the process has run.
func TestCAN28TimesForEverAreNeverEarly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := New(Config{Store: NewMemory(), Machine: 1, Runner: func(context.Context, *Run) Outcome { return Outcome{} }})
		defer e.Close(context.Background())
		time.Sleep(10 * time.Second)
		r := &Run{engine: e, clocks: clocks{store: time.Now(), local: time.Since(e.began)}}
		if at := r.localTime(time.Now().Add(math.MaxInt64)); at.Before(time.Now()) {
			t.Errorf("it ended at %v, which is before %v", at, time.Now())
		}
	})
}

// hangs is a durable store that does not answer.
type hangs struct{ Store }

func (hangs) Durable() bool { return true }

func (hangs) Answer(ctx context.Context, owner, id string, answers []Answer) (Task, error) {
	<-ctx.Done()
	return Task{}, ctx.Err()
}

// An answer that the store does not take in time is a failure of the store in the log, once, and no refusal of whoever answered.
func TestDUR06AnAnswerThatIsNotKeptIsNoRefusal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		e := New(Config{Store: hangs{NewMemory()}, Machine: 1, Lease: 30 * time.Second, Logger: slog.New(slog.NewTextHandler(&log, nil)),
			Runner: func(context.Context, *Run) Outcome { return Outcome{} }})
		defer e.Close(context.Background())
		if _, err := e.Keep(context.Background(), "me", "id", Answer{Name: "q"}); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v", err)
		}
		if got := log.String(); strings.Count(got, "level=") != 1 || !strings.Contains(got, `level=ERROR msg="task answer failed"`) {
			t.Errorf("logged\n%s", got)
		}
	})
}
