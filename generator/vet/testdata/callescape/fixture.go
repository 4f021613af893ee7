package fixture

import (
	"context"
	"sync"

	"github.com/mcpkiln/mcpkiln/runtime/server"
	"github.com/mcpkiln/mcpkiln/testdata/shop/shop"
)

type handlers struct {
	shop.Handlers
	last  *server.Call
	calls map[string]*server.Call
	queue chan *server.Call
}

var current *server.Call

var _ shop.Handlers = (*handlers)(nil)

func (h *handlers) Say(ctx context.Context, call *server.Call, in *shop.SayInput) (*shop.CallToolResult, error) {
	h.last = call         // want "the call is kept in h.last"
	h.calls["say"] = call // want "the call is kept in"
	current = call        // want "the call is kept in current"
	select {
	case h.queue <- call: // want "the call is sent on a channel"
	default:
	}
	go func() {
		call.SetStatus(ctx, "later") // want "a goroutine uses the call, and the handler does not wait for it"
	}()
	return shop.TextResult("said"), nil
}

func (h *handlers) ImportOrders(ctx context.Context, call *shop.ImportOrdersCall, in *shop.ImportOrdersInput) (*shop.ImportOrdersOutput, error) {
	mine := call
	var working sync.WaitGroup
	for range in.Sources {
		working.Add(1)
		go func() {
			defer working.Done()
			mine.SetStatus(ctx, "working")
		}()
	}
	working.Wait()
	return &shop.ImportOrdersOutput{}, nil
}
