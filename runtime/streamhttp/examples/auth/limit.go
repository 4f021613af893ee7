package main

import (
	"context"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/mcpkiln/mcpkiln/runtime/inflight"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/server"
)

// perCaller allows each caller n tool calls in a period; more are refused, with the time to wait. The server has limits of its own for all
// (server.WithRates); this is how to have one by customer, plan or tool. What it remembers of callers should be dropped now and then where
// there are many.
func perCaller(n int, period time.Duration) func(server.Handle) server.Handle {
	var mu sync.Mutex
	limits := map[string]*rate.Limiter{}
	of := func(principal string) *rate.Limiter {
		mu.Lock()
		defer mu.Unlock()
		if limits[principal] == nil {
			limits[principal] = rate.NewLimiter(rate.Every(period/time.Duration(n)), n)
		}
		return limits[principal]
	}
	return func(next server.Handle) server.Handle {
		return func(ctx context.Context, m *server.Message) (*server.MessageResult, error) {
			if m.Direction != inflight.Incoming || m.Tool == "" {
				return next(ctx, m)
			}
			turn := of(m.Principal).Reserve()
			if wait := turn.Delay(); wait > 0 {
				turn.Cancel()
				// Over HTTP this is status 429 with Retry-After, in revisions where each request stands alone.
				return nil, &rpc.Error{Code: rpc.CodeInvalidRequest, Message: "too many calls: try again in " + wait.Round(time.Second).String(), Wait: wait}
			}
			return next(ctx, m)
		}
	}
}
