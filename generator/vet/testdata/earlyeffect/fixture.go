package fixture

import (
	"context"
	"net/http"
	"os"

	"github.com/mcpkiln/mcpkiln/runtime/server"
	"github.com/mcpkiln/mcpkiln/testdata/shop/shop"
)

type handlers struct{ shop.Handlers }

var _ shop.Handlers = (*handlers)(nil)

func (h *handlers) ImportOrders(ctx context.Context, call *shop.ImportOrdersCall, in *shop.ImportOrdersInput) (*shop.ImportOrdersOutput, error) {
	os.Remove("orders") // want "os.Remove happens again when a later question is answered"
	h.record()          // want "h.record happens again"
	if _, err := os.ReadFile("orders"); err != nil {
		return nil, err
	}
	if _, err := call.Do(ctx, "announce", func(ctx context.Context) ([]byte, error) {
		_, err := http.Post("https://example.com", "", nil)
		return nil, err
	}); err != nil {
		return nil, err
	}
	answer, err := call.ConfirmOverwrite(ctx, "")
	if err != nil || !answer.Accepted() {
		return nil, err
	}
	for _, source := range in.Sources {
		answer, err := call.PickBranch(ctx, "", server.Named(source))
		if err != nil || !answer.Accepted() {
			return nil, err
		}
		os.WriteFile(source, nil, 0o600) // want "os.WriteFile happens again"
	}
	os.Remove("lock")
	return &shop.ImportOrdersOutput{}, nil
}

func (h *handlers) record() { os.WriteFile("log", nil, 0o600) }

func (h *handlers) Say(ctx context.Context, call *server.Call, in *shop.SayInput) (*shop.CallToolResult, error) {
	h.record() // it asks nothing
	return shop.TextResult("said"), nil
}
