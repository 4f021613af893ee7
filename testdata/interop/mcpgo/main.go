// Mcpgo drives the server of the conformance suite with mcp-go, over stdio and HTTP: what every version of it can do, in a row of the table of
// foreign clients. The versions are in go.mod and in the files beside it:
//
//	go run . NAME SERVER
//	go run -modfile v0.32.0.mod -tags mcpgo_v0_32 . NAME SERVER
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"
)

// session is a connected client and what it was told.
type session struct {
	*client.Client
	revision string
	asks     bool // the client can be asked
	progress chan float64
}

// steps are the columns of the table after connect.
var steps = []struct {
	name string
	run  func(context.Context, *session) error
}{
	{"list", listed}, {"call", called}, {"error", refused}, {"progress", progressed}, {"cancel", cancelled}, {"question", asked},
}

// errNone says that the client has no such thing.
var errNone = errors.New("the client has none")

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: mcpgo NAME SERVER")
		os.Exit(2)
	}
	name, binary := os.Args[1], os.Args[2]
	url, stop, err := serve(binary)
	if err != nil {
		fmt.Fprintln(os.Stderr, "mcpgo:", err)
		os.Exit(1)
	}
	failed := false
	for _, opts := range negotiations() {
		failed = row(name, "stdio", func() (*client.Client, error) { return dialStdio(binary, opts) }) || failed
		failed = row(name, "HTTP", func() (*client.Client, error) { return dialHTTP(url, opts) }) || failed
	}
	if err := stop(); err != nil {
		fmt.Fprintln(os.Stderr, "mcpgo:", err)
		failed = true
	}
	if failed {
		os.Exit(1)
	}
}

// row prints one row of the table, and why something failed.
func row(name, transport string, dial func() (*client.Client, error)) (failed bool) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cells := []string{"row", name, transport}
	s, err := connect(ctx, dial)
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s, %s: connect: %v\n", name, transport, err)
		fmt.Println(strings.Join(append(cells, "?", "FAIL"), "\t"))
		return true
	}
	cells = append(cells, s.revision, "ok")
	for _, step := range steps {
		err := step.run(ctx, s)
		switch {
		case err == nil:
			cells = append(cells, "ok")
		case errors.Is(err, errNone):
			cells = append(cells, "-")
		default:
			cells, failed = append(cells, "FAIL"), true
			fmt.Fprintf(os.Stderr, "%s, %s: %s: %v\n", name, transport, step.name, err)
		}
	}
	fmt.Println(strings.Join(cells, "\t"))
	return failed
}

func connect(ctx context.Context, dial func() (*client.Client, error)) (*session, error) {
	c, err := dial()
	if err != nil {
		return nil, err
	}
	s := &session{Client: c, asks: canAsk, progress: make(chan float64, 16)}
	c.OnNotification(func(n mcp.JSONRPCNotification) {
		if n.Method == "notifications/progress" {
			step, _ := n.Params.AdditionalFields["progress"].(float64)
			s.progress <- step
		}
	})
	if err := c.Start(ctx); err != nil {
		return nil, err
	}
	request := mcp.InitializeRequest{}
	request.Params.ProtocolVersion = mcp.LATEST_PROTOCOL_VERSION
	request.Params.ClientInfo = mcp.Implementation{Name: "interop", Version: "1.0.0"}
	result, err := c.Initialize(ctx, request)
	if err != nil {
		return nil, err
	}
	s.revision = result.ProtocolVersion
	return s, nil
}

func listed(ctx context.Context, s *session) error {
	result, err := s.ListTools(ctx, mcp.ListToolsRequest{})
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(result.Tools, func(t mcp.Tool) bool { return t.Name == "greet" }) {
		return fmt.Errorf("%d tools, and none is greet", len(result.Tools))
	}
	return nil
}

// call calls a tool and returns the text of its result.
func (s *session) call(ctx context.Context, name string, args map[string]any, meta *mcp.Meta) (text string, isError bool, err error) {
	request := mcp.CallToolRequest{}
	request.Params.Name, request.Params.Meta = name, meta
	if args != nil { // a nil map would be sent as null
		request.Params.Arguments = args
	}
	result, err := s.CallTool(ctx, request)
	if err != nil {
		return "", false, err
	}
	for _, c := range result.Content {
		if t, ok := c.(mcp.TextContent); ok {
			text += t.Text
		}
	}
	return text, result.IsError, nil
}

func called(ctx context.Context, s *session) error {
	text, _, err := s.call(ctx, "greet", map[string]any{"name": "Ada"}, nil)
	return errors.Join(err, want(text, "Hello, Ada!"))
}

func refused(ctx context.Context, s *session) error {
	text, isError, err := s.call(ctx, "slow_compute", map[string]any{"seconds": -1}, nil)
	if err != nil || !isError || !strings.Contains(text, "/seconds") {
		return fmt.Errorf("violations: %q, %v, %w", text, isError, err)
	}
	if _, _, err := s.call(ctx, "no_such_tool", map[string]any{}, nil); err == nil || !strings.Contains(err.Error(), "no_such_tool") {
		return fmt.Errorf("an unknown tool: %w", err)
	}
	return nil
}

func progressed(ctx context.Context, s *session) error {
	text, _, err := s.call(ctx, "test_tool_with_progress", map[string]any{}, &mcp.Meta{ProgressToken: "p"})
	if err != nil {
		return err
	}
	// This client handles each notification on a goroutine of its own, so they come in any order.
	left := map[float64]bool{0: true, 50: true, 100: true}
	for len(left) > 0 {
		select {
		case got := <-s.progress:
			delete(left, got)
		case <-ctx.Done():
			return fmt.Errorf("waiting for progress %v: %w", left, ctx.Err())
		}
	}
	return want(text, "done")
}

func cancelled(ctx context.Context, s *session) error {
	slow, cancel := context.WithCancel(ctx)
	defer cancel()
	ended := make(chan error, 1)
	go func() {
		_, _, err := s.call(slow, "slow_compute", map[string]any{"seconds": 60}, nil)
		ended <- err
	}()
	if err := called(ctx, s); err != nil { // answered beside it
		return err
	}
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		return fmt.Errorf("the cancelled call: %w", err)
	}
	return called(ctx, s)
}

func asked(ctx context.Context, s *session) error {
	if !s.asks {
		return errNone
	}
	text, _, err := s.call(ctx, "test_elicitation", map[string]any{"message": "Who is there?"}, nil)
	if err != nil || !strings.Contains(text, "ada") {
		return fmt.Errorf("%q, %w", text, err)
	}
	return nil
}

func want(got, want string) error {
	if got != want {
		return fmt.Errorf("got %q, want %q", got, want)
	}
	return nil
}
