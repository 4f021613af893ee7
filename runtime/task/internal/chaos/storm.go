package chaos

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/task"
)

// Storm kills replicas at any moment, one a second, and stops their database now and then.
type Storm struct {
	Target   string
	Replicas int
	Lease    time.Duration
	For      time.Duration
	// Stop stops the database as a crash does, and starts it again.
	Stop func() error
}

// stopEvery is the time between two stops of the database; half of a shorter storm.
const stopEvery = 20 * time.Second

// floor is the least number of accepted tasks a second with which a storm proves anything. On a busy machine it lasts until there were least for each
// of its seconds, a kill and a stop.
const floor, least = 100, 5

// Test runs the storm, has the tasks that are left finished by the store that open returns, and reports what the model finds wrong.
func (s Storm) Test(t TB, open func() task.Store) {
	t.Helper()
	h, start := NewHistory(), time.Now()
	limited, cancel := context.WithTimeout(t.Context(), s.For+5*time.Minute)
	defer cancel()
	killed, stopped, err := s.run(limited, h)
	if err != nil {
		t.Fatalf("%v: %s", err, h)
	}
	lasted, accepted := time.Since(start), h.Count("created")
	left := accepted - h.Count("finished")
	store := open()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	if err := h.Settle(ctx, store, s.Lease); err != nil {
		t.Fatalf("%v: %s", err, h)
	}
	Figure(t, "all were settled after the end", time.Since(start)-lasted, 2*s.Lease)
	for _, wrong := range h.Check(ctx, store) {
		t.Errorf("%s", wrong)
	}
	rate := float64(accepted) / lasted.Seconds()
	if *figures && rate < floor {
		t.Errorf("%d kills, %d stops, %.0f tasks a second accepted", killed, stopped, rate)
	}
	t.Logf("%d kills at any moment and %d stops in %v; %.0f tasks a second accepted, %d of them unfinished at the end: %s", killed, stopped, lasted, rate, left, h)
}

// run kills and stops until the time is over; then no replica is left.
func (s Storm) run(ctx context.Context, h *History) (killed, stopped int, err error) {
	replicas := make([]*Process, s.Replicas)
	begin := func(n int) (err error) {
		replicas[n], err = Start(Replica{Target: s.Target, Node: fmt.Sprint("node-", n, "-", killed), Lease: s.Lease, Creators: 8}, h)
		return err
	}
	defer func() {
		for _, p := range replicas {
			if p != nil {
				_ = p.Kill()
			}
		}
	}()
	for n := range replicas {
		if err := begin(n); err != nil {
			return 0, 0, err
		}
	}
	start, enough := time.Now(), least*int(s.For.Seconds())
	kill, stop := time.NewTicker(time.Second), time.NewTicker(min(stopEvery, s.For/2))
	defer kill.Stop()
	defer stop.Stop()
	for time.Since(start) < s.For || killed == 0 || stopped == 0 || h.Count("created") < enough {
		select {
		case <-ctx.Done():
			return killed, stopped, ctx.Err()
		case <-stop.C:
			stopped++
			err = s.Stop()
		case <-kill.C:
			n := rand.IntN(len(replicas))
			if err = replicas[n].Kill(); err == nil {
				killed++
				err = begin(n)
			}
		}
		if err != nil {
			return killed, stopped, err
		}
	}
	return killed, stopped, nil
}
