package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/client"
)

// check is one thing that a session has to get right.
type check struct {
	name string
	run  func(ctx context.Context, s *client.Session) error
	// tasks: it is for servers that have them.
	tasks bool
}

var checks = []check{
	{name: "its tools are listed", run: listed}, {name: "a tool is called", run: called}, {name: "the error of a tool is a result", run: failed},
	{name: "an unknown tool is an error", run: unknown}, {name: "progress arrives in order", run: progress},
	{name: "a call that is given up ends at the server", run: cancelled}, {name: "a question is answered", run: asked},
	{name: "a task is followed to its result", run: followed, tasks: true}, {name: "a task goes on without its caller", run: resumed, tasks: true},
	{name: "a task is cancelled", run: taskCancelled, tasks: true},
}

func listed(ctx context.Context, s *client.Session) error {
	var names []string
	for definition, err := range s.ListTools(ctx) {
		var tool struct{ Name string }
		if err == nil {
			err = json.Unmarshal(definition, &tool)
		}
		if err != nil {
			return err
		}
		names = append(names, tool.Name)
	}
	for name := range strings.FieldsSeq("ask count echo ended fail hang") {
		if !slices.Contains(names, name) {
			return fmt.Errorf("tools %q", names)
		}
	}
	return nil
}

// call calls a tool and returns the text of its result.
func call(ctx context.Context, s *client.Session, name, text string, opts ...client.CallOption) (string, error) {
	r, err := s.CallTool(ctx, name, map[string]string{"text": text}, opts...)
	if err != nil {
		return "", err
	}
	var content []struct{ Text string }
	if err := json.Unmarshal(r.Content, &content); err != nil || len(content) == 0 {
		return "", fmt.Errorf("%s: %w", r.Raw, err)
	}
	if r.IsError {
		return "", errors.New("tool error: " + content[0].Text)
	}
	return content[0].Text, nil
}

func called(ctx context.Context, s *client.Session) error {
	for _, text := range []string{"hello", "größe \U0001f600 \u2028", ""} {
		if got, err := call(ctx, s, "echo", text); err != nil || got != text {
			return fmt.Errorf("%q, %w; want %q", got, err, text)
		}
	}
	return nil
}

func failed(ctx context.Context, s *client.Session) error {
	if _, err := call(ctx, s, "fail", ""); err == nil || !strings.HasPrefix(err.Error(), "tool error: ") {
		return fmt.Errorf("%w", err)
	}
	return nil
}

func unknown(ctx context.Context, s *client.Session) error {
	_, err := call(ctx, s, "nobody-knows", "")
	var refused *client.Error
	if err == nil || !errors.As(err, &refused) && !strings.HasPrefix(err.Error(), "tool error: ") { // one of them has it as a result
		return fmt.Errorf("%w", err)
	}
	return nil
}

func progress(ctx context.Context, s *client.Session) error {
	var got []float64
	_, err := call(ctx, s, "count", "", client.OnProgress(func(p client.Progress) { got = append(got, p.Progress) }))
	if err != nil || !slices.IsSorted(got) || len(got) == 0 || got[len(got)-1] != 3 { // an older one may come too late, by another stream
		return fmt.Errorf("%v, %w", got, err)
	}
	return nil
}

// cancelled asks the server how many calls of the tool have ended, since the result says nothing.
func cancelled(ctx context.Context, s *client.Session) error {
	before, err := call(ctx, s, "ended", "")
	if err != nil {
		return err
	}
	short, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	if _, err := call(short, s, "hang", ""); !errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("the call: %w", err)
	}
	for {
		after, err := call(ctx, s, "ended", "")
		if err != nil {
			return fmt.Errorf("its handler still runs: %w", err)
		}
		if after != before {
			return nil
		}
		time.Sleep(10 * time.Millisecond)
	}
}

func asked(ctx context.Context, s *client.Session) error {
	if s.Revision() < "2025-06-18" {
		return nil // has no way to ask a user
	}
	if got, err := call(ctx, s, "ask", ""); err != nil || got != "Ada" {
		return fmt.Errorf("%q, %w", got, err)
	}
	return nil
}
