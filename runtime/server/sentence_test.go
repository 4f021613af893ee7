package server

// Sentences of the specification that no rule of the ledger covers by itself; testdata/traceability/sentences names them.

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/mcpkiln/mcpkiln/runtime/task"
)

func TestCAN15QuestionsHaveIDsOfTheirOwn(t *testing.T) {
	c := newFixture(t, []Tool{tool("wizard", plain(func(ctx context.Context, call *Call) (*echoOutput, error) {
		for _, name := range []string{"first", "second", "third"} {
			q := confirmQuestion()
			q.Name = name
			if _, err := Ask(ctx, call, q, ""); err != nil {
				return nil, err
			}
		}
		return &echoOutput{}, nil
	}))}).dialTasks("")
	var seen []string
	for _, id := range []string{"1", "2"} {
		c.call(id, "wizard", `{}`)
		for range 3 {
			q := c.nextRequest()
			if q.Method != elicit || slices.Contains(seen, string(q.ID)) || string(q.ID) == "null" {
				t.Errorf("%s after %v", q.raw, seen)
			}
			seen = append(seen, string(q.ID))
			c.reply(q, accepted)
		}
		if m, _ := c.answer(id); m.Error != nil {
			t.Error(m.raw)
		}
	}
}

// TestEXT18SessionsAreAskedForWhatTheyDeclared: in a session, too, a handler learns that the client can not be asked, and the
// client learns nothing.
func TestEXT18SessionsAreAskedForWhatTheyDeclared(t *testing.T) {
	f := dual(t, Definition{Tools: []Tool{tool("many", plain(func(ctx context.Context, call *Call) (*echoOutput, error) {
		_, model := Send(ctx, call, &sampling, "model", &noInput{})
		_, list := Send(ctx, call, &roots, "roots", &noInput{})
		if !errors.Is(model, ErrUnsupported) || !errors.Is(list, ErrUnsupported) {
			t.Errorf("%v, %v", model, list)
		}
		return &echoOutput{}, nil
	}))}})
	for _, capabilities := range []string{`{}`, `{"elicitation":{}}`} {
		c := f.dial(t.Context())
		c.initialize(capabilities)
		c.call("1", "many", `{}`)
		if m, before := c.answer("1"); m.Error != nil || len(before) != 0 {
			t.Errorf("%s: %v before %s", capabilities, before, m.raw)
		}
	}
}

func TestVAL02ParamsOfMethodsAreChecked(t *testing.T) {
	ran := 0
	f := dual(t, Definition{Methods: []MethodHandler{BindMethod("prompts/get", func(context.Context, *Call, *echoInput) (*rawResult, error) {
		ran++
		return nil, errors.New("a secret of the server")
	}, MethodCodec[echoInput, rawResult]{Decode: decodeEchoInput, Append: appendRawResult})}})
	c := f.dial(t.Context())
	c.initialize(`{}`)
	for _, params := range []string{`{}`, `{"text":5}`, `{"text":"x","count":10}`} {
		c.request("1", "prompts/get", params).wantError(t, -32602)
	}
	if ran != 0 {
		t.Error("bad params reached the handler")
	}
	if m := c.request("2", "prompts/get", `{"text":"x"}`); m.Error == nil || m.Error.Code != -32603 || strings.Contains(m.raw, "secret") {
		t.Error(m.raw)
	}
}

// TestLogMessagesNeedTheRequestsLevel: a stateless request that names no level gets no log messages, and nobody else gets those of
// one that does.
func TestLogMessagesNeedTheRequestsLevel(t *testing.T) {
	f := dual(t, Definition{Tools: []Tool{tool("log", plain(func(ctx context.Context, call *Call) (*echoOutput, error) {
		call.LogMessage(ctx, LevelEmergency, "l", "d")
		return &echoOutput{}, nil
	}))}})
	l, _ := f.listen(t.Context(), nothing, `{"toolsListChanged":true}`)
	for meta, want := range map[string]int{``: 0, `"io.modelcontextprotocol/logLevel":"debug"`: 1} {
		frames, _ := f.exchange(t.Context(), frameWith(1, "tools/call", nothing, callParams("log", `{}`), meta))
		if len(frames) != want+1 || want == 1 && frames[0].Method != "notifications/message" || frames[want].str("result", "resultType") != "complete" {
			t.Errorf("%s: %v", meta, frames)
		}
	}
	l.cancel()
	<-l.done
	if len(l.frames) != 0 {
		t.Errorf("told to a subscription: %v", l.frames)
	}
}

func TestEXT13ChangesOfEveryListAreTold(t *testing.T) {
	lists := []Outgoing{{Op: OpPromptsChanged, Name: "notifications/prompts/list_changed"}, {Op: OpResourcesChanged, Name: "notifications/resources/list_changed"}}
	session, stateless := fullWire20251125(), wire20260728()
	session.Outgoing, stateless.Outgoing = append(session.Outgoing, lists...), append(stateless.Outgoing, lists...)
	srv, err := New(Definition{Runtime: Generation1, Methods: prompts(), Wires: []*Wire{session, stateless}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = srv.Shutdown(context.Background()) })
	f := &fixture{t: t, srv: srv}
	l, _ := f.listen(t.Context(), nothing, `{"promptsListChanged":true,"resourcesListChanged":true}`)
	c := f.dial(t.Context())
	c.initialize(`{}`)
	for i, change := range []func(){srv.PromptsChanged, srv.ResourcesChanged} {
		change()
		if m := l.take(); m.Method != lists[i].Name || m.subscription() != "77" {
			t.Error(m.raw)
		}
		if m := c.next(); m.Method != lists[i].Name || m.field("id") != "" {
			t.Error(m.raw)
		}
	}
}

// TestEXT20WhatIsReadSaysHowLongItMayBeKept: also results of handlers that say nothing of it themselves.
func TestEXT20WhatIsReadSaysHowLongItMayBeKept(t *testing.T) {
	f := dual(t, Definition{Methods: []MethodHandler{BindMethod("resources/read", func(context.Context, *Call, *noInput) (*rawResult, error) {
		return &rawResult{`{"contents":[]}`}, nil
	}, MethodCodec[noInput, rawResult]{Decode: decodeNoInput, Append: appendRawResult})}})
	m := f.ask(t.Context(), frame(1, "resources/read", nothing, `"uri":"test://x"`))
	if m.field("result", "ttlMs") != "0" || m.str("result", "cacheScope") != "private" {
		t.Error(m.raw)
	}
}

func TestEXT07AFailedTaskSaysWhy(t *testing.T) {
	f := dual(t, Definition{Tools: jobs(newHold())})
	m := f.await(t.Context(), f.create(t.Context(), "coded", `{}`, withTasks), task.Failed)
	if m.str("result", "statusMessage") == "" || m.str("result", "statusMessage") != m.str("result", "error", "message") {
		t.Error(m.raw)
	}
}
