package fixture

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/server"
	"github.com/mcpkiln/mcpkiln/testdata/shop/shop"
)

type handlers struct{ shop.Handlers }

var _ shop.Handlers = (*handlers)(nil)

func (h *handlers) ImportOrders(ctx context.Context, call *shop.ImportOrdersCall, in *shop.ImportOrdersInput) (*shop.ImportOrdersOutput, error) {
	if _, err := call.PickBranch(ctx, "", server.Named(fmt.Sprint(time.Now()))); err != nil { // want "the name of this question is made by time.Now"
		return nil, err
	}
	for range in.Sources {
		if _, err := call.ConfirmOverwrite(ctx, ""); err != nil { // want "this question has one name in every round of the loop: give it server.Named"
			return nil, err
		}
	}
	for _, source := range in.Sources {
		if _, err := call.ConfirmOverwrite(ctx, "", server.Named(source)); err != nil {
			return nil, err
		}
		if _, err := call.Do(ctx, "write", write); err != nil { // want "this step has one name in every round of the loop"
			return nil, err
		}
		if _, err := call.Do(ctx, "write "+source, write); err != nil {
			return nil, err
		}
		if _, err := server.Do(ctx, call, "typed", write); err != nil { // want "this step has one name in every round of the loop"
			return nil, err
		}
		if _, err := server.Do[[]byte](ctx, call.Call, "typed "+source, write); err != nil {
			return nil, err
		}
	}
	step, counts := 0, map[string]int{"a": 1}
	for key := range counts {
		step++
		if _, err := call.Do(ctx, fmt.Sprint("step", step), write); err != nil { // want "made of step, which counts the keys of a map"
			return nil, err
		}
		if _, err := call.Do(ctx, fmt.Sprint("step", step, key), write); err != nil {
			return nil, err
		}
	}
	if _, err := call.Do(ctx, fmt.Sprint(rand.Int()), write); err != nil { // want "made by rand.Int"
		return nil, err
	}
	for {
		answer, err := call.PickBranch(ctx, "")
		if err != nil || !answer.Accepted() {
			return nil, err
		}
		break
	}
	return &shop.ImportOrdersOutput{}, nil
}

func write(context.Context) ([]byte, error) { return nil, nil }

func (h *handlers) Say(ctx context.Context, call *server.Call, in *shop.SayInput) (*shop.CallToolResult, error) {
	return shop.TextResult("said"), nil
}
