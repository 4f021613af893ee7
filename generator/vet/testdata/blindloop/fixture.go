package fixture

import (
	"context"
	"database/sql"
	"net/http"
	"os"

	"github.com/mcpkiln/mcpkiln/runtime/server"
	"github.com/mcpkiln/mcpkiln/testdata/shop/shop"
)

type handlers struct {
	shop.Handlers
	db *sql.DB
}

var _ shop.Handlers = (*handlers)(nil)

func (h *handlers) ImportOrders(ctx context.Context, call *shop.ImportOrdersCall, in *shop.ImportOrdersInput) (*shop.ImportOrdersOutput, error) {
	total := 0
	for _, source := range in.Sources { // want "this loop works on after a cancellation"
		if _, err := http.Get(source); err != nil {
			return nil, err
		}
	}
	for _, source := range in.Sources {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if _, err := os.ReadFile(source); err != nil {
			return nil, err
		}
	}
	for _, source := range in.Sources {
		if _, err := h.db.ExecContext(ctx, source); err != nil {
			return nil, err
		}
	}
	for _, source := range in.Sources {
		total += len(source)
	}
	for { // want "this loop works on after a cancellation"
		total++
	}
}

func (h *handlers) Say(ctx context.Context, call *server.Call, in *shop.SayInput) (*shop.CallToolResult, error) {
	for i := 0; ; i++ {
		if i > 10 {
			return shop.TextResult("said"), nil
		}
	}
}
