package main

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strconv"
	"sync/atomic"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

type input struct {
	Text string `json:"text"`
}

// ended counts calls of hang whose context has ended.
var ended atomic.Int64

func text(s string) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: s}}}
}

// newServer is a server of the official Go SDK.
func newServer() *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "gosdk", Version: "1"}, nil)
	add := func(name string, f func(ctx context.Context, req *mcp.CallToolRequest, in input) (*mcp.CallToolResult, error)) {
		mcp.AddTool(s, &mcp.Tool{Name: name}, func(ctx context.Context, req *mcp.CallToolRequest, in input) (*mcp.CallToolResult, any, error) {
			r, err := f(ctx, req, in)
			return r, nil, err
		})
	}
	add("echo", func(_ context.Context, _ *mcp.CallToolRequest, in input) (*mcp.CallToolResult, error) {
		return text(in.Text), nil
	})
	add("fail", func(context.Context, *mcp.CallToolRequest, input) (*mcp.CallToolResult, error) {
		return nil, errors.New("no")
	})
	add("hang", func(ctx context.Context, _ *mcp.CallToolRequest, _ input) (*mcp.CallToolResult, error) {
		<-ctx.Done()
		ended.Add(1)
		return nil, ctx.Err()
	})
	add("ended", func(context.Context, *mcp.CallToolRequest, input) (*mcp.CallToolResult, error) {
		return text(strconv.FormatInt(ended.Load(), 10)), nil
	})
	add("count", func(ctx context.Context, req *mcp.CallToolRequest, _ input) (*mcp.CallToolResult, error) {
		for i := range 3 {
			p := &mcp.ProgressNotificationParams{ProgressToken: req.Params.GetProgressToken(), Progress: float64(i + 1), Total: 3}
			if err := req.Session.NotifyProgress(ctx, p); err != nil {
				return nil, err
			}
		}
		return text("3"), nil
	})
	add("ask", ask)
	return s
}

// ask asks for a name, by a request or by a result, as the SDK has it for the client's revision.
func ask(_ context.Context, req *mcp.CallToolRequest, _ input) (*mcp.CallToolResult, error) {
	if answer, ok := req.Params.InputResponses["name"].(*mcp.ElicitResult); ok {
		name, _ := answer.Content["name"].(string)
		return text(name), nil
	}
	form := map[string]any{"type": "object", "properties": map[string]any{"name": map[string]any{"type": "string"}}, "required": []string{"name"}}
	return &mcp.CallToolResult{InputRequests: mcp.InputRequestMap{"name": &mcp.ElicitParams{Message: "Who are you?", RequestedSchema: form}}}, nil
}

func serveStdio() { _ = newServer().Run(context.Background(), &mcp.StdioTransport{}) }

// serveHTTP serves on a free loopback port until the process ends, and returns the address.
func serveHTTP(stateless bool) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	s := newServer()
	// Without the last option a stream that is closed ends no handler.
	opts := &mcp.StreamableHTTPOptions{Stateless: stateless, PropagateRequestCancellation: stateless}
	go func() {
		_ = http.Serve(l, mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, opts))
	}()
	return "http://" + l.Addr().String()
}
