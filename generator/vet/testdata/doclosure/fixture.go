package fixture

import (
	"context"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/server"
	"github.com/mcpkiln/mcpkiln/testdata/shop/shop"
)

type handlers struct{ shop.Handlers }

var _ shop.Handlers = (*handlers)(nil)

func (h *handlers) Say(ctx context.Context, call *server.Call, in *shop.SayInput) (*shop.CallToolResult, error) {
	now, name := time.Now(), "a"
	var id = strconv.Itoa(rand.Int())
	_, err := call.Do(ctx, "write", func(ctx context.Context) ([]byte, error) {
		inside := time.Now()
		text := now.String() + id // want "now is made by time.Now outside of this step" "id is made by rand.Int outside of this step"
		return []byte(text + inside.String() + name), nil
	})
	if err != nil {
		return nil, err
	}
	_, err = server.Do(ctx, call, "typed", func(ctx context.Context) (int, error) {
		return len(now.String()), nil // want "now is made by time.Now outside of this step"
	})
	if err != nil {
		return nil, err
	}
	return shop.TextResult("said at " + now.String()), nil
}
