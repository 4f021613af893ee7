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

func (h *handlers) SayTwice(ctx context.Context, call *server.Call, in *shop.SayInput) (*shop.CallToolResult, error) { // want "SayTwice is the handler of nothing in the manifest"
	return h.Say(ctx, call, in)
}

func (h *handlers) say(ctx context.Context, call *server.Call, in *shop.SayInput) (*shop.CallToolResult, error) {
	return h.Say(ctx, call, in)
}

func (h *handlers) Retry(ctx context.Context, call *server.Call, times int) (*shop.CallToolResult, error) {
	return h.say(ctx, call, &shop.SayInput{})
}

// ReadGone has no input, as handlers of resources and of prompts without arguments.
func (h *handlers) ReadGone(ctx context.Context, call *server.Call) (*server.ResourceContents, error) { // want "ReadGone is the handler of nothing in the manifest"
	return nil, context.Cause(ctx)
}

func (h *handlers) PromptGone(ctx context.Context, call *server.Call) (*server.PromptResult, error) { // want "PromptGone is the handler of nothing in the manifest"
	return nil, context.Cause(ctx)
}

func (h *handlers) ImportGone(ctx context.Context, call *shop.ImportOrdersCall) (*server.ResourceContents, error) { // want "ImportGone is the handler of nothing in the manifest"
	return nil, context.Cause(ctx)
}

func (h *handlers) CompleteGone(ctx context.Context, call *server.Call, in *server.CompletionRequest) (*server.Completion, error) { // want "CompleteGone is the handler of nothing in the manifest"
	return nil, context.Cause(ctx)
}

func (h *handlers) GoneSeen(ctx context.Context, from *server.Notice, params *shop.SayInput) error { // want "GoneSeen is the handler of nothing in the manifest"
	return context.Cause(ctx)
}

// Ready and Count are shared by handlers.
func (h *handlers) Ready(ctx context.Context, call *server.Call) error { return context.Cause(ctx) }

func (h *handlers) Count(ctx context.Context, call *server.Call) (*int, error) {
	return nil, h.Ready(ctx, call)
}
