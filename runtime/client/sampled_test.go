package client_test

import (
	"context"
	"encoding/json"
	"testing"
	"testing/synctest"

	"github.com/mcpkiln/mcpkiln/runtime/client"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
)

// LET01: what a handler returns and no server could read is not sent; the server learns that the question was not answered.
func TestLET01AResultOfAModelThatCanNotBeSent(t *testing.T) {
	for _, result := range []string{`{"_meta":5}`, `{"role":"assistant","_meta":null}`, `[]`, `{`, ``} {
		synctest.Test(t, func(t *testing.T) {
			s, p := meet(t, "2025-06-18", client.WithHandlers(client.Handlers{
				Sample: func(context.Context, *client.Question) (json.RawMessage, error) { return json.RawMessage(result), nil },
			}))
			done := start(t.Context(), s, "x")
			call := p.expect("tools/call")
			p.send(`{"jsonrpc":"2.0","id":1,"method":"sampling/createMessage","params":{"messages":[],"maxTokens":5}}`)
			if m := p.next(); m.Error == nil || m.Error.Code != rpc.CodeInternalError {
				t.Errorf("%s: sent %s", result, m.raw)
			}
			p.answer(call, `{"content":[]}`)
			<-done
		})
	}
}
