package server

import (
	"context"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/rpc"
)

// places bound how many runs of a tool there are at once. Who comes later waits, first come, first served.
type places struct{ taken chan struct{} }

func newPlaces(n int) *places {
	if n <= 0 {
		return nil
	}
	return &places{make(chan struct{}, n)}
}

// enter takes one of the places. A call that ends before one is free is told that the tool is busy.
func (p *places) enter(ctx context.Context, call *Call) (seat, error) {
	if p == nil {
		return seat{}, nil
	}
	select {
	case p.taken <- struct{}{}:
		return seat{p}, nil
	default:
		return seat{p}, p.wait(ctx, call)
	}
}

// seat is the place that a run has; the zero one of a tool with any number of them.
type seat struct{ of *places }

// leave lets another run begin. It may be called again.
func (p *seat) leave() {
	if p.of != nil {
		<-p.of.taken
		p.of = nil
	}
}

func (p *places) wait(ctx context.Context, call *Call) error {
	call.waits(true)
	select {
	case p.taken <- struct{}{}:
		call.waits(false)
		return nil
	case <-ctx.Done():
		return call.tool.busy()
	}
}

// waits notes that the call waits for a place, so that its timeout can say so. One that gave up is still noted, until its end is told.
func (c *Call) waits(on bool) {
	if c.entry != nil {
		c.entry.Wait(on)
		return
	}
	s, id := c.s, c.TaskID()
	s.mu.Lock()
	defer s.mu.Unlock()
	if on {
		s.queued[id] = true
	} else {
		delete(s.queued, id)
	}
}

// waited tells whether the task has had no place.
func (s *Server) waited(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.queued[id]
}

// forgetWaiting is for a task that is over, or gone.
func (s *Server) forgetWaiting(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.queued, id)
}

// busy is the answer to a call that found no place.
func (t *Tool) busy() *rpc.Error {
	err := tooOften(time.Second, "%s is busy: at most %d of its calls run at once", t.Name, t.MaxConcurrent)
	err.Busy = true
	return err
}
