package bench

import (
	"context"
	"io"
	"log"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// serveMCPGo serves the tools with mcp-go, with or without its validation of inputs.
func serveMCPGo(validate bool) peer {
	return func(ctx context.Context, r io.ReadCloser, w io.WriteCloser) {
		opts := []server.ServerOption{server.WithTaskCapabilities(true, true, true)}
		if validate {
			opts = append(opts, server.WithInputSchemaValidation())
		}
		s := server.NewMCPServer("bench", "1.0.0", opts...)
		s.AddTool(mcp.NewTool("place_order",
			mcp.WithString("symbol", mcp.Required(), mcp.Pattern("^[A-Z]{1,8}$")),
			mcp.WithString("side", mcp.Required(), mcp.Enum("buy", "sell")),
			mcp.WithNumber("quantity", mcp.Required(), mcp.Min(1), mcp.Max(1_000_000)),
			mcp.WithNumber("limit", mcp.Min(0)),
			mcp.WithString("note", mcp.MaxLength(80)),
		), func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return mcp.NewToolResultStructuredOnly(sdkReceipt{Accepted: true}), nil
		})
		s.AddTool(mcp.NewTool("wait"), func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			announce(ctx)
			return nil, ctx.Err()
		})
		s.AddTaskTool(mcp.NewTool("job", mcp.WithTaskSupport(mcp.TaskSupportRequired)),
			func(context.Context, mcp.CallToolRequest) (*mcp.CreateTaskResult, error) {
				return &mcp.CreateTaskResult{}, nil
			})
		stdio := server.NewStdioServer(s)
		stdio.SetErrorLogger(log.New(io.Discard, "", 0))
		stdio.Listen(ctx, r, w)
	}
}
