package fixture

import (
	"context"

	"github.com/mcpkiln/mcpkiln/runtime/server"
	"github.com/mcpkiln/mcpkiln/testdata/shop/shop"
)

type handlers struct{ shop.Handlers }

var _ shop.Handlers = (*handlers)(nil)

func (h *handlers) Say(ctx context.Context, call *server.Call, in *shop.SayInput) (*shop.CallToolResult, error) {
	return shop.TextResult("said"), nil
}

func (h *handlers) SayTwice(ctx context.Context, call *server.Call, in *shop.SayInput) (*shop.CallToolResult, error) { // want "SayTwice is the handler of no tool"
	return h.Say(ctx, call, in)
}

func (h *handlers) say(ctx context.Context, call *server.Call, in *shop.SayInput) (*shop.CallToolResult, error) {
	return h.Say(ctx, call, in)
}

func (h *handlers) Retry(ctx context.Context, call *server.Call, times int) (*shop.CallToolResult, error) {
	return h.say(ctx, call, &shop.SayInput{})
}
