package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcpkiln/mcpkiln/cmd/mcpkiln/internal/argument"
	"github.com/mcpkiln/mcpkiln/cmd/mcpkiln/internal/plain"
	"github.com/mcpkiln/mcpkiln/cmd/mcpkiln/internal/target"
	"github.com/mcpkiln/mcpkiln/runtime/client"
	"github.com/mcpkiln/mcpkiln/runtime/task"
)

func newCall() *cobra.Command {
	var c caller
	cmd := &cobra.Command{
		Use:   "call (TARGET TOOL [ARGUMENT…] | TOOL [ARGUMENT…] -- COMMAND…)",
		Short: "Call a tool of a server",
		Long: strings.TrimSpace(`
call calls one tool and prints its result. TARGET is the address of a server, or the name of an entry in an mcp.json; a server on a pipe
is the command behind --.

An ARGUMENT is name=text, of which a number, a boolean or an item of a list is made where the tool's schema has that; name:=JSON;
@file.json with all of them; or - for standard input. They are held against the schema before the tool is called. A name=text that
the schema does not name is taken for a slip, and refused; name:=JSON is sent.

On a terminal progress is a bar, and a question of the tool a form: ESC declines it. Elsewhere --answer has the answer, or the command
ends with status 6 and prints the question. Ctrl-C cancels the call, and a second one ends the command at once.

A token for a server on HTTP comes from ` + target.TokenVariable + ` in the environment, or from --header.

Exit status: 0 the tool's result, 1 the tool's error, 2 refused before the tool was called, 3 network, 4 not authorized, 5 the server
broke the protocol or its schema, 6 input required, 7 timeout, 8 cancelled by the other side, 130 interrupted.`),
		Example: `  mcpkiln call https://example.com/mcp get_quote symbol=ACME
  mcpkiln call build_report title='Q3' pages:=12 -- ./reports
  mcpkiln call https://example.com/mcp build_report @arguments.json --detach`,
		Args: cobra.ArbitraryArgs,
		RunE: c.run,
	}
	c.register(cmd)
	cmd.ValidArgsFunction = c.complete(toolAndArguments)
	f := cmd.Flags()
	f.StringArrayVar(&c.answers, "answer", nil, "`JSON` object that answers a question, address of a page to agree to, or "+decline+"; each answers the first question that it fits")
	f.BoolVar(&c.detach, "detach", false, "print a reference to the task as soon as there is one, and leave it running: see mcpkiln task")
	f.BoolVar(&c.durable, "durable", false, "the server on a pipe keeps its tasks in a store that outlives it, so that a task can be left running")
	return cmd
}

// caller is one run of the command call.
type caller struct {
	remote
	answers         []string
	detach, durable bool
}

func (c *caller) run(cmd *cobra.Command, args []string) error {
	t, rest, err := c.named(cmd, args)
	switch {
	case err != nil:
		return err
	case len(rest) == 0 && cmd.ArgsLenAtDash() >= 0:
		return refused(errors.New("no tool is named: it stands with its arguments before --, and the command of the server behind it"))
	case len(rest) == 0:
		return refused(errors.New("no tool is named: mcpkiln tools lists those of a server"))
	}
	stdin := cmd.InOrStdin()
	given, err := interruptibly(cmd.Context(), func() (*argument.Given, error) { return argument.Read(rest[1:], stdin) })
	if err != nil {
		return refused(err)
	}
	answers, err := readAnswers(c.answers)
	if err != nil {
		return refused(err)
	}
	return c.visit(cmd, t, answers, func(v *visit) error {
		v.durable = c.durable
		all, err := v.tools()
		if err != nil {
			return err
		}
		one, err := v.find(all, rest[0])
		if err != nil {
			return err
		}
		in, err := v.arguments(one, given)
		if err != nil {
			return refused(err)
		}
		if c.detach {
			return v.detach(one, in)
		}
		return v.call(one, in)
	})
}

// arguments returns the arguments of a call, validated by the tool's schema.
func (v *visit) arguments(t *tool, given *argument.Given) (json.RawMessage, error) {
	if err := given.Known("argument", t.InputSchema); err != nil {
		return nil, fmt.Errorf("%s has %w", t.Name, err)
	}
	in, err := given.Object(t.InputSchema)
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithTimeout(v.ctx, v.checkTime())
	defer stop()
	all, err := v.check(ctx, t.InputSchema, in, "the arguments of "+t.Name+" are sent unchecked: its inputSchema")
	if err != nil {
		return nil, fmt.Errorf("the inputSchema of %s can not be read, so no arguments can be held against it: %w", t.Name, err)
	}
	given.Explain(ctx, t.InputSchema, in, all)
	return in, violated("the arguments of "+t.Name+" break its inputSchema", all)
}

// maxCheckTime limits how long a value is validated by a server's schema, which can be written so that validation never ends.
const maxCheckTime = 3 * time.Second

func (v *visit) checkTime() time.Duration { return v.within(maxCheckTime) }

// check returns the violations of a schema by a value. If there is no verdict, because the schema can not be evaluated here or not in time, it warns and
// returns nothing: the server checks, too.
func (v *visit) check(ctx context.Context, schema, value json.RawMessage, unchecked string) ([]argument.Violation, error) {
	all, err := argument.Check(ctx, schema, value)
	why := fmt.Sprintf("gives no verdict within %v", v.checkTime())
	var unable *argument.UncheckableError
	switch {
	case errors.As(err, &unable):
		why = unable.What
	case !errors.Is(err, argument.ErrUndecided):
		return all, err
	case v.ctx.Err() != nil:
		return nil, context.Cause(v.ctx)
	}
	fmt.Fprintf(v.cmd.ErrOrStderr(), "mcpkiln: %s\n", plain.Line(unchecked+" "+why))
	return nil, nil
}

// violated returns an error that lists violations, one a line.
func violated(what string, all []argument.Violation) error {
	if len(all) == 0 {
		return nil
	}
	lines := []string{what + ":"}
	for _, v := range all {
		lines = append(lines, v.String())
	}
	return errors.New(strings.Join(lines, "\n  "))
}

// execution is a call of a tool that may be a task.
type execution = client.Execution[client.ToolResult]

// call calls a tool and prints its result.
func (v *visit) call(one *tool, in json.RawMessage) error {
	opts := []client.CallOption{client.Inline(), client.OnProgress(v.terminal.Progress)}
	resumable := v.session.Resumable(v.ctx, one.Name, v.durable) == nil
	if resumable {
		opts = append(opts, client.LeaveOpen())
	}
	x, err := v.start(one, in, one.Execution.TaskSupport == "required", opts...)
	if err != nil {
		return ofTool(one, err)
	}
	if ref, ok := refOf(x, one); ok && resumable {
		v.mu.Lock()
		v.ref, v.ttl = &ref, ttlOf(x)
		v.mu.Unlock()
	}
	result, err := v.await(x)
	if err != nil {
		v.cancel(x)
		return v.withRef(err)
	}
	v.terminal.Done()
	return v.print(one, result)
}

// refOf returns the reference of a call that is a task, with the schemas that its tool has now.
func refOf(x *execution, one *tool) (client.Ref, bool) {
	ref, ok := x.Ref()
	ref.Schema = client.SchemaHash(one.raw)
	return ref, ok
}

// ttlOf returns how long the server keeps the task of a call; 0 or less if it does not say.
func ttlOf(x *execution) time.Duration {
	for state := range x.Updates(context.Background()) {
		return state.TTL
	}
	return 0
}

// ofTool names the tool in the error of a call that timed out: any request of the command can time out.
func ofTool(one *tool, err error) error {
	var cause *client.Cause
	if errors.As(err, &cause) && errors.Is(cause, context.DeadlineExceeded) && cause.Reason != "" {
		return &statusError{exitTimeout, fmt.Errorf("%s was %s\n  %s", plain.Line(one.Name), cause.Reason, timeoutHelp)}
	}
	return err
}

// withRef adds to an error that does not say how the task ended how another command can follow it: the server may be gone only for a while, or want
// another token.
func (v *visit) withRef(err error) error {
	var ended *client.TaskError
	if v.ref == nil || v.ctx.Err() != nil || errors.As(err, new(*client.ExpiredError)) {
		return err
	}
	why, next := err, ""
	switch stated := errors.As(err, &ended); {
	case errors.As(err, new(*client.ProtocolError)) && (!stated || over(ended.State)): // another command reads no other result
		next = "\n  the task is over, and no result can be read; what the server says of it" + v.followHint("get")
	case !stated || !over(ended.State):
		next = "\n  the task may go on" + v.followHint("wait")
	case final(ended):
		return err
	default:
		next = "\n  the task is over: its result" + v.followHint("result")
	}
	if ended != nil && ended.Err != nil {
		why = ended.Err
	}
	status, help := v.statusOf(err)
	if help != "" {
		next = "\n  " + help + next
	}
	return &statusError{status, errors.New(describe(why) + next)}
}

// final returns whether a task has ended with this error: no command can read more.
func final(ended *client.TaskError) bool {
	return over(ended.State) && (ended.State.Status == task.Cancelled || ended.Err == nil || errors.As(ended.Err, new(*client.Error)))
}

// await waits for the result of a call that may be a task.
func (v *visit) await(x *execution) (*client.ToolResult, error) {
	if _, ok := x.Ref(); ok {
		v.clock.start(v.timeout, func() {
			v.end(&statusError{exitTimeout, fmt.Errorf("the task was not over after %v", v.timeout)})
		})
		for state := range x.Updates(v.ctx) {
			v.showState(state)
		}
	}
	return x.Result(v.ctx)
}

// showState shows the state of a task that is waited for. Once the task asks nothing, its clock goes on.
func (v *visit) showState(state client.TaskState) {
	v.terminal.Status(cmp.Or(state.Message, "the task is "+string(state.Status)))
	v.mu.Lock()
	defer v.mu.Unlock()
	if state.Status != task.InputRequired && v.resumeClock != nil {
		v.resumeClock()
		v.resumeClock = nil
	}
}

// followHint returns the command that follows the task of the visit, to go after its outcome; "" if none can.
func (v *visit) followHint(command string) string {
	if v.ref == nil {
		return ""
	}
	return ": mcpkiln task " + command + " " + keepRef(*v.ref, v.ttl) + v.again(*v.ref, "")
}

// again returns how a command about a task names its server, where the reference alone does not do: by the entry of an mcp.json that this command was given, after
// flag ("" where the name is an argument), or by its command.
func (v *visit) again(ref client.Ref, flag string) string {
	switch {
	case v.entry != "" && v.config != "":
		return " " + flag + shellWord(v.entry) + " --config " + shellWord(v.config)
	case v.entry != "":
		return " " + flag + shellWord(v.entry)
	case !isAddress(ref.Endpoint):
		return " -- COMMAND"
	}
	return ""
}
