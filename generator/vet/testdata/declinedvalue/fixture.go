package fixture

import (
	"context"

	"github.com/mcpkiln/mcpkiln/runtime/server"
	"github.com/mcpkiln/mcpkiln/testdata/shop/shop"
)

type handlers struct{ shop.Handlers }

var _ shop.Handlers = (*handlers)(nil)

func (h *handlers) ImportOrders(ctx context.Context, call *shop.ImportOrdersCall, in *shop.ImportOrdersInput) (*shop.ImportOrdersOutput, error) {
	answer, err := call.ConfirmOverwrite(ctx, "")
	if err != nil {
		return nil, err
	}
	if answer.Value.Overwrite { // want "the user may have declined"
		return &shop.ImportOrdersOutput{Imported: 1}, nil
	}
	if !answer.Accepted() {
		return &shop.ImportOrdersOutput{Imported: count(answer.Value.Overwrite)}, nil // want "here the user has declined"
	}
	branch, err := call.PickBranch(ctx, "")
	if err != nil || branch.Action != server.Accepted || branch.Value.Branch == "" {
		return nil, err
	}
	return &shop.ImportOrdersOutput{}, nil
}

func count(bool) int64 { return 0 }
