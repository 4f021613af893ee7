package bench

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"testing"

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

type sdkSize struct {
	Bytes int `json:"bytes"`
}

type sdkText struct {
	Text string `json:"text"`
}

type sdkNothing struct{}

// serveSDK serves the tools with the official Go SDK, which infers the schemas from the types.
func serveSDK(ctx context.Context, r io.ReadCloser, w io.WriteCloser) {
	newSDK().Run(ctx, &mcp.IOTransport{Reader: r, Writer: w})
}

// httpSDK serves the same over HTTP.
func httpSDK() (handler http.Handler, end func()) {
	s := newSDK()
	return mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, nil), func() {
		for session := range s.Sessions() {
			session.Close()
		}
	}
}

func newSDK() *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "bench", Version: "1.0.0"}, nil)
	mcp.AddTool(s, &mcp.Tool{Name: "place_order"}, func(context.Context, *mcp.CallToolRequest, sdkOrder) (*mcp.CallToolResult, sdkReceipt, error) {
		return nil, sdkReceipt{Accepted: true}, nil
	})
	mcp.AddTool(s, &mcp.Tool{Name: "report"}, func(_ context.Context, _ *mcp.CallToolRequest, in sdkSize) (*mcp.CallToolResult, sdkText, error) {
		return nil, sdkText{textOf(in.Bytes)}, nil
	})
	mcp.AddTool(s, &mcp.Tool{Name: "page"}, func(_ context.Context, _ *mcp.CallToolRequest, in sdkSize) (*mcp.CallToolResult, any, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: textOf(in.Bytes)}}}, nil, nil
	})
	mcp.AddTool(s, &mcp.Tool{Name: "wait"}, func(ctx context.Context, _ *mcp.CallToolRequest, _ sdkNothing) (*mcp.CallToolResult, sdkNothing, error) {
		return nil, sdkNothing{}, announce(ctx)
	})
	return s
}

// decodeSDK calls the official SDK's tool below its transport, where a message is read already: what remains is to find
// the tool, to decode and validate its arguments, and to make an empty result.
func decodeSDK(b *testing.B, tool string, inputSchema []byte) decoder {
	s := mcp.NewServer(&mcp.Implementation{Name: "bench", Version: "1.0.0"}, nil)
	mcp.AddTool(s, &mcp.Tool{Name: tool, InputSchema: json.RawMessage(inputSchema)},
		func(context.Context, *mcp.CallToolRequest, sdkOrder) (*mcp.CallToolResult, any, error) {
			return &mcp.CallToolResult{}, nil, nil
		})
	var handle mcp.MethodHandler
	s.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		handle = next
		return next
	})
	transport, _ := mcp.NewInMemoryTransports()
	session, err := s.Connect(b.Context(), transport, nil)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { session.Close() })
	return func(data []byte) error {
		result, err := handle(b.Context(), "tools/call", &mcp.CallToolRequest{Session: session, Params: &mcp.CallToolParamsRaw{Name: tool, Arguments: data}})
		if err != nil {
			return err
		}
		return result.(*mcp.CallToolResult).GetError()
	}
}
