// Package client is what a client does that the protocol's conformance suite drives. Its program, which can also log in, is a module of its
// own: program.
package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"

	"github.com/mcpkiln/mcpkiln/runtime/client"
)

// Run does what a scenario of the suite wants to see. given is what the suite says beside its name, a JSON object or nothing.
func Run(ctx context.Context, server *client.Endpoint, scenario string, given []byte) error {
	opts := []client.Option{
		client.WithInfo(client.Info("conformance", "1")),
		client.WithLogger(slog.New(slog.NewTextHandler(os.Stderr, nil))),
	}
	if scenario == "elicitation-sep1034-client-defaults" || scenario == "sep-2322-client-request-state" {
		opts = append(opts, client.WithHandlers(client.Handlers{Elicit: accept}))
	}
	s, err := client.Connect(ctx, server, opts...)
	if err != nil {
		return err
	}
	tools, err := list(ctx, s)
	var none *client.NotOfferedError
	if err != nil && !errors.As(err, &none) {
		return err
	}
	if err := act(ctx, s, scenario, given, tools); err != nil {
		return fmt.Errorf("%s: %w", scenario, err)
	}
	return s.Close()
}

// accept agrees to everything: fields that must be filled in and have no default are confirmations.
func accept(_ context.Context, q *client.Question) (*client.Answer, error) {
	var form struct {
		Properties map[string]struct {
			Type    string
			Default json.RawMessage
		}
	}
	if err := json.Unmarshal(q.Schema, &form); err != nil {
		return nil, err
	}
	content := map[string]any{}
	for name, field := range form.Properties {
		if field.Default == nil && field.Type == "boolean" {
			content[name] = true
		}
	}
	return &client.Answer{Action: client.Accepted, Content: content}, nil
}

// definition is what a server says of a tool.
type definition struct {
	Name        string
	InputSchema json.RawMessage
}

// list returns all tools.
func list(ctx context.Context, s *client.Session) (tools []definition, err error) {
	for raw, err := range s.ListTools(ctx) {
		var tool definition
		if err == nil {
			err = json.Unmarshal(raw, &tool)
		}
		if err != nil {
			return nil, err
		}
		tools = append(tools, tool)
	}
	return tools, nil
}

// toolCall is a call that the suite asks for.
type toolCall struct {
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
}

// act does what a scenario is about, beside the beginning and the list of tools.
func act(ctx context.Context, s *client.Session, scenario string, given []byte, tools []definition) error {
	calls := map[string][]toolCall{
		"tools_call":                          {{"add_numbers", json.RawMessage(`{"a":5,"b":3}`)}},
		"elicitation-sep1034-client-defaults": {{"test_client_elicitation_defaults", nil}},
		"sse-retry":                           {{"test_reconnection", nil}},
		"sep-2322-client-request-state": {{"test_mrtr_echo_state", nil}, {"test_mrtr_no_state", nil}, {"test_mrtr_unrelated", nil},
			{"test_mrtr_no_result_type", nil}},
		"http-invalid-tool-headers": {{"valid_tool", json.RawMessage(`{"region":"eu"}`)}},
	}[scenario]
	if scenario == "http-custom-headers" {
		var all struct{ ToolCalls []toolCall }
		if err := json.Unmarshal(given, &all); err != nil {
			return err
		}
		calls = all.ToolCalls
	}
	switch scenario {
	case "http-standard-headers":
		return everyKind(ctx, s, tools)
	case "json-schema-2020-12-preservation":
		return echoSchema(ctx, s, tools)
	}
	if strings.HasPrefix(scenario, "auth/") {
		calls = []toolCall{{"test-tool", json.RawMessage(`{}`)}}
	}
	for _, c := range calls {
		if !slices.ContainsFunc(tools, func(d definition) bool { return d.Name == c.Name }) {
			continue
		}
		var args any
		if c.Arguments != nil {
			args = c.Arguments
		}
		if _, err := s.CallTool(ctx, c.Name, args); err != nil {
			return err
		}
	}
	return nil
}

// echoSchema sends the schema of one tool back as the argument of another one.
func echoSchema(ctx context.Context, s *client.Session, tools []definition) error {
	for _, tool := range tools {
		if tool.Name == "json_schema_2020_12_tool" {
			_, err := s.CallTool(ctx, "json_schema_echo", map[string]any{"schema": tool.InputSchema})
			return err
		}
	}
	return errors.New("the tool is not listed")
}

// everyKind sends each kind of request whose headers have a name.
func everyKind(ctx context.Context, s *client.Session, tools []definition) error {
	for _, tool := range tools {
		if _, err := s.CallTool(ctx, tool.Name, map[string]string{}); err != nil {
			return err
		}
	}
	for prompt, err := range s.ListPrompts(ctx) {
		var p struct{ Name string }
		if err == nil {
			err = json.Unmarshal(prompt, &p)
		}
		if err == nil {
			_, err = s.GetPrompt(ctx, p.Name, nil)
		}
		if err != nil {
			return err
		}
	}
	for resource, err := range s.ListResources(ctx) {
		var r struct{ URI string }
		if err == nil {
			err = json.Unmarshal(resource, &r)
		}
		if err == nil {
			_, err = s.ReadResource(ctx, r.URI)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
