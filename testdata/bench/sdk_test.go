package bench

import (
	"context"
	"io"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

type sdkOrder struct {
	Symbol   string  `json:"symbol"`
	Side     string  `json:"side"`
	Quantity int     `json:"quantity"`
	Limit    float64 `json:"limit,omitempty"`
	Note     string  `json:"note,omitempty"`
}

type sdkReceipt struct {
	Accepted bool `json:"accepted"`
}

type sdkNothing struct{}

// serveSDK serves the tools with the official Go SDK, which infers the schemas from the types.
func serveSDK(ctx context.Context, r io.ReadCloser, w io.WriteCloser) {
	s := mcp.NewServer(&mcp.Implementation{Name: "bench", Version: "1.0.0"}, nil)
	mcp.AddTool(s, &mcp.Tool{Name: "place_order"}, func(context.Context, *mcp.CallToolRequest, sdkOrder) (*mcp.CallToolResult, sdkReceipt, error) {
		return nil, sdkReceipt{Accepted: true}, nil
	})
	mcp.AddTool(s, &mcp.Tool{Name: "wait"}, func(ctx context.Context, _ *mcp.CallToolRequest, _ sdkNothing) (*mcp.CallToolResult, sdkNothing, error) {
		announce(ctx)
		return nil, sdkNothing{}, ctx.Err()
	})
	s.Run(ctx, &mcp.IOTransport{Reader: r, Writer: w})
}
