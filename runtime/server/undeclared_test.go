package server

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/mcpkiln/mcpkiln/runtime/task"
	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

// DUR05, EXT18: an answer counts, whether it was recorded or comes with the retry, also when the retry does not declare the capability again. What such a
// question has instead of an answer is for a question that would have to be sent.
func TestDUR05EXT18AnAnswerNeedsNoCapability(t *testing.T) {
	for unsupported, fallback := range map[OnUnsupported]string{Decline: "decline false false", UseDefault: "accept true false"} {
		q := confirmQuestion()
		q.OnUnsupported = unsupported
		f := dual(t, Definition{Tools: []Tool{asker(q)}})
		_, _, state := f.try(t.Context(), forms, "ask", `{}`, "")
		for responses, want := range map[string]string{`{"confirm":` + accepted + `}`: "accept true true", `{}`: fallback, `{"other":5}`: fallback} {
			if m, _, _ := f.try(t.Context(), nothing, "ask", `{}`, answering(state, responses)); m.str("result", "structuredContent", "text") != want {
				t.Errorf("%s: %s, want %s", responses, m.raw, want)
			}
		}
		m, _, _ := f.try(t.Context(), nothing, "ask", `{}`, answering(state, `{"confirm":5}`)) // the client can not be asked again
		m.wantError(t, -32602, `invalid inputResponses: answer to "confirm": (root): type: found 5`)
	}
}

// The same of answers that earlier runs recorded, inline and in a task.
func TestDUR05EXT18ARecordedAnswerNeedsNoCapability(t *testing.T) {
	for _, caps := range []string{nothing, withTasks} {
		synctest.Test(t, func(t *testing.T) {
			var runs, steps atomic.Int64
			wizard := wizard(&runs, &steps)
			wizard.Task.Support = TaskOptional
			f := dual(t, Definition{Tools: []Tool{wizard}}, WithGather(0))
			_, _, state := f.try(t.Context(), forms, "wizard", `{}`, "")
			for _, name := range []string{"first", "second"} {
				_, _, state = f.try(t.Context(), forms, "wizard", `{}`, answering(state, `{"`+name+`":`+accepted+`}`))
			}
			end := func(responses string) message {
				m, _, _ := f.try(t.Context(), caps, "wizard", `{}`, answering(state, responses))
				if caps == withTasks {
					id := m.str("result", "taskId")
					synctest.Wait()
					m = f.get(t.Context(), id)
				}
				return m
			}
			if m := end(`{"third":` + accepted + `}`); m.field("result", "structuredContent") == "" && m.field("result", "result", "structuredContent") == "" {
				t.Errorf("%s: %s", caps, m.raw)
			}
			m := end(`{}`)
			if caps == withTasks && m.field("result", "error", "code") != "-32021" || caps == nothing && m.field("error", "code") != "-32021" {
				t.Errorf("%s: the third question can not be sent: %s", caps, m.raw)
			}
			_ = f.srv.Shutdown(t.Context())
		})
	}
}

// The same of what is asked before there is a task.
func TestDUR05EXT18AnAnswerBeforeATaskNeedsNoCapability(t *testing.T) {
	q := confirmQuestion()
	early := tool("early", plain(func(ctx context.Context, call *Call) (*echoOutput, error) {
		a, err := Ask(ctx, call, q, "")
		return &echoOutput{string(a.Action)}, err
	}), withTask(TaskRequired), func(t *Tool) { t.Before = []BeforeQuestion{q.Before()} })
	f := dual(t, Definition{Tools: []Tool{early}})
	_, _, state := f.try(t.Context(), tasksAsks, "early", `{}`, "")
	m, _, _ := f.try(t.Context(), withTasks, "early", `{}`, answering(state, `{"confirm":`+accepted+`}`))
	if got := f.await(t.Context(), m.str("result", "taskId"), task.Completed); got.str("result", "result", "structuredContent", "text") != "accept" {
		t.Error(got.raw)
	}
	m, _, _ = f.try(t.Context(), withTasks, "early", `{}`, answering(state, `{"confirm":5}`))
	m.wantError(t, -32602, `invalid inputResponses: answer to "confirm": (root): type: found 5`)
	m, _, _ = f.try(t.Context(), withTasks, "early", `{}`, answering(state, `{}`))
	m.wantError(t, -32021)
}

// The same of requests to the client that are no questions of Ask.
func TestDUR05EXT18AnAnswerToAProgramNeedsNoCapability(t *testing.T) {
	for name, row := range map[string]struct {
		op                         wire.Op
		method, params, caps, with string
	}{
		"sampling": {op: wire.OpCreateMessage, params: `{"messages":[],"maxTokens":5}`, caps: `{"sampling":{}}`, with: `{"text":"right"}`},
		"roots":    {op: wire.OpListRoots, params: `{}`, caps: `{"roots":{}}`, with: `{"text":"right"}`},
		"page":     {op: wire.OpElicit, params: `{"mode":"url","url":"https://a.example/","message":"?"}`, caps: `{"elicitation":{"url":{}}}`, with: `{"text":"right"}`},
		"custom":   {op: wire.OpCustomRequest, method: "rows/choose", params: `{}`, caps: `{"extensions":{"com.example/rows":{}}}`, with: `{"text":"right"}`},
	} {
		request := &ClientRequest[noInput, echoInput]{Op: row.op, Method: row.method, Codecs: []ClientCodec[noInput, echoInput]{{
			Append: func(b []byte, _ *noInput) []byte { return append(b, row.params...) }, Decode: decodeEchoInput,
		}}}
		f := dual(t, customDefinition(nil, nil, tool("ask", plain(func(ctx context.Context, call *Call) (*echoOutput, error) {
			in, err := Send(ctx, call, request, "q", &noInput{})
			if err != nil {
				return nil, err
			}
			return &echoOutput{in.Text}, nil
		}))))
		m, keys, state := f.try(t.Context(), row.caps, "ask", `{}`, "")
		if len(keys) != 1 {
			t.Fatalf("%s: %s", name, m.raw)
		}
		if m, _, _ := f.try(t.Context(), nothing, "ask", `{}`, answering(state, `{"q":`+row.with+`}`)); m.str("result", "structuredContent", "text") != "right" {
			t.Errorf("%s: %s", name, m.raw)
		}
		m, _, _ = f.try(t.Context(), nothing, "ask", `{}`, answering(state, `{}`))
		m.wantError(t, -32021)
	}
}
