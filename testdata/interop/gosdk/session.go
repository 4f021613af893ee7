package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	stateless = "2026-07-28"
	handshake = "2025-11-25"
)

// target is a server to talk to, by its address or by the command that starts it, and the revision to do it in: "" for
// whatever is negotiated.
type target struct {
	name     string
	url      string
	command  []string
	revision string
}

// session is a connected client and the record of what it received.
type session struct {
	*mcp.ClientSession
	on       target
	wire     *recorder
	progress chan *mcp.ProgressNotificationParams
	changed  chan struct{} // the list of tools

	mu        sync.Mutex
	questions []string // messages of elicitations, and methods of what else was asked
}

// answers are what the user says, by question. A question without an entry is declined.
var answers = map[string]map[string]any{
	"Overwrite existing orders?":   {"overwrite": true},
	"Who is there?":                {"username": "ada", "email": "ada@example.com"},
	"What is your name?":           {"name": "Ada"},
	"What is your favorite color?": {"color": "green"},
}

func connect(ctx context.Context, on target) (*session, error) {
	s := &session{on: on, progress: make(chan *mcp.ProgressNotificationParams, 16), changed: make(chan struct{}, 16)}
	client := mcp.NewClient(&mcp.Implementation{Name: "interop", Version: "1.0.0"}, &mcp.ClientOptions{
		ElicitationHandler:   s.elicit,
		CreateMessageHandler: s.sample,
		ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
			s.progress <- r.Params
		},
		ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) { s.changed <- struct{}{} },
	})
	client.AddRoots(&mcp.Root{URI: "file:///interop", Name: "interop"})
	var opts *mcp.ClientSessionOptions
	if on.revision != "" {
		opts = &mcp.ClientSessionOptions{ProtocolVersion: on.revision}
	}
	var err error
	s.ClientSession, err = client.Connect(ctx, s.transport(), opts)
	return s, err
}

func (s *session) transport() mcp.Transport {
	s.wire = newRecorder()
	if s.on.url != "" {
		return &mcp.StreamableClientTransport{Endpoint: s.on.url, HTTPClient: &http.Client{Transport: s.wire}}
	}
	cmd := exec.Command(s.on.command[0], s.on.command[1:]...)
	cmd.Stderr = os.Stderr
	return &recordedTransport{&mcp.CommandTransport{Command: cmd}, s.wire}
}

func (s *session) elicit(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
	s.asked(r.Params.Message)
	if content, ok := answers[r.Params.Message]; ok {
		return &mcp.ElicitResult{Action: "accept", Content: content}, nil
	}
	return &mcp.ElicitResult{Action: "decline"}, nil
}

func (s *session) sample(context.Context, *mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
	s.asked("sampling")
	return &mcp.CreateMessageResult{Model: "interop", Role: "assistant", Content: &mcp.TextContent{Text: "Paris"}}, nil
}

func (s *session) asked(question string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.questions = append(s.questions, question)
}

// call returns the text of the result, which must be no error.
func (s *session) call(ctx context.Context, name string, args map[string]any) (string, error) {
	params := &mcp.CallToolParams{Name: name}
	if args != nil { // a nil map would be sent as null
		params.Arguments = args
	}
	res, err := s.CallTool(ctx, params)
	if err != nil {
		return "", fmt.Errorf("%s: %w", name, err)
	}
	if res.IsError {
		return "", fmt.Errorf("%s: tool error: %s", name, text(res))
	}
	return text(res), nil
}

// text is that of the first item.
func text(res *mcp.CallToolResult) string {
	if len(res.Content) == 0 {
		return ""
	}
	if t, ok := res.Content[0].(*mcp.TextContent); ok {
		return t.Text
	}
	return ""
}
