package servertest

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/server"
	"github.com/mcpkiln/mcpkiln/testdata/orders/orders"
)

// TestLET01WhatMiddlewareAnswersInPlaceOfATask is validated as the result of a call, which it is
// (https://modelcontextprotocol.io/specification/2026-07-28/server/tools).
func TestLET01WhatMiddlewareAnswersInPlaceOfATask(t *testing.T) {
	for result, sent := range map[string]bool{
		`{"content":5,"structuredContent":{"imported":3}}`: false,
		`{"content":[]}`: false,
		`{"content":[],"structuredContent":{"imported":"3"}}`: false,
		`{"content":[],"structuredContent":{"imported":3}}`:   true,
		`{"content":[],"isError":true}`:                       true,
	} {
		synctest.Test(t, func(t *testing.T) {
			srv, err := orders.New(stuck{}, server.WithMiddleware(func(next server.Handle) server.Handle {
				return func(ctx context.Context, m *server.Message) (*server.MessageResult, error) {
					if m.Method == "tools/call" {
						return server.ResultOf([]byte(result)), nil
					}
					return next(ctx, m)
				}
			}))
			if err != nil {
				t.Fatal(err)
			}
			c := Start(t, srv, WithRevision("2026-07-28"))
			_, err = c.Begin("import_orders", map[string]string{"source": "erp"}).Result()
			refused := (*rpc.Error)(nil)
			if got := !errors.As(err, &refused) || refused.Code != rpc.CodeInternalError; got != sent {
				t.Errorf("%s: %v", result, err)
			}
		})
	}
}
