package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/mcpkiln/mcpkiln/runtime/check"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/task"
	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

// Start calls a tool, as a task where the server and the tool allow it, and returns when there is a result or a task. ctx is only for
// that: when it ends before, the call is given up.
func (s *Session) Start(ctx context.Context, name string, args any, opts ...CallOption) (*Execution[ToolResult], error) {
	encoded, err := arguments(name, args)
	if err != nil {
		return nil, err
	}
	x, err := s.startTool(ctx, name, encoded, opts)
	if err != nil {
		return nil, err
	}
	return untyped(x), nil
}

// CallTool calls a tool and waits for its result. args is nil, a json.RawMessage, or anything that json.Marshal encodes as an object. In
// every revision the tool's questions are answered by the session's handlers; if it runs as a task, that is followed to its end, and
// cancelled when ctx ends. The errors are *Cause, *Error, *TaskError, *TransportError, *StatusError, *ProtocolError, *NotOfferedError and
// ErrClosed, and that of arguments that are no object; a result with IsError is not an error.
func (s *Session) CallTool(ctx context.Context, name string, args any, opts ...CallOption) (*ToolResult, error) {
	encoded, err := arguments(name, args)
	if err != nil {
		return nil, err
	}
	result, err := s.callTool(ctx, name, encoded, opts)
	if err != nil {
		return nil, err
	}
	return &result, nil
}

// startTool is Start with arguments that are an object, or nil.
func (s *Session) startTool(ctx context.Context, name string, args json.RawMessage, opts []CallOption) (*execution, error) {
	answer, x, err := s.start(ctx, name, args, opts, false)
	switch {
	case err != nil:
		return nil, err
	case x == nil:
		return answeredAtOnce(answer), nil
	}
	x.passInBackground()
	return x, nil
}

func arguments(tool string, args any) (json.RawMessage, error) {
	encoded, err := object(args)
	if err != nil {
		return nil, fmt.Errorf("client: arguments of %s: %w", tool, err)
	}
	return encoded, nil
}

// callTool is CallTool with arguments that are an object, or nil.
func (s *Session) callTool(ctx context.Context, name string, args json.RawMessage, opts []CallOption) (ToolResult, error) {
	answer, x, err := s.start(ctx, name, args, opts, true)
	if err != nil {
		return answer, err
	}
	if x == nil {
		return answer, nil
	}
	return x.awaitInTime(ctx)
}

// start calls a tool. It returns the tool's result, or the task that the call has become. awaited: the caller is CallTool, and has to call awaitInTime.
func (s *Session) start(ctx context.Context, name string, args json.RawMessage, opts []CallOption, awaited bool) (ToolResult, *execution, error) {
	c, err := s.newCall(wire.OpCallTool, opts)
	if err != nil {
		return ToolResult{}, nil, err
	}
	if err := nameError("name of the tool", name); err != nil {
		return ToolResult{}, nil, err
	}
	c.tool, c.awaited = name, awaited
	v := c.values()
	v[wire.SlotName] = check.AppendString(c.scratch[:0:len(c.scratch)/2], name) // the other half is for the first token: newRound
	v[wire.SlotArguments] = args
	if c.mayBeTask, err = c.asTask(ctx, v); err != nil {
		return ToolResult{}, nil, err
	}
	c.begin()
	defer c.end()
	result, kind, err := c.send(ctx, v)
	if err != nil && c.mayHaveChanged(err) {
		result, kind, err = c.sendChanged(ctx, v, err)
	}
	if err != nil {
		return ToolResult{}, nil, err
	}
	release(v) // only here, since calls that fail are few
	return s.outcome(c, result, kind)
}

// mayHaveChanged reports whether err may mean that what is known of the tool is wrong: it always runs as a task, or never.
func (c *call) mayHaveChanged(err error) bool {
	var refused *Error
	return c.mayAskForTask() && errors.As(err, &refused) && refused.Code == rpc.CodeMethodNotFound
}

// sendChanged reads the list of tools anew, and sends the refused call again if that decides otherwise whether it asks for a task. Otherwise it returns
// refused, or the *Cause by which the call, or the reading of the list, has ended meanwhile (CAN15).
func (c *call) sendChanged(ctx context.Context, v *wire.Values, refused error) (result []byte, kind resultKind, err error) {
	var cause *Cause
	if err := c.between(ctx, c.learnAgain); errors.As(err, &cause) {
		return nil, 0, err
	}
	asked := v.Has(wire.SlotTask)
	if _, known := c.s.tools.get(c.tool); !known {
		return nil, 0, refused
	}
	v[wire.SlotTask] = nil
	mayBeTask, err := c.asTask(ctx, v)
	if err != nil {
		return nil, 0, err
	}
	c.s.mu.Lock()
	c.mayBeTask = mayBeTask
	c.s.mu.Unlock()
	if v.Has(wire.SlotTask) == asked {
		return nil, 0, refused
	}
	return c.send(ctx, v)
}

// learnAgain has the list of tools read anew. Each request for a page has the timeout of the call, and all together have what is left of the call's
// maximum (CAN16).
func (c *call) learnAgain(ctx context.Context) error {
	return c.s.learnAgain(ctx, Timeout(c.timeout, c.maxTime), after(c.spent))
}

// mayAskForTask reports whether a call may ask for a task, as in 2025-11-25. Where the server decides (server.tasks), it need not.
func (c *call) mayAskForTask() bool { return c.s.server.taskCalls }

// Values of a tool's taskSupport. Any other means that it never runs as a task.
const (
	supportRequired = "required"
	supportOptional = "optional"
)

// asTask adds the parameter that asks for a task, where the revision has it and the tool may run as one. It reports whether the call may become a task. What
// CallTool calls, or Start inline, does only if the tool always runs as one.
func (c *call) asTask(ctx context.Context, v *wire.Values) (mayBeTask bool, err error) {
	s, onlyIfRequired := c.s, c.awaited || c.inline
	if !c.mayAskForTask() {
		return s.server.tasks, nil
	}
	known, ok := s.tools.get(c.tool)
	if !ok && !onlyIfRequired {
		clock, side := startSideClock(ctx, 0, nil)
		err := c.learnAgain(side)
		c.spent += clock.stop()
		if err != nil {
			return false, err
		}
		known, _ = s.tools.get(c.tool)
	}
	if known.support != supportRequired && (onlyIfRequired || known.support != supportOptional) {
		return s.server.tasks, nil
	}
	var params wire.Values
	if c.ttl > 0 {
		params[wire.SlotTTL] = wire.MillisOf(c.ttl).AppendJSON(nil)
	}
	v[wire.SlotTask], err = c.dialect.TaskParams.Append(nil, &params, nil)
	return true, err
}

// send sends a call of a tool, and once more if the server refuses its headers: the tool may declare other ones by now.
func (c *call) send(ctx context.Context, v *wire.Values) (result []byte, kind resultKind, err error) {
	for again := false; ; again = true {
		if c.dialect.HTTP.ParamPrefix != "" && !c.s.link.shared() {
			known, _ := c.s.tools.get(c.tool)
			if known.invalid != "" {
				return nil, 0, c.notCallable(known.invalid)
			}
			c.params = known.params
		}
		result, kind, err = c.rounds(ctx, v, c.callerMeta())
		if err == nil {
			return result, kind, nil
		}
		var refused *Error
		if again || !errors.As(err, &refused) || refused.Code != c.dialect.Codes.HeaderMismatch || refused.Code == 0 {
			return result, kind, err
		}
		if err := c.between(ctx, c.learnAgain); err != nil {
			return nil, 0, err
		}
	}
}

// notCallable returns the error of a call that is not sent, because the list has left its tool out.
func (c *call) notCallable(why string) error {
	list := c.dialect.Call(wire.OpListTools).Name
	return &RemedyError{broken(list, "tool %q can not be called over HTTP in revision %s, and was left out: %s", c.tool, c.dialect.Version, why), MendDefinition}
}

// maxTaskID is how long the id of a task may be, in bytes (VAL07): it stands in errors, references and HTTP headers.
const maxTaskID = 4096

// outcome returns the result of a call, or the task that it has become, which is followed from now on.
func (s *Session) outcome(c *call, result []byte, kind resultKind) (ToolResult, *execution, error) {
	if c.mayBeTask && (kind == taskCreated || c.dialect.Task.ClientDecides) {
		v, err := c.read(c.dialect.TaskCreated, result)
		switch {
		case err != nil:
			return ToolResult{}, nil, err
		case kind == taskCreated && !v.Has(wire.SlotTaskID) || v.Has(wire.SlotTaskID) && v.Text(wire.SlotTaskID) == "":
			return ToolResult{}, nil, broken(c.op.Name, "the task has no id")
		case len(v.Text(wire.SlotTaskID)) > maxTaskID:
			err := broken(c.op.Name, "the id of the task has %d bytes, and %d are the most: the server is asked to cancel it", len(v.Text(wire.SlotTaskID)), maxTaskID)
			s.newFollower(c.dialect, c.tool, readState(v, v.Text(wire.SlotTaskID))).abandon(ending{err: err})
			return ToolResult{}, nil, err
		case v.Has(wire.SlotTaskID):
			x, err := s.follow(c, v)
			return ToolResult{}, x, err
		}
	}
	r, err := c.toolResult(result)
	if err != nil {
		err = s.unaskedTask(c, result, err)
	}
	return r, nil, err
}

// unaskedTask returns the error of a call whose result is none because of bad. If the server has made the call a task that it has not asked for, the error says
// that, and the task is cancelled, because nobody waits for it (CAN11).
func (s *Session) unaskedTask(c *call, result []byte, bad error) error {
	if c.mayBeTask || !c.dialect.Task.ClientDecides {
		return bad
	}
	v, err := c.read(c.dialect.TaskCreated, result)
	if err != nil || v.Text(wire.SlotTaskID) == "" {
		return bad
	}
	id := v.Text(wire.SlotTaskID)
	err = broken(c.op.Name, "the call has become task %.80q, which it has not asked for: the server is asked to cancel that, if it can", id)
	s.newFollower(c.dialect, c.tool, readState(v, id)).abandon(ending{err: err})
	return err
}

// follow begins to follow the task that a call has become.
func (s *Session) follow(c *call, v *wire.Values) (*execution, error) {
	state := readState(v, v.Text(wire.SlotTaskID))
	if !knownStatus(state.Status) { // what tasks/get says of it decides
		s.cfg.logger.Warn("a new task has an unknown status, and counts as working until its state is read", "task", state.ID, "status", rpc.Printable(string(state.Status)))
		state.Status = task.Working
	}
	x := newExecution(s.newFollower(c.dialect, c.tool, state), c.round.entry.ID())
	x.leavesOpen = c.leavesOpen
	c.mu.Lock()
	x.progress, x.reports = c.progress, c.round.reports // its token stays, so its progress goes on
	c.mu.Unlock()
	x.maxTime, x.timeLeft = c.maxTime, c.maxTime-c.spent
	if err := x.begin(); err != nil {
		return nil, err
	}
	x.update(state)
	cause := c.giveUpCause()
	if c.awaited && s.addAwaited(x) && cause == nil {
		cause = closedCause()
	}
	if cause != nil {
		x.giveUp(cause)
		return nil, cause
	}
	return x, nil
}
