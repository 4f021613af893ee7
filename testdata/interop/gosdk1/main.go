// Gosdk1 drives the server of the conformance suite with the first stable Go SDK, over stdio and HTTP. It asks for 2025-06-18 and hangs up when
// it is answered with a revision that it does not know. With the file beside go.mod it is the newest one:
//
//	go run . SERVER
//	go run -modfile v1.8.0.mod . -name 'Go SDK 1.8.0' -revision 2026-07-28 SERVER
//
// The lines that begin with row are the table of foreign clients.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// session is a connected client and what it was told and asked.
type session struct {
	*mcp.ClientSession
	progress chan float64
	asked    []string
}

// checks are what a session has to get right, in the order of the table's columns.
var checks = []struct {
	name string
	run  func(context.Context, *session) error
}{
	{"the revision asked for is agreed on", agreed},
	{"tools/list has what the revision has", listed},
	{"tools/call answers", called},
	{"errors say what is wrong", refused},
	{"progress arrives before the answer", progressed},
	{"a call that is cancelled ends, and others go on", cancelled},
	{"the user is asked in a call", asked},
}

var (
	name     = flag.String("name", "Go SDK 1.0.0", "of the client, for the table")
	revision = flag.String("revision", handshake, "that it asks for by itself")
)

// handshake is the revision of the first stable version. It has no tasks.
const handshake = "2025-06-18"

func main() {
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "usage: gosdk1 [-name NAME] [-revision REVISION] SERVER")
		os.Exit(2)
	}
	url, stop, err := serve(flag.Arg(0))
	if err != nil {
		fmt.Fprintln(os.Stderr, "gosdk1:", err)
		os.Exit(1)
	}
	command := exec.Command(flag.Arg(0))
	failed := run("stdio", &mcp.CommandTransport{Command: command}) + run("HTTP", &mcp.StreamableClientTransport{Endpoint: url})
	if err := stop(); err != nil {
		fmt.Fprintln(os.Stderr, "gosdk1:", err)
		failed++
	}
	fmt.Printf("interop, %s: %d passed, %d failed\n", *name, 2*len(checks)-failed, failed)
	if failed > 0 {
		os.Exit(1)
	}
}

// run makes all checks on one session and counts those that fail.
func run(transport string, t mcp.Transport) (failed int) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cells := []string{"row", *name, transport, *revision}
	defer func() { fmt.Println(strings.Join(cells, "\t")) }()
	s, err := connect(ctx, t)
	if err != nil {
		fmt.Printf("FAIL  %s: connect: %v\n", transport, err)
		cells = append(cells, "FAIL")
		return len(checks)
	}
	for _, c := range checks {
		if err := c.run(ctx, s); err != nil {
			failed++
			cells = append(cells, "FAIL")
			fmt.Printf("FAIL  %s: %s\n      %v\n", transport, c.name, err)
			continue
		}
		cells = append(cells, "ok")
		fmt.Printf("ok    %s: %s\n", transport, c.name)
	}
	// Close of this SDK waits for the answer of a call that was cancelled, and there is none. The end of the process closes what is open.
	return failed
}

func connect(ctx context.Context, t mcp.Transport) (*session, error) {
	s := &session{progress: make(chan float64, 16)}
	client := mcp.NewClient(&mcp.Implementation{Name: "interop", Version: "1.0.0"}, &mcp.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) { s.progress <- r.Params.Progress },
		ElicitationHandler: func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			s.asked = append(s.asked, r.Params.Message)
			return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"username": "ada", "email": "ada@example.com"}}, nil
		},
	})
	var err error
	s.ClientSession, err = client.Connect(ctx, t, nil)
	return s, err
}

func agreed(_ context.Context, s *session) error {
	return want(s.InitializeResult().ProtocolVersion, *revision)
}

func listed(ctx context.Context, s *session) error {
	var names []string
	for tool, err := range s.Tools(ctx, nil) {
		if err != nil {
			return err
		}
		names = append(names, tool.Name)
	}
	if !slices.Contains(names, "greet") || slices.Contains(names, "failing_job") != (*revision != handshake) { // it only runs as a task
		return fmt.Errorf("listed: %v", names)
	}
	return nil
}

// call calls a tool and returns the text of its result.
func (s *session) call(ctx context.Context, name string, args map[string]any, meta mcp.Meta) (text string, isError bool, err error) {
	r, err := s.CallTool(ctx, &mcp.CallToolParams{Name: name, Arguments: args, Meta: meta})
	if err != nil {
		return "", false, err
	}
	for _, c := range r.Content {
		if t, ok := c.(*mcp.TextContent); ok {
			text += t.Text
		}
	}
	return text, r.IsError, nil
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
	unknown := map[string]string{"no_such_tool": "no_such_tool"}
	if *revision == handshake {
		unknown["failing_job"] = "no tasks"
	}
	for tool, says := range unknown {
		_, _, err := s.call(ctx, tool, map[string]any{}, nil)
		if err == nil || !strings.Contains(err.Error(), says) {
			return fmt.Errorf("%s: %w", tool, err)
		}
	}
	return nil
}

func progressed(ctx context.Context, s *session) error {
	text, _, err := s.call(ctx, "test_tool_with_progress", nil, mcp.Meta{"progressToken": "p"})
	if err != nil {
		return err
	}
	for _, step := range []float64{0, 50, 100} {
		select {
		case got := <-s.progress:
			if got != step {
				return fmt.Errorf("progress %v, want %v", got, step)
			}
		case <-ctx.Done():
			return fmt.Errorf("waiting for progress %v: %w", step, ctx.Err())
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
	text, _, err := s.call(ctx, "test_elicitation", map[string]any{"message": "Who is there?"}, nil)
	if err != nil || !strings.Contains(text, "ada") {
		return fmt.Errorf("%q, %w", text, err)
	}
	return want(strings.Join(s.asked, "; "), "Who is there?")
}

func want(got, want string) error {
	if got != want {
		return fmt.Errorf("got %q, want %q", got, want)
	}
	return nil
}
