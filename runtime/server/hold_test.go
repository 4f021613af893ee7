package server

import (
	"context"
	"errors"
	"io"
	"sync"
	"testing"

	"github.com/mcpkiln/mcpkiln/runtime/inflight"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
)

// hold is a handler that blocks until it is freed or its context ends, and tells both.
type hold struct {
	began  chan struct{}
	ended  chan *inflight.Cause // of the calls whose context ended
	freed  chan struct{}
	once   sync.Once
	onward func(ctx context.Context, call *Call) // runs before it blocks
}

func newHold() *hold {
	return &hold{began: make(chan struct{}, 1<<15), ended: make(chan *inflight.Cause, 1<<15), freed: make(chan struct{})}
}

func (h *hold) free() { h.once.Do(func() { close(h.freed) }) }

func (h *hold) run(ctx context.Context, call *Call) error {
	h.began <- struct{}{}
	if h.onward != nil {
		h.onward(ctx, call)
	}
	select {
	case <-h.freed:
		return nil
	case <-ctx.Done():
		var cause *inflight.Cause
		errors.As(context.Cause(ctx), &cause)
		h.ended <- cause
		return context.Cause(ctx)
	}
}

func (h *hold) handler() Handler {
	return plain(func(ctx context.Context, call *Call) (*echoOutput, error) { return &echoOutput{}, h.run(ctx, call) })
}

// newLineFixture is a server behind newline framing with a limit of its own.
func newLineFixture(t *testing.T, maxFrame int) *client {
	f := newFixture(t, []Tool{tool("echo", structured(echo))})
	up, fromClient := io.Pipe()
	fromServer, down := io.Pipe()
	return f.connect(t.Context(), rpc.Lines(fromServer, fromClient, closers{fromServer, fromClient}, rpc.LineOptions{}),
		rpc.Lines(up, down, closers{up, down}, rpc.LineOptions{MaxFrame: maxFrame}))
}

type closers []io.Closer

func (c closers) Close() error {
	for _, one := range c {
		_ = one.Close()
	}
	return nil
}
