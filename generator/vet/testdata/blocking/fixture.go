package fixture

import (
	"context"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/server"
	"github.com/mcpkiln/mcpkiln/testdata/shop/shop"
)

type handlers struct {
	shop.Handlers
	jobs chan string
}

var _ shop.Handlers = (*handlers)(nil)

func (h *handlers) Say(ctx context.Context, call *server.Call, in *shop.SayInput) (*shop.CallToolResult, error) {
	time.Sleep(time.Second)   // want "time.Sleep goes on when the call is cancelled"
	h.jobs <- "say"           // want "a send waits without looking at ctx"
	word := <-h.jobs          // want "a receive waits without looking at ctx"
	for job := range h.jobs { // want "a loop over a channel waits"
		word += job
	}
	select { // want "a select waits without looking at ctx"
	case word = <-h.jobs:
	case <-time.After(time.Second):
	}
	return shop.TextResult(word), nil
}

func (h *handlers) ImportOrders(ctx context.Context, call *shop.ImportOrdersCall, in *shop.ImportOrdersInput) (*shop.ImportOrdersOutput, error) {
	select {
	case <-h.jobs:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	select {
	case h.jobs <- "import":
	default:
	}
	done := make(chan int, 1)
	go func() { done <- 1 }()
	<-done // want "a receive waits without looking at ctx"
	var full = make(chan int, 0)
	full <- 1 // want "a send waits without looking at ctx"
	for range in.Sources {
		done <- 1 // want "a send waits without looking at ctx"
	}
	<-ctx.Done()
	return &shop.ImportOrdersOutput{}, context.Cause(ctx)
}

func (h *handlers) PostLedger(ctx context.Context, call *server.Call, in *shop.PostLedgerInput) (*shop.CallToolResult, error) {
	time.Sleep(time.Second) // nobody can cancel it
	h.settle(ctx)
	return shop.TextResult("posted"), nil
}

// settle is called by a handler that can not be cancelled, and by no other.
func (h *handlers) settle(ctx context.Context) { time.Sleep(time.Second) }
