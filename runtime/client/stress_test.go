package client_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/client"
	"github.com/mcpkiln/mcpkiln/runtime/server"
)

// cancels is how many calls are given up on each transport; the full count is 100,000.
var cancels = flag.Int("cancels", 2000, "calls that TestCAN15CancelsAtRandomMoments gives up on each transport")

// running counts what has not ended.
type running struct{ atomic.Int64 }

func (n *running) begin() (end func()) {
	n.Add(1)
	return func() { n.Add(-1) }
}

// none waits until nothing runs any more.
func (n *running) none(t *testing.T, what string) {
	t.Helper()
	for range 10_000 {
		if n.Load() == 0 {
			return
		}
		<-time.After(time.Millisecond)
	}
	t.Errorf("%d %s still run", n.Load(), what)
}

// stress is a server with tools that end early, late, never, or ask, and a client that gives up.
type stress struct {
	bytes            int           // a call is given up when as many of them have gone through, at most,
	window           time.Duration // or within this time: a call that waits for nothing moves no bytes
	meter            meter
	tools, questions running
	answered, given  atomic.Int64
}

func (x *stress) server(t *testing.T) *server.Server {
	return newServer(t, []server.Tool{
		tool("soon", func(ctx context.Context, _ *server.Call, in *input) (*output, error) {
			defer x.tools.begin()()
			sleep(ctx, time.Duration(rand.IntN(300))*time.Microsecond)
			return &output{in.Text}, context.Cause(ctx)
		}),
		tool("never", func(ctx context.Context, _ *server.Call, _ *input) (*output, error) {
			defer x.tools.begin()()
			<-ctx.Done()
			return nil, context.Cause(ctx)
		}),
		tool("asks", func(ctx context.Context, call *server.Call, in *input) (*output, error) {
			defer x.tools.begin()()
			if _, err := server.Ask(ctx, call, &confirm, ""); err != nil {
				return nil, err
			}
			return &output{in.Text}, nil
		}),
	})
}

func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

func (x *stress) elicit(ctx context.Context, q *client.Question) (*client.Answer, error) {
	defer x.questions.begin()()
	sleep(ctx, time.Duration(rand.IntN(300))*time.Microsecond)
	return accept(ctx, q)
}

// call makes one call and gives it up at a random byte of the exchange, in one of two ways.
func (x *stress) call(t *testing.T, s *client.Session, n int) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	name := []string{"soon", "never", "asks"}[rand.IntN(3)]
	text := fmt.Sprint("call ", n)
	giveUp := sync.OnceFunc(func() {
		if all := s.Requests(); rand.IntN(2) == 0 && len(all) > 0 {
			_ = s.CancelRequest(all[0].ID, "stress") // whichever is the oldest
		}
		cancel()
	})
	x.meter.after(int64(rand.IntN(x.bytes)), func() {
		if ctx.Err() == nil {
			giveUp()
		}
	})
	late := time.AfterFunc(x.window, giveUp)
	defer late.Stop()
	r, err := s.CallTool(ctx, name, map[string]string{"text": text})
	var cause *client.Cause
	switch {
	case err == nil && (r.IsError || !strings.Contains(string(r.StructuredContent), fmt.Sprintf("%q", text))):
		t.Errorf("%s: %s", text, r.Raw)
	case err == nil:
		x.answered.Add(1)
	case errors.As(err, &cause):
		x.given.Add(1)
	default:
		t.Errorf("%s %s: %v", name, text, err)
	}
}

// Nothing is lost, nobody gets another's answer, and nothing runs afterwards, on either side.
func TestCAN15CancelsAtRandomMoments(t *testing.T) {
	for _, revision := range withTasks {
		for name, dial := range dialMetered {
			t.Run(revision+" "+name, func(t *testing.T) {
				x := stress{bytes: 16 << 10, window: 20 * time.Millisecond} // sixteen calls at once share the bytes
				s := dial(t, &x.meter, x.server(t), client.WithRevision(revision), client.WithTimeout(0, 0), elicits(x.elicit))
				var next atomic.Int64
				var workers sync.WaitGroup
				for range 16 {
					workers.Go(func() {
						for x.given.Load() < int64(*cancels)/2 && !t.Failed() {
							x.call(t, s, int(next.Add(1)))
						}
					})
				}
				workers.Wait()
				x.tools.none(t, "handlers of tools")
				x.questions.none(t, "handlers of questions")
				if n := len(s.Requests()); n != 0 {
					t.Errorf("%d requests are left", n)
				}
				if err := s.Close(); err != nil || client.InFlight(s) != 0 {
					t.Errorf("%v, %d requests are tracked after the end", err, client.InFlight(s))
				}
				t.Logf("%d given up, %d answered", x.given.Load(), x.answered.Load())
			})
		}
	}
}
