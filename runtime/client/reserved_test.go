package client_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/mcpkiln/mcpkiln/runtime/client"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
)

// A handler of questions may fail with a code of its own. Those that JSON-RPC and the protocol reserve mean what they say there, or nothing
// (https://modelcontextprotocol.io/specification/2026-07-28/basic#error-responses), and data that is no JSON is not sent.
func TestLET05ErrorsOfQuestionsHaveNoReservedCodes(t *testing.T) {
	for _, row := range []struct {
		err  error
		want string
	}{
		{rpc.Errorf(-32042, "x"), "-32603"}, {fmt.Errorf("no: %w", rpc.Errorf(-32002, "x")), "-32603"}, {rpc.Errorf(-32700, "x"), "-32603"}, {rpc.Errorf(-32000, "x"), "-32603"},
		{(*rpc.Error)(nil), "-32603"}, {&rpc.Error{Code: 7, Data: []byte(`{`)}, "-32603"}, {&rpc.Error{Code: 7, Data: []byte("\"\xff\"")}, "-32603"},
		{rpc.Errorf(-32602, "x"), "-32602"}, {rpc.Errorf(7, "x"), "7"}, {&rpc.Error{Code: 7, Data: []byte(`{"a":1}`)}, "7"}, {client.ErrRejected, "-1"},
	} {
		ask := func(context.Context, *client.Question) (*client.Answer, error) { return nil, row.err }
		_, p := meet(t, "2025-11-25", client.WithHandlers(client.Handlers{
			Elicit: ask, OpenURL: ask,
			Sample: func(context.Context, *client.Question) (json.RawMessage, error) { return nil, row.err },
			Roots:  func(context.Context, *client.Question) ([]client.Root, error) { return nil, row.err },
		}))
		for method, params := range map[string]string{
			"elicitation/create":     `{"message":"m","requestedSchema":{"type":"object","properties":{}}}`,
			"sampling/createMessage": `{"messages":[],"maxTokens":1}`, "roots/list": `{}`,
		} {
			p.send(`{"jsonrpc":"2.0","id":"q","method":%q,"params":%s}`, method, params)
			if m := p.next(); !strings.Contains(m.raw, `"code":`+row.want+`,`) || !json.Valid([]byte(m.raw)) {
				t.Errorf("%v to %s: %s", row.err, method, m.raw)
			}
		}
		p.send(`{"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":{"mode":"url","message":"m","url":"https://example.com/","elicitationId":"e"}}`)
		if m := p.next(); !strings.Contains(m.raw, `"code":`+row.want+`,`) {
			t.Errorf("%v to a page: %s", row.err, m.raw)
		}
	}
}
