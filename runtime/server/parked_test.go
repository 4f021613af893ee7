package server

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/task"
)

// reportingAsker reports progress, asks, and reports more. ran gets the number of each run.
func reportingAsker(ran func()) Tool {
	return tool("ask", plain(func(ctx context.Context, call *Call) (*echoOutput, error) {
		ran()
		call.Progress(ctx, 1, 3, "begun")
		call.Progress(ctx, 2, 3, "asking")
		q := confirmQuestion()
		q.Timeout = time.Hour
		a, err := Ask(ctx, call, q, "")
		if err != nil {
			return nil, err
		}
		call.Progress(ctx, 3, 3, "answered")
		return &echoOutput{string(a.Action)}, nil
	}), withTask(TaskOptional))
}

// A session's task goes on in it after it was parked: its progress continues where it was, and the question is asked once.
func TestPRO03AParkedTaskKeepsItsTokenAndItsValuesGrow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		runs := 0
		f := newFixture(t, []Tool{reportingAsker(func() { runs++ })}, WithTaskStore(durable{task.NewMemory()}), WithParkAfter(time.Minute))
		c := f.dialTasks("ada")
		c.sendf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ask","arguments":{},"task":{},"_meta":{"progressToken":"p"}}}`)
		question := c.nextRequest()
		time.Sleep(10 * time.Minute)
		if running := c.srv.RunningTasks(); len(running) != 0 {
			t.Fatalf("%+v", running)
		}
		c.reply(question, accepted)
		synctest.Wait()
		var progress []string
		asked := 0
		for _, m := range c.fence() {
			switch m.Method {
			case "notifications/progress":
				progress = append(progress, m.field("params", "progress"))
			case "elicitation/create":
				asked++
			}
		}
		if runs != 2 || asked != 0 || !slices.Equal(progress, []string{"3"}) {
			t.Errorf("%d runs, asked %d times more, progress %v", runs, asked, progress)
		}
		c.close()
		_ = f.srv.Shutdown(t.Context())
	})
}

// What is no answer is refused as long as the question is open, whether or not a handler waits for it in this process (EXT10).
func TestEXT10AnAnswerToAParkedQuestionIsValidated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		runs := 0
		var l trail
		store := WithTaskStore(durable{task.NewMemory()})
		asks := func() Definition { return Definition{Tools: []Tool{reportingAsker(func() { runs++ })}} }
		f, other := dual(t, asks(), store, WithObserver(l.observe)), dual(t, asks(), store)
		id := f.create(t.Context(), "ask", `{}`, tasksAsks)
		update := func(f *fixture, answer string) message {
			return f.ask(t.Context(), frame(1, "tasks/update", tasksAsks, byID(id)+`,"inputResponses":{"confirm":`+answer+`}`))
		}
		const wrong = `{"action":"accept","content":{"overwrite":"yes"}}`
		synctest.Wait()
		update(f, wrong).wantError(t, -32602)
		update(other, wrong).wantError(t, -32602)
		update(other, `{"action":"accept","content":{"overwrite":"yes"},"Action":"decline"}`).wantError(t, -32602)
		time.Sleep(time.Minute)
		update(f, wrong).wantError(t, -32602)
		update(other, `{"action":"accept","content":{}}`).wantError(t, -32602)
		synctest.Wait()
		if runs != 1 {
			t.Errorf("%d runs", runs)
		}
		update(other, accepted).wantNoError(t)
		synctest.Wait()
		if m := f.await(t.Context(), id, task.Completed); runs != 2 || m.str("result", "result", "structuredContent", "text") != "accept" {
			t.Errorf("%d runs: %s", runs, m.raw)
		}
		l.mu.Lock()
		if ended := strings.Join(l.lines, "\n"); !strings.Contains(ended, "run ended ask asked after 30s") {
			t.Error(ended)
		}
		l.mu.Unlock()
		_, _ = f.srv.Shutdown(t.Context()), other.srv.Shutdown(t.Context())
	})
}
