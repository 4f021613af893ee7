package client_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/mcpkiln/mcpkiln/runtime/check"
	"github.com/mcpkiln/mcpkiln/runtime/client"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/server"
)

type confirmation struct{ Yes bool }

var (
	yesOnly = check.Object{Names: []string{"yes"}, Required: []string{"yes"}, AdditionalProperties: check.Refuse}
	confirm = server.Question[confirmation]{
		Name: "confirm", Message: "Really?", Schema: `{"type":"object","properties":{"yes":{"type":"boolean","default":true}},"required":["yes"]}`,
		Decode: func(d *check.Decoder, v *confirmation) {
			for f := d.Object(&yesOnly); f >= 0; f = d.Next() {
				v.Yes = d.Bool(nil)
			}
		},
	}
)

// ask says what the user answered.
func ask(ctx context.Context, call *server.Call, _ *input) (*output, error) {
	a, err := server.Ask(ctx, call, &confirm, "")
	if err != nil {
		return nil, err
	}
	return &output{fmt.Sprint(a.Action, " ", a.Value.Yes)}, nil
}

// modern are the revisions in which users can be asked.
func modern(revision string) bool { return revision >= "2025-06-18" }

func elicits(f func(ctx context.Context, q *client.Question) (*client.Answer, error)) client.Option {
	return client.WithHandlers(client.Handlers{Elicit: f})
}

func accept(context.Context, *client.Question) (*client.Answer, error) {
	return &client.Answer{Action: client.Accepted}, nil
}

// transports dial a server in their own way.
var transports = map[string]func(t testing.TB, srv *server.Server, opts ...client.Option) *client.Session{
	"pipe": dial,
	"HTTP": func(t testing.TB, srv *server.Server, opts ...client.Option) *client.Session {
		return dialHTTP(t, serve(t, srv), opts...)
	},
}

// One handler answers in every revision, however the question comes; defaults are filled in.
func TestCAN23OneHandlerAnswersInEveryRevision(t *testing.T) {
	for name, dial := range transports {
		each(t, func(t *testing.T, revision string) {
			if !modern(revision) {
				return
			}
			var asked []*client.Question
			s := dial(t, newServer(t, []server.Tool{tool("ask", ask)}), client.WithRevision(revision), elicits(func(ctx context.Context, q *client.Question) (*client.Answer, error) {
				asked = append(asked, q)
				return accept(ctx, q)
			}))
			r, err := s.CallTool(t.Context(), "ask", nil)
			if err != nil {
				t.Fatal(name, err)
			}
			has(t, string(r.Raw), "accept true")
			if len(asked) != 1 || asked[0].Message != "Really?" || asked[0].Server != "test" {
				t.Errorf("%s: asked %+v", name, asked)
			}
		})
	}
}

func TestQuestionsThatWereNotDeclared(t *testing.T) {
	all := client.Handlers{Elicit: accept, Sample: func(context.Context, *client.Question) (json.RawMessage, error) { return nil, client.ErrRejected }}
	for _, c := range []struct {
		handlers       client.Handlers
		method, params string
		code           int
	}{
		{client.Handlers{}, "elicitation/create", `{"message":"?"}`, rpc.CodeMethodNotFound},
		{client.Handlers{}, "roots/list", `{}`, rpc.CodeMethodNotFound},
		{all, "elicitation/create", `{"mode":"url","message":"?","url":"https://example.com","elicitationId":"1"}`, rpc.CodeInvalidParams},
		{client.Handlers{OpenURL: accept}, "elicitation/create", `{"message":"?","requestedSchema":{}}`, rpc.CodeInvalidParams},
		{client.Handlers{OpenURL: accept}, "elicitation/create", `{"mode":"url","message":"?","url":"javascript:alert(1)","elicitationId":"1"}`, rpc.CodeInvalidParams},
		{all, "elicitation/create", `{"mode":"foo","message":"?","requestedSchema":{"type":"object","properties":{}}}`, rpc.CodeInvalidParams},
		{all, "elicitation/create", `{"mode":5,"message":"?","requestedSchema":{"type":"object","properties":{}}}`, rpc.CodeInvalidParams},
		{all, "sampling/createMessage", `{"messages":[],"maxTokens":1}`, -1},
		{all, "sampling/createMessage", `{"messages":[],"maxTokens":1,"tools":[]}`, rpc.CodeInvalidParams},
		{all, "sampling/createMessage", `{"messages":[{"role":"assistant","content":{"type":"tool_use","id":"1","name":"x","input":{}}}],"maxTokens":1}`, rpc.CodeInvalidParams},
		{all, "sampling/createMessage", `{"messages":[{"role":"assistant","content":{"type":"tool_use","id":"1","name":"x","input":{}}},{"role":"user","content":[{"type":"tool_result","toolUseId":"1","content":[]},{"type":"text","text":"x"}]}],"maxTokens":1}`, rpc.CodeInvalidParams},
		{client.Handlers{Roots: func(context.Context, *client.Question) ([]client.Root, error) {
			return []client.Root{{URI: "https://x"}}, nil
		}},
			"roots/list", `{}`, rpc.CodeInternalError},
	} {
		_, p := meet(t, "2025-11-25", client.WithHandlers(c.handlers))
		p.send(`{"jsonrpc":"2.0","id":1,"method":%q,"params":%s}`, c.method, c.params)
		if m := p.next(); m.Error == nil || m.Error.Code != c.code {
			t.Errorf("%s %s: %s, want %d", c.method, c.params, m.raw, c.code)
		}
	}
}
