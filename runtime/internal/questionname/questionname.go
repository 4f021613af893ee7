// Package questionname tells a test which of a tool's questions a request to its client is: in a session the name is not on the wire.
// It is for package servertest, and server tells it.
package questionname

import (
	"context"

	"github.com/mcpkiln/mcpkiln/runtime/rpc"
)

type key struct{}

// With has report called for each question to the client whose connection is served with the context, before it is written. report
// must not block.
func With(ctx context.Context, report func(id rpc.ID, name string)) context.Context {
	return context.WithValue(ctx, key{}, report)
}

// Report calls the function of With: the request with the id is the question of that name.
func Report(ctx context.Context, id rpc.ID, name string) {
	if report, ok := ctx.Value(key{}).(func(rpc.ID, string)); ok {
		report(id, name)
	}
}
