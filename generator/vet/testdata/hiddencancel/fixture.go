package fixture

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/server"
	"github.com/mcpkiln/mcpkiln/testdata/shop/shop"
)

type handlers struct {
	shop.Handlers
	over context.Context
}

var _ shop.Handlers = (*handlers)(nil)

func (h *handlers) Say(ctx context.Context, call *server.Call, in *shop.SayInput) (*shop.CallToolResult, error) {
	if ctx.Err() != nil {
		return nil, nil // want "a cancelled call is returned as a success"
	}
	if err := ctx.Err(); err != nil {
		return nil, errors.New("stopped") // want "a cancellation becomes an error of the tool"
	}
	select {
	case <-ctx.Done():
		return shop.TextResult("stopped"), nil // want "a cancelled call is returned as a success"
	default:
	}
	err := h.step(ctx)
	if errors.Is(err, context.Canceled) {
		return nil, fmt.Errorf("stopped") // want "a cancellation becomes an error of the tool"
	}
	return shop.TextResult("said"), nil
}

// step is called by a handler.
func (h *handlers) step(ctx context.Context) error {
	if ctx.Err() != nil {
		return nil // want "a cancelled call is returned as a success"
	}
	return nil
}

func (h *handlers) ImportOrders(ctx context.Context, call *shop.ImportOrdersCall, in *shop.ImportOrdersInput) (*shop.ImportOrdersOutput, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("importing: %w", err)
	}
	err := errors.Join(h.wrap(ctx), h.fetch(ctx))
	if errors.Is(err, context.DeadlineExceeded) {
		return nil, err
	}
	if err != nil {
		return nil, errors.New("not reached")
	}
	clean := func() error {
		if ctx.Err() != nil {
			return nil
		}
		return nil
	}
	return &shop.ImportOrdersOutput{}, clean()
}

// fetch has a deadline of its own, whose passing is a failure.
func (h *handlers) fetch(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	if err := h.wrap(ctx); errors.Is(err, context.DeadlineExceeded) {
		return errors.New("upstream is too slow")
	}
	select {
	case <-h.over.Done():
		return nil // want "a cancelled call is returned as a success"
	default:
	}
	return nil
}

func (h *handlers) wrap(ctx context.Context) error { return ctx.Err() }

// PostLedger can not be cancelled: its context says that the server ends.
func (h *handlers) PostLedger(ctx context.Context, call *server.Call, in *shop.PostLedgerInput) (*shop.CallToolResult, error) {
	if ctx.Err() != nil {
		return shop.TextResult("posted"), nil
	}
	return nil, errors.New("not posted")
}

// unrelated is called by no handler.
func unrelated(ctx context.Context) error {
	if ctx.Err() != nil {
		return nil
	}
	return nil
}

var _ = unrelated
