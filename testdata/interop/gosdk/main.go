// Gosdk drives a scaffolded server over stdio with the official Go SDK's client: calls, violations, a question, and a
// cancellation that must stay without an answer.
//
//	go run . COMMAND [ARG...]
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: gosdk COMMAND [ARG...]")
		os.Exit(2)
	}
	checks := []struct {
		name string
		run  func(context.Context, *session) error
	}{
		{"tools/list and tools/call", listAndCall},
		{"violations are tool errors", violations},
		{"a question is answered inline", question},
		{"a cancelled call is never answered", cancelled},
	}
	failed := 0
	for _, c := range checks {
		if err := withSession(os.Args[1:], c.run); err != nil {
			failed++
			fmt.Printf("FAIL  %s\n      %v\n", c.name, err)
			continue
		}
		fmt.Printf("ok    %s\n", c.name)
	}
	fmt.Printf("interop, Go SDK on stdio: %d passed, %d failed\n", len(checks)-failed, failed)
	if failed > 0 {
		os.Exit(1)
	}
}

// session is a connected client and the record of what it received.
type session struct {
	*mcp.ClientSession
	wire      *recorder
	questions int
}

func withSession(command []string, run func(context.Context, *session) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	s := &session{}
	client := mcp.NewClient(&mcp.Implementation{Name: "interop", Version: "1.0.0"}, &mcp.ClientOptions{
		ElicitationHandler: func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			s.questions++
			return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"overwrite": true}}, nil
		},
	})
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Stderr = os.Stderr
	s.wire = &recorder{Transport: &mcp.CommandTransport{Command: cmd}}
	cs, err := client.Connect(ctx, s.wire, nil)
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	s.ClientSession = cs
	return errors.Join(run(ctx, s), cs.Close())
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
	res, err := s.CallTool(ctx, &mcp.CallToolParams{Name: "get_quote", Arguments: map[string]any{"symbol": 7}})
	if err != nil {
		return err
	}
	text := res.Content[0].(*mcp.TextContent).Text
	if !res.IsError || !strings.Contains(text, "/symbol") {
		return fmt.Errorf("isError %t, text %q", res.IsError, text)
	}
	_, err = s.CallTool(ctx, &mcp.CallToolParams{Name: "no_such_tool", Arguments: map[string]any{}})
	var rpcErr *jsonrpc.Error
	if !errors.As(err, &rpcErr) || rpcErr.Code != -32602 {
		return fmt.Errorf("unknown tool: %v, want code -32602", err)
	}
	return nil
}

func question(ctx context.Context, s *session) error {
	res, err := s.CallTool(ctx, &mcp.CallToolParams{Name: "import_orders", Arguments: map[string]any{"source": "existing.csv"}})
	if err != nil {
		return err
	}
	if res.IsError || s.questions != 1 {
		return fmt.Errorf("isError %t after %d questions, want false after 1", res.IsError, s.questions)
	}
	return nil
}

func cancelled(ctx context.Context, s *session) error {
	callCtx, cancel := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() {
		_, err := s.CallTool(callCtx, &mcp.CallToolParams{Name: "get_quote", Arguments: map[string]any{"symbol": "SLOW"}})
		done <- err
	}()
	id := s.wire.awaitCall(ctx)
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		return fmt.Errorf("cancelled call: %v", err)
	}
	// Another call takes as long as the cancelled one would have: an answer to it would have come by then.
	if _, err := s.CallTool(ctx, &mcp.CallToolParams{Name: "get_quote", Arguments: map[string]any{"symbol": "SLOW"}}); err != nil {
		return err
	}
	if s.wire.answered(id) {
		return fmt.Errorf("the cancelled call %v was answered", id)
	}
	return nil
}

// recorder is a transport that remembers calls sent and responses received.
type recorder struct {
	mcp.Transport
	mu        sync.Mutex
	calls     []jsonrpc.ID
	responses map[string]bool
	called    chan struct{}
}

func (r *recorder) Connect(ctx context.Context) (mcp.Connection, error) {
	conn, err := r.Transport.Connect(ctx)
	if err != nil {
		return nil, err
	}
	r.responses = map[string]bool{}
	r.called = make(chan struct{}, 64)
	return &recordedConn{conn, r}, nil
}

// awaitCall returns the id of the first tools/call that was written.
func (r *recorder) awaitCall(ctx context.Context) jsonrpc.ID {
	select {
	case <-r.called:
	case <-ctx.Done():
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.calls) == 0 {
		return jsonrpc.ID{}
	}
	return r.calls[0]
}

func (r *recorder) answered(id jsonrpc.ID) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.responses[key(id)]
}

func key(id jsonrpc.ID) string {
	raw, _ := json.Marshal(id.Raw())
	return string(raw)
}

type recordedConn struct {
	mcp.Connection
	r *recorder
}

func (c *recordedConn) Read(ctx context.Context) (jsonrpc.Message, error) {
	msg, err := c.Connection.Read(ctx)
	if res, ok := msg.(*jsonrpc.Response); ok {
		c.r.mu.Lock()
		c.r.responses[key(res.ID)] = true
		c.r.mu.Unlock()
	}
	return msg, err
}

func (c *recordedConn) Write(ctx context.Context, msg jsonrpc.Message) error {
	err := c.Connection.Write(ctx, msg)
	if req, ok := msg.(*jsonrpc.Request); ok && req.Method == "tools/call" {
		c.r.mu.Lock()
		c.r.calls = append(c.r.calls, req.ID)
		c.r.mu.Unlock()
		c.r.called <- struct{}{}
	}
	return err
}
