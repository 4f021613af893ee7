package server

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/mcpkiln/mcpkiln/runtime/task"
)

// A value that is x-sensitive is not in what the client reads of a wrong call, in no log and no event: as an argument, in an output that
// is wrong, and in one that comes too late.
func TestVAL02SensitiveValuesAreShownNowhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sensitive := func(t *Tool) {
			t.Definition = `{"name":"` + t.Name + `","inputSchema":{"type":"object","properties":{"text":{},"count":{"type":"integer","x-sensitive":true}}},` +
				`"outputSchema":{"type":"object","properties":{"text":{"type":"string","x-sensitive":true}}}}`
		}
		answers := structured(func(ctx context.Context, _ *Call, in *echoInput) (*echoOutput, error) {
			if in.Text == "late" {
				<-ctx.Done()
				return &echoOutput{Text: "hunter2"}, fmt.Errorf("stopped: %w", context.Cause(ctx))
			}
			return &echoOutput{Text: "hunter2" + strings.Repeat("x", 1<<20)}, nil
		})
		var logged syncBuffer
		var l trail
		f := dual(t, Definition{Tools: []Tool{tool("login", answers, sensitive), tool("later", answers, sensitive, withTask(TaskRequired))}},
			WithCallLog(slog.LevelInfo), WithObserver(l.observe), WithLogger(slog.New(slog.NewTextHandler(&logged, &slog.HandlerOptions{Level: slog.LevelDebug}))))
		c := f.dial(as(t, "ada"))
		c.initialize(`{}`)
		c.call("1", "login", `{"text":"a","count":"hunter2"}`)
		answer, _ := c.answer("1")
		refused := string(answer.raw)
		c.call("2", "login", `{"text":"a"}`)
		c.answer("2")
		c.call("3", "login", `{"text":"late"}`)
		synctest.Wait()
		c.cancel("3")
		synctest.Wait()
		id := f.create(as(t, "ada"), "later", `{"text":"a"}`, withTasks)
		f.await(as(t, "ada"), id, task.Failed)
		f.ask(as(t, "ada"), frame(1, "tools/call", withTasks, callParams("later", `{"text":"a","count":"hunter2"}`)))
		_ = f.srv.Shutdown(t.Context())
		f.srv.records.Flush(t.Context())
		synctest.Wait() // the observer is told of the end of the connection
		if !strings.Contains(refused, "/count: type: found a value that is not shown, allowed: an integer") {
			t.Error(refused)
		}
		for _, want := range []string{"a value that is not shown", "partial result of a cancelled call", "not shown: the tool has sensitive values"} {
			if !strings.Contains(logged.String(), want) {
				t.Errorf("%q is not in %s", want, logged.String())
			}
		}
		if all := refused + logged.String() + strings.Join(l.taken(), "\n"); strings.Contains(all, "hunter2") {
			t.Error("the value is in", all)
		}
	})
}

// VAL02: before their tool is known, nothing is shown of arguments that are written as a text or a list, in no log either.
func TestVAL02ArgumentsThatAreNoObjectAreNotShown(t *testing.T) {
	var logged syncBuffer
	f := dual(t, Definition{Tools: []Tool{tool("login", structured(echo))}}, WithCallLog(slog.LevelInfo), WithLogger(slog.New(slog.NewTextHandler(&logged, nil))))
	c := f.dial(t.Context())
	c.initialize(`{}`)
	for arguments, want := range map[string]string{
		`"{\"password\":\"hunter2\"}"`: "found a string, allowed: an object", `"\u0068unter2"`: "found a string, allowed: an object",
		`["hunter2"]`: "found an array, allowed: an object", ` [{"password":"hunter2"}]`: "found an array, allowed: an object",
	} {
		session := c.request("1", "tools/call", `{"name":"login","arguments":`+arguments+`}`)
		stateless := f.ask(t.Context(), frame(1, "tools/call", `{}`, callParams("login", arguments)))
		for _, m := range []message{session, stateless} {
			if m.wantError(t, -32602, "/arguments: type: "+want); strings.Contains(m.raw, "unter2") {
				t.Error(m.raw)
			}
		}
	}
	_ = f.srv.Shutdown(t.Context()) // which writes what is logged
	if strings.Contains(logged.String(), "unter2") || !strings.Contains(logged.String(), "found an array") {
		t.Error(logged.String())
	}
}
