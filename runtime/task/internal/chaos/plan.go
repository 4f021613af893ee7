package chaos

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"syscall"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/task"
)

// Plan is a series of kills: at every point, Times times, with so many replicas working at once.
type Plan struct {
	Target   string
	Replicas int
	Times    int
	Lease    time.Duration
	Seed     uint64
}

// maxNth is the latest call of a kind at which a replica is killed.
const maxNth = 30

// Run runs the plan, and returns how often replicas died at each point. At the end no replica is left.
func (p Plan) Run(ctx context.Context, h *History) (deaths map[string]int, err error) {
	left := p.points()
	deaths = map[string]int{}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var mu sync.Mutex
	next := func(died *Point) (at Point, ok bool) {
		mu.Lock()
		defer mu.Unlock()
		if died != nil {
			deaths[died.String()]++
		}
		if len(left) == 0 || ctx.Err() != nil {
			return at, false
		}
		at, left = left[0], left[1:]
		return at, true
	}
	var slots sync.WaitGroup
	for slot := range p.Replicas {
		slots.Go(func() {
			at, ok := next(nil)
			for n := 0; ok; n++ {
				killed, err := p.live(ctx, h, Replica{Target: p.Target, Node: fmt.Sprint("node-", slot, "-", n), Lease: p.Lease, Creators: 8, At: at})
				if err != nil {
					cancel(err)
					return
				}
				if killed { // else it had nothing to park, and tries again
					at, ok = next(&at)
				}
			}
		})
	}
	slots.Wait()
	return deaths, context.Cause(ctx)
}

// points returns all points of the plan, in an order that depends on the seed.
func (p Plan) points() (all []Point) {
	random := rand.New(rand.NewPCG(p.Seed, 0))
	for _, call := range Calls {
		for n := range 2 * p.Times {
			nth := int64(1)
			if call != "park" { // there are as many as run when the replica is told to end
				nth += random.Int64N(maxNth)
			}
			all = append(all, Point{call, n%2 == 1, nth})
		}
	}
	random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all
}

// live runs one replica until it dies. One that is to die when it parks is told to end when it has something to park.
func (p Plan) live(ctx context.Context, h *History, r Replica) (killed bool, err error) {
	process, err := Start(r, h)
	if err != nil {
		return false, err
	}
	stop := context.AfterFunc(ctx, func() { _ = process.Signal(syscall.SIGKILL) })
	defer stop()
	if r.At.Call == "park" {
		err := h.Await(ctx, func() bool { return len(h.Said("runs", r.Node)) >= 10 })
		if err := errors.Join(err, process.Signal(syscall.SIGTERM)); err != nil {
			return false, err
		}
	}
	killed, err = process.Wait()
	if ctx.Err() != nil {
		return false, context.Cause(ctx)
	}
	return killed, err
}

// TB is what Test needs of a test.
type TB interface {
	Context() context.Context
	Helper()
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
	Logf(format string, args ...any)
}

// Test runs the plan, has the tasks that are left finished by the store that open returns, and reports what the model finds wrong. It also reports a plan that
// did not do what it was meant to: too few deaths or too little load prove nothing.
func (p Plan) Test(t TB, open func() task.Store) {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), time.Hour)
	defer stop()
	h, start := NewHistory(), time.Now()
	deaths, err := p.Run(ctx, h)
	if err != nil {
		t.Fatalf("seed %d: %v", p.Seed, err)
	}
	took := time.Since(start)
	store := open()
	if err := h.Settle(ctx, store, p.Lease); err != nil {
		t.Fatalf("seed %d: %v", p.Seed, err)
	}
	for _, wrong := range append(h.Check(ctx, store), p.vacuous(h, deaths)...) {
		t.Errorf("seed %d: %s", p.Seed, wrong)
	}
	t.Logf("seed %d: %v in %v, settled after %v: %s", p.Seed, deaths, took, time.Since(start)-took, h)
}

// vacuous returns what the plan has not done.
func (p Plan) vacuous(h *History, deaths map[string]int) (wrong []string) {
	for _, call := range Calls {
		for _, after := range []bool{false, true} {
			if at := (Point{Call: call, After: after}).String(); deaths[at] != p.Times {
				wrong = append(wrong, fmt.Sprintf("%d deaths %s, want %d", deaths[at], at, p.Times))
			}
		}
	}
	for _, word := range []string{"created", "stepped", "asked", "answered", "finished"} {
		if n := h.Count(word); n < 2*p.Times*len(Calls) {
			wrong = append(wrong, fmt.Sprintf("only %d tasks were %s", n, word))
		}
	}
	return wrong
}
