package server

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/task"
)

// twice is a tool that asks two questions, the first with this message.
func twice(message string) Tool {
	return tool("ask", plain(func(ctx context.Context, call *Call) (*echoOutput, error) {
		first, second := confirmQuestion(), confirmQuestion()
		first.Timeout, second.Name, second.Timeout = time.Hour, "second", time.Hour
		if _, err := Ask(ctx, call, first, message); err != nil {
			return nil, err
		}
		_, err := Ask(ctx, call, second, "")
		return &echoOutput{"done"}, err
	}), withTask(TaskOptional))
}

// A task that has asked a question which the server now asks in other words says so when its handler runs again, answered or not, and so does one for whose
// question there is a step now.
func TestTSK29ATaskSaysThatItsQuestionHasChanged(t *testing.T) {
	const want = `the server's question \"confirm\" has changed since this task began; start the task again`
	for name, c := range map[string]struct {
		answered bool
		next     func() Tool
	}{
		"open":     {false, func() Tool { return twice("Really overwrite?") }},
		"answered": {true, func() Tool { return twice("Really overwrite?") }},
		"a step now": {true, func() Tool {
			return tool("ask", plain(func(ctx context.Context, call *Call) (*echoOutput, error) {
				_, err := Do(ctx, call, "confirm", give("done"))
				return &echoOutput{}, err
			}), withTask(TaskOptional))
		}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := WithTaskStore(durable{task.NewMemory()})
				f := dual(t, Definition{Tools: []Tool{twice("")}}, store)
				id := f.create(t.Context(), "ask", `{}`, tasksAsks)
				answer := func(question string) {
					synctest.Wait()
					f.ask(t.Context(), frame(1, "tasks/update", tasksAsks, byID(id)+`,"inputResponses":{"`+question+`":`+accepted+`}`)).wantNoError(t)
					synctest.Wait()
				}
				if c.answered {
					answer("confirm")
				}
				synctest.Wait()
				_ = f.srv.Shutdown(t.Context())
				f = dual(t, Definition{Tools: []Tool{c.next()}}, store)
				if c.answered {
					answer("second")
				} else {
					answer("confirm")
				}
				m := f.get(t.Context(), id)
				if m.str("result", "status") != "failed" || !strings.Contains(m.field("result", "error"), `-32603`) || !strings.Contains(m.field("result", "error"), want) {
					t.Error(m.raw)
				}
				_ = f.srv.Shutdown(t.Context())
			})
		})
	}
}

// A requestState with the answer to a question that the server now asks in other words is refused, as others that are of no use are: the client calls again
// without it.
func TestTSK29ARetryIsToldThatItsQuestionHasChanged(t *testing.T) {
	const want = `requestState: the server's question "confirm" has changed since the call began: call again without it`
	key := WithSealKeys([]byte("a key of 16 bytes"))
	f := dual(t, Definition{Tools: []Tool{twice("")}}, key)
	_, _, state := f.try(t.Context(), forms, "ask", `{}`, "")
	_, _, state = f.try(t.Context(), forms, "ask", `{}`, answering(state, `{"confirm":`+accepted+`}`))
	retry := answering(state, `{"second":`+accepted+`}`)
	f = dual(t, Definition{Tools: []Tool{twice("Really overwrite?")}}, key)
	m, _, _ := f.try(t.Context(), forms, "ask", `{}`, retry)
	m.wantError(t, -32602, want)
	if !strings.Contains(m.raw, `"violations":["/requestState: the server's question`) {
		t.Error(m.raw)
	}
	if _, keys, _ := f.try(t.Context(), forms, "ask", `{}`, ""); len(keys) != 1 {
		t.Error("the call without the state does not ask")
	}
	// Before there is a task.
	early := twice("")
	q := confirmQuestion()
	q.Message = "Really overwrite?"
	early.Before = []BeforeQuestion{q.Before()}
	f = dual(t, Definition{Tools: []Tool{early}}, key)
	m, _, _ = f.try(t.Context(), tasksAsks, "ask", `{}`, retry)
	m.wantError(t, -32602, want)
}

// So is that of a prompt.
func TestTSK29APromptIsToldThatItsQuestionHasChanged(t *testing.T) {
	key := WithSealKeys([]byte("a key of 16 bytes"))
	serve := func(message string) *fixture {
		codec := MethodCodec[noInput, rawResult]{Decode: decodeNoInput, Append: appendRawResult}
		return dual(t, Definition{Methods: []MethodHandler{BindMethod("prompts/get", func(ctx context.Context, call *Call, _ *noInput) (*rawResult, error) {
			second := confirmQuestion()
			second.Name = "second"
			if _, err := Ask(ctx, call, confirmQuestion(), message); err != nil {
				return nil, err
			}
			_, err := Ask(ctx, call, second, "")
			return &rawResult{`{"messages":[]}`}, err
		}, codec)}}, key)
	}
	f, more := serve(""), ""
	for _, question := range []string{"confirm", "second"} {
		m := f.ask(t.Context(), frame(1, "prompts/get", forms, `"name":"p"`+more))
		more = "," + answering(m.str("result", "requestState"), `{"`+question+`":`+accepted+`}`)
	}
	m := serve("Really overwrite?").ask(t.Context(), frame(1, "prompts/get", forms, `"name":"p"`+more))
	m.wantError(t, -32602, `requestState: the server's question "confirm" has changed since the call began: call again without it`)
}
