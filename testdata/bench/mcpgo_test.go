package bench

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log"
	"net/http"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// serveMCPGo serves the tools with mcp-go, with or without its validation of inputs.
func serveMCPGo(validate bool) peer {
	return func(ctx context.Context, r io.ReadCloser, w io.WriteCloser) {
		stdio := server.NewStdioServer(newMCPGo(validate))
		stdio.SetErrorLogger(log.New(io.Discard, "", 0))
		stdio.Listen(ctx, r, w)
	}
}

// httpMCPGo serves the same over HTTP.
func httpMCPGo() (handler http.Handler, end func()) {
	h := server.NewStreamableHTTPServer(newMCPGo(false), server.WithStateful(true))
	return h, func() { h.CloseSessions(context.Background()) }
}

func newMCPGo(validate bool) *server.MCPServer {
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
	s.AddTool(mcp.NewTool("report", mcp.WithNumber("bytes", mcp.Required())), func(_ context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		text, err := json.Marshal(sdkText{textOf(r.GetInt("bytes", 0))})
		return mcp.NewToolResultStructured(json.RawMessage(text), string(text)), err
	})
	s.AddTool(mcp.NewTool("page", mcp.WithNumber("bytes", mcp.Required())), func(_ context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return mcp.NewToolResultText(textOf(r.GetInt("bytes", 0))), nil
	})
	s.AddTool(mcp.NewTool("wait"), func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return mcp.NewToolResultText(""), announce(ctx)
	})
	s.AddTaskTool(mcp.NewTool("job", mcp.WithTaskSupport(mcp.TaskSupportRequired)),
		func(context.Context, mcp.CallToolRequest) (*mcp.CreateTaskResult, error) {
			return &mcp.CreateTaskResult{}, nil
		})
	return s
}

// decodeMCPGo handles whole messages, for mcp-go validates nowhere else: reading the envelope and making the response are
// in its figures.
func decodeMCPGo(b *testing.B, tool string, inputSchema []byte) decoder {
	s := server.NewMCPServer("bench", "1.0.0", server.WithInputSchemaValidation())
	s.AddTool(mcp.NewToolWithRawSchema(tool, "", inputSchema), mcp.NewTypedToolHandler(
		func(context.Context, mcp.CallToolRequest, sdkOrder) (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{}, nil
		}))
	var frame []byte
	return func(data []byte) error {
		frame = append(append(append(frame[:0], `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"`+tool+`","arguments":`...), data...), "}}"...)
		response, ok := s.HandleMessage(b.Context(), frame).(mcp.JSONRPCResponse)
		if !ok || response.Result.(*mcp.CallToolResult).IsError {
			return errors.New("mcp-go refuses it")
		}
		return nil
	}
}
