package noinput

import (
	"context"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/server"
)

// Handlers is what is generated for a server that has a resource and a prompt without arguments, and no tool.
type Handlers interface {
	ReadReadme(ctx context.Context, call *server.Call) (*server.ResourceContents, error)
	GetHello(ctx context.Context, call *server.Call) (*server.PromptResult, error)
}

type handlers struct{}

var _ Handlers = (*handlers)(nil)

func (h *handlers) ReadReadme(ctx context.Context, call *server.Call) (*server.ResourceContents, error) {
	time.Sleep(time.Second) // want "time.Sleep goes on when the call is cancelled"
	return nil, context.Cause(ctx)
}

func (h *handlers) GetHello(ctx context.Context, call *server.Call) (*server.PromptResult, error) {
	h.wait(ctx)
	return nil, context.Cause(ctx)
}

func (h *handlers) wait(ctx context.Context) {
	time.Sleep(time.Second) // want "time.Sleep goes on when the call is cancelled"
}

func (h *handlers) GetBye(ctx context.Context, call *server.Call) (*server.PromptResult, error) { // want "GetBye is the handler of nothing in the manifest"
	return nil, context.Cause(ctx)
}
