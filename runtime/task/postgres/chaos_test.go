package postgres

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"testing"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/task"
	"github.com/mcpkiln/mcpkiln/runtime/task/internal/chaos"
	"github.com/mcpkiln/mcpkiln/runtime/task/internal/pgtest"
	"github.com/mcpkiln/mcpkiln/runtime/task/tasktest"
)

var (
	kills   = flag.Int("kills", 2, "how often a replica is killed at each point")
	stops   = flag.Int("stops", 2, "how often the server is stopped under load")
	cancels = flag.Int("cancels", 20, "how many tasks are cancelled from another replica")
	races   = flag.Int("races", 50, "how many tasks three replicas cancel while they end")
	cuts    = flag.Int("cuts", 3, "how often connections are broken under load")
	expire  = flag.Int("expire", 300, "how many tasks expire in one moment")
	longest = flag.Duration("expire-after", 2*time.Second, "how long these may take to be made")
	lease   = flag.Duration("lease", 3*time.Second, "the lease of replicas that are killed")
	storm   = flag.Duration("storm", 4*time.Second, "for how long replicas are killed at any moment while the server stops as well")
	rescue  = flag.Duration("rescue-lease", 2*time.Second, "the lease of the replica that is killed with 50 tasks")
	skews   = flag.Int("skews", 50, "how many tasks replicas finish while the clock of one is wrong, for each of four clocks")
)

// openTarget opens the store of a replica.
func openTarget(url string) (tasktest.Replica, func() error, error) {
	s, err := Open(context.Background(), url, Options{})
	if err != nil {
		return tasktest.Replica{}, nil, err
	}
	return tasktest.Replica{Store: s}, s.Close, nil
}

func TestDUR05KillsAtEveryPoint(t *testing.T) {
	plan := chaos.Plan{Target: newURL(t), Replicas: 3, Times: *kills, Lease: *lease, Seed: uint64(time.Now().UnixNano())}
	plan.Test(t, func() task.Store { return openAt(t, plan.Target, Options{}) })
}

// ownServer is one that a test may stop.
func ownServer(t *testing.T) *pgtest.Server {
	t.Helper()
	own, err := pgtest.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := own.Close(); err != nil {
			t.Error(err)
		}
	})
	return own
}

func TestDUR05KillsAtAnyMomentWhileTheServerStops(t *testing.T) {
	own := ownServer(t)
	restart := func() error { return errors.Join(own.Stop(), own.Run()) }
	chaos.Storm{Target: own.URL(""), Replicas: 3, Lease: *lease, For: *storm, Stop: restart}.Test(t, func() task.Store { return openAt(t, own.URL(""), Options{}) })
}

// A replica whose clock is wrong by an hour or a day begins nothing that another runs, and removes nothing early. The lease is longer than a busy machine
// holds up a process: what is begun again after one that ran out would be no defect.
func TestDUR04AClockThatIsWrongRescuesNothingEarly(t *testing.T) {
	const lease = 15 * time.Second
	for _, ahead := range []time.Duration{time.Hour, -time.Hour, 24 * time.Hour, -24 * time.Hour} {
		t.Run(fmt.Sprint(ahead), func(t *testing.T) {
			t.Parallel()
			url, h := newURL(t), chaos.NewHistory()
			var replicas []*chaos.Process
			for n := range 3 {
				r := chaos.Replica{Target: url, Node: fmt.Sprint("node-", n), Lease: lease, Creators: 4, TTL: 30 * time.Minute}
				if n == 0 {
					r.Ahead = ahead
				}
				replicas = append(replicas, replica(t, h, r))
			}
			if err := h.Await(within(t), func() bool { return h.Count("finished") >= *skews && len(h.Said("runs", "node-0")) >= *skews/10 }); err != nil {
				t.Fatalf("%v: %s", err, h)
			}
			for _, id := range h.IDs("began") {
				if runs := h.Said("began", id); len(runs) > 1 {
					t.Errorf("%s was begun %d times", id, len(runs))
				}
			}
			for _, p := range replicas {
				if err := p.Kill(); err != nil {
					t.Fatal(err)
				}
			}
			store := openAt(t, url, Options{})
			if err := h.Settle(within(t), store, lease); err != nil {
				t.Fatal(err)
			}
			for _, wrong := range h.Check(t.Context(), store) {
				t.Error(wrong)
			}
			t.Log(h)
		})
	}
}

// The server is stopped again and again, as by a crash, and each time a replica is killed as well.
func TestDUR06ServerStopsUnderLoad(t *testing.T) {
	own := ownServer(t)
	h, ctx := chaos.NewHistory(), t.Context()
	replica := func(n int) *chaos.Process {
		return replica(t, h, chaos.Replica{Target: own.URL(""), Node: fmt.Sprint("node-", n), Lease: *lease, Creators: 4})
	}
	replicas := []*chaos.Process{replica(0), replica(1), replica(2)}
	for n := range *stops {
		more := h.Count("finished") + 50 // the floor: the load goes on after each stop
		if err := h.Await(within(t), func() bool { return h.Count("finished") >= more }); err != nil {
			t.Fatalf("%v: %s", err, h)
		}
		if err := own.Stop(); err != nil {
			t.Fatal(err)
		}
		if err := replicas[n%3].Kill(); err != nil {
			t.Fatal(err)
		}
		if err := own.Run(); err != nil {
			t.Fatal(err)
		}
		replicas[n%3] = replica(n + 3)
	}
	for _, p := range replicas {
		if err := p.Kill(); err != nil {
			t.Fatal(err)
		}
	}
	store := openAt(t, own.URL(""), Options{})
	if err := h.Settle(within(t), store, *lease); err != nil {
		t.Fatal(err)
	}
	for _, wrong := range h.Check(ctx, store) {
		t.Error(wrong)
	}
	t.Logf("%d stops: %s", *stops, h)
}
