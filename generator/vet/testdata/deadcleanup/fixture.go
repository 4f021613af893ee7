package fixture

import (
	"context"
	"database/sql"
	"log/slog"

	"github.com/mcpkiln/mcpkiln/runtime/server"
	"github.com/mcpkiln/mcpkiln/testdata/shop/shop"
)

type handlers struct {
	shop.Handlers
	db *sql.DB
}

var _ shop.Handlers = (*handlers)(nil)

func (h *handlers) Say(ctx context.Context, call *server.Call, in *shop.SayInput) (*shop.CallToolResult, error) {
	defer h.unlock(ctx) // want "ctx has ended when this runs after a cancellation"
	defer func() {
		h.db.ExecContext(ctx, "delete from claims") // want "ctx has ended when this runs after a cancellation"
		slog.InfoContext(ctx, "over")
	}()
	defer h.unlock(context.WithoutCancel(ctx))
	inner, cancel := context.WithCancel(ctx)
	defer cancel()
	h.unlock(inner)
	return shop.TextResult("said"), nil
}

func (h *handlers) unlock(ctx context.Context) {}
