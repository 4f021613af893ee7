package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/mcpkiln/mcpkiln/runtime/client"
	"github.com/mcpkiln/mcpkiln/runtime/task"
)

type execution = client.Execution[client.ToolResult]

// begun calls a tool that has to become a task.
func begun(ctx context.Context, s *client.Session, tool, text string) (*execution, client.Ref, error) {
	x, err := s.Start(ctx, tool, map[string]string{"text": text})
	if err != nil {
		return nil, client.Ref{}, err
	}
	ref, ok := x.Ref()
	if !ok {
		return nil, ref, errors.New("the call has become no task")
	}
	return x, ref, nil
}

// says waits for a result with that text.
func says(ctx context.Context, x *execution, text string) error {
	r, err := x.Result(ctx)
	if err != nil {
		return err
	}
	if r.IsError || r.Text() != text {
		return fmt.Errorf("%s; want %q", r.Raw, text)
	}
	return nil
}

func followed(ctx context.Context, s *client.Session) error {
	x, _, err := begun(ctx, s, "slow", "done")
	if err != nil {
		return err
	}
	var last task.Status
	for state, err := range x.Updates(ctx) {
		if err != nil {
			return err
		}
		last = state.Status
	}
	if last != task.Completed {
		return fmt.Errorf("the last status was %q", last)
	}
	return says(ctx, x, "done")
}

// resumed follows by a reference that went through JSON.
func resumed(ctx context.Context, s *client.Session) error {
	x, ref, err := begun(ctx, s, "slow", "done")
	if err != nil {
		return err
	}
	x.Detach()
	text, err := json.Marshal(ref)
	if err != nil {
		return err
	}
	var again client.Ref
	if err := json.Unmarshal(text, &again); err != nil {
		return err
	}
	if x, err = s.Resume(ctx, again); err != nil {
		return err
	}
	return says(ctx, x, "done")
}

func taskCancelled(ctx context.Context, s *client.Session) error {
	x, ref, err := begun(ctx, s, "stuck", "")
	if err != nil {
		return err
	}
	if err := x.Cancel(ctx, "enough"); err != nil {
		return err
	}
	var over *client.TaskError
	if _, err := x.Result(ctx); !errors.As(err, &over) || over.State.Status != task.Cancelled {
		return fmt.Errorf("its end: %w", err)
	}
	state, err := s.GetTask(ctx, ref)
	if err == nil && state.Status != task.Cancelled {
		err = errors.New("it is " + strings.TrimSpace(string(state.Status)))
	}
	return err
}
