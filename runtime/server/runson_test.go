package server

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/inflight"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
)

// A call that can not be cancelled runs to its end though its client is gone, however long that takes: only a shutdown ends it, after a grace period
// of its own, and says so.
func TestCAN14AProtectedCallRunsToItsEndThoughItsClientIsGone(t *testing.T) {
	for name, stops := range map[string]bool{"it ends": false, "the server stops before": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ended := make(chan error, 1)
				f := newFixture(t, []Tool{tool("post", plain(func(ctx context.Context, _ *Call) (*echoOutput, error) {
					select {
					case <-time.After(time.Minute):
					case <-ctx.Done():
					}
					ended <- context.Cause(ctx)
					return &echoOutput{}, nil
				}), func(t *Tool) { t.Cancel.Uncancellable = true })}, WithGrace(3*time.Second))
				near, far := rpc.Pipe()
				served := make(chan error, 1)
				go func() { served <- f.srv.Serve(t.Context(), far) }()
				c := newClient(t, near)
				c.initialize(`{}`)
				c.call("1", "post", `{}`)
				synctest.Wait()
				near.Close()
				<-c.read
				if err := <-served; !errors.Is(err, ErrGrace) {
					t.Errorf("served: %v", err)
				}
				start, want := time.Now(), error(nil)
				if !stops {
					want = <-ended
				}
				limit, cancel := context.WithTimeout(t.Context(), 2*time.Second)
				defer cancel()
				_ = f.srv.Shutdown(limit)
				took := time.Since(start)
				if stops {
					want = <-ended
				}
				cause, _ := want.(*inflight.Cause)
				switch {
				case !stops && (want != nil || took < 50*time.Second):
					t.Errorf("it ended after %v: %v", took, want)
				case stops && (took != 2*time.Second || cause == nil || cause.Source != inflight.SourceShutdown):
					t.Errorf("it was ended after %v: %v", took, want)
				}
			})
		})
	}
}
