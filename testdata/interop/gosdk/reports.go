package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// ofReports are the checks of a scaffolded project.
func ofReports(on target) []check {
	return []check{
		{"tools/list and tools/call", on, listAndCall},
		{"violations are tool errors", on, violations},
		{"a question is answered inline", on, question},
		{"a cancelled call is never answered", on, cancelled},
	}
}

func listAndCall(ctx context.Context, s *session) error {
	tools, err := s.ListTools(ctx, nil)
	if err != nil {
		return err
	}
	if len(tools.Tools) != 4 {
		return fmt.Errorf("tools/list shows %d tools, want 4", len(tools.Tools))
	}
	res, err := s.CallTool(ctx, &mcp.CallToolParams{Name: "get_quote", Arguments: map[string]any{"symbol": "ACME"}})
	if err != nil {
		return err
	}
	content, ok := res.StructuredContent.(map[string]any)
	if price, _ := content["price"].(float64); !ok || price <= 0 {
		return fmt.Errorf("structured content: %v", res.StructuredContent)
	}
	return nil
}

func violations(ctx context.Context, s *session) error {
	return refused(ctx, s, "get_quote", map[string]any{"symbol": 7}, "/symbol")
}

// refused wants a tool error that names the violations, and a protocol error for a tool that does not exist.
func refused(ctx context.Context, s *session, tool string, args map[string]any, pointers ...string) error {
	res, err := s.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		return err
	}
	for _, pointer := range pointers {
		if !res.IsError || !strings.Contains(text(res), pointer) {
			return fmt.Errorf("isError %t, text %q, want %s in it", res.IsError, text(res), pointer)
		}
	}
	_, err = s.CallTool(ctx, &mcp.CallToolParams{Name: "no_such_tool", Arguments: map[string]any{}})
	if rpcErr, ok := errors.AsType[*jsonrpc.Error](err); !ok || rpcErr.Code != -32602 {
		return fmt.Errorf("unknown tool: %v, want code -32602", err)
	}
	return nil
}

func question(ctx context.Context, s *session) error {
	if _, err := s.call(ctx, "import_orders", map[string]any{"source": "existing.csv"}); err != nil {
		return err
	}
	return s.wasAsked("Overwrite existing orders?")
}

func cancelled(ctx context.Context, s *session) error {
	id, err := abandon(ctx, s, "get_quote", map[string]any{"symbol": "SLOW"})
	if err != nil {
		return err
	}
	// Another call takes as long as the cancelled one would have: an answer to it would have come by then.
	if _, err := s.call(ctx, "get_quote", map[string]any{"symbol": "SLOW"}); err != nil {
		return err
	}
	return unanswered(s, id)
}

// abandon starts a call, cancels it in flight and returns its id.
func abandon(ctx context.Context, s *session, tool string, args map[string]any) (string, error) {
	callCtx, cancel := context.WithCancel(ctx)
	defer cancel()
	done := make(chan error, 1)
	go func() {
		_, err := s.CallTool(callCtx, &mcp.CallToolParams{Name: tool, Arguments: args})
		done <- err
	}()
	id := s.wire.awaitCall(ctx)
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		return id, fmt.Errorf("cancelled call: %v", err)
	}
	return id, nil
}

func unanswered(s *session, id string) error {
	if s.wire.answered(id) {
		return fmt.Errorf("the cancelled call %s was answered", id)
	}
	return nil
}
