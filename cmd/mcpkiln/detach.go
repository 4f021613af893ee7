package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/mcpkiln/mcpkiln/cmd/mcpkiln/internal/keep"
	"github.com/mcpkiln/mcpkiln/cmd/mcpkiln/internal/target"
	"github.com/mcpkiln/mcpkiln/runtime/client"
)

// detach calls a tool as a task and leaves it running. Its reference is kept on this machine, and printed as soon as there is one. If no other
// command could use it, the tool is not called.
func (v *visit) detach(one *tool, in json.RawMessage) error {
	if err := v.resumable(one.Name); err != nil {
		return err
	}
	x, err := v.start(one, in, true)
	if err != nil {
		return err
	}
	ref, ok := refOf(x, one)
	if !ok {
		fmt.Fprintf(v.cmd.ErrOrStderr(), "mcpkiln: the server answered at once, so there is no task\n")
		result, err := x.Result(v.ctx)
		if err != nil {
			return err
		}
		return v.print(one, result)
	}
	v.ref, v.ttl = &ref, ttlOf(x)
	if v.ctx.Err() != nil {
		v.cancel(x)
		return context.Cause(v.ctx)
	}
	defer x.Detach()
	shelf, err := keep.Open()
	if err == nil {
		err = shelf.Put(ref, time.Now(), v.ttl)
	}
	if err != nil {
		fmt.Fprintln(v.cmd.ErrOrStderr(), "mcpkiln: the reference is printed, but not kept:", err)
	}
	v.unused = "nothing that it fits was asked before the task began; see what the task asks, and how to answer it" + v.followHint("get")
	if err := v.printRef(ref); err != nil {
		fmt.Fprintln(v.cmd.ErrOrStderr(), "mcpkiln: the task goes on"+v.followHint("get"))
		return err
	}
	return nil
}

// resumable returns an error, with the flags that would help, if no other command could follow a call of the tool.
func (v *visit) resumable(tool string) error {
	err := v.session.Resumable(v.ctx, tool, v.durable)
	var no *client.NotResumableError
	if !errors.As(err, &no) {
		return err
	}
	remedy := no.Remedy
	switch {
	case no.Store:
		remedy = "reach it over HTTP, or say with --durable that it keeps its tasks in a durable store"
	case no.Identity:
		remedy = "send a token that the server knows you by, from " + target.TokenVariable + " in the environment or by --header"
		if v.revision != "" {
			remedy += "; or leave --revision out: 2026-07-28 has no sessions, and whoever has the reference follows the task"
		}
	}
	return refused(fmt.Errorf("--detach: %s: %s (nothing was called)", no.Why, remedy))
}

// printRef prints a reference on one line.
func (v *visit) printRef(ref client.Ref) error {
	text, err := json.Marshal(ref)
	if err != nil {
		return err
	}
	return printJSON(v.cmd.OutOrStdout(), text)
}
