package noticed

import (
	"context"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/server"
)

// Handlers is what is generated for a server that takes a notification alone.
type Handlers interface {
	ReportsSeen(ctx context.Context, from *server.Notice, params *SeenParams) error
}

type SeenParams struct{}

type handlers struct{}

var _ Handlers = (*handlers)(nil)

func (h *handlers) ReportsSeen(ctx context.Context, from *server.Notice, params *SeenParams) error {
	time.Sleep(time.Second) // want "time.Sleep goes on when the call is cancelled"
	return context.Cause(ctx)
}
