package main

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// newMCPGo is a server of mcp-go, with the tools of newServer.
func newMCPGo() *server.MCPServer {
	s := server.NewMCPServer("mcp-go", "1", server.WithToolCapabilities(true), server.WithElicitation(), server.WithTaskCapabilities(true, true, true))
	add := func(name string, f server.ToolHandlerFunc) { s.AddTool(mcp.NewTool(name, mcp.WithString("text")), f) }
	add("echo", func(_ context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return mcp.NewToolResultText(r.GetString("text", "")), nil
	})
	add("fail", func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return mcp.NewToolResultError("no"), nil
	})
	add("hang", func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		<-ctx.Done()
		ended.Add(1)
		return nil, errors.New("given up")
	})
	add("ended", func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return mcp.NewToolResultText(strconv.FormatInt(ended.Load(), 10)), nil
	})
	add("count", func(ctx context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		for i := range 3 {
			p := map[string]any{"progressToken": r.Params.Meta.ProgressToken, "progress": i + 1, "total": 3}
			if err := s.SendNotificationToClient(ctx, "notifications/progress", p); err != nil {
				return nil, err
			}
		}
		time.Sleep(time.Second) // on stdio another goroutine writes them, and the result must not overtake it
		return mcp.NewToolResultText("3"), nil
	})
	add("ask", func(_ context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		if answer := server.ElicitationResponse(r.Params.InputResponses, "name"); answer != nil {
			content, _ := answer.Content.(map[string]any)
			name, _ := content["name"].(string)
			return mcp.NewToolResultText(name), nil
		}
		form := map[string]any{"type": "object", "properties": map[string]any{"name": map[string]any{"type": "string"}}, "required": []string{"name"}}
		return server.NewInputRequestBuilder("").Elicit("name", mcp.ElicitationParams{Mode: mcp.ElicitationModeForm, Message: "Who are you?", RequestedSchema: form}).ToolResult(), nil
	})
	addTasks(s)
	return s
}

// addTasks adds tools that run as tasks. The context of a task of this server does not outlive the request that made it on HTTP, so neither
// looks at it before the task is cancelled.
func addTasks(s *server.MCPServer) {
	add := func(name string, f server.ToolHandlerFunc) {
		s.AddTool(mcp.NewTool(name, mcp.WithString("text"), mcp.WithTaskSupport(mcp.TaskSupportOptional)), f)
	}
	add("slow", func(_ context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		time.Sleep(100 * time.Millisecond)
		return mcp.NewToolResultText(r.GetString("text", "")), nil
	})
	add("stuck", func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		time.Sleep(time.Minute)
		return nil, errors.New("nobody cancelled it")
	})
}

func serveMCPGoStdio() { _ = server.ServeStdio(newMCPGo()) }

// serveMCPGo serves on a free loopback port until the process ends, and returns the address.
func serveMCPGo() string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	go func() { _ = http.Serve(l, server.NewStreamableHTTPServer(newMCPGo())) }()
	return "http://" + l.Addr().String() + "/mcp"
}
