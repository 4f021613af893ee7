package client_test

import (
	"context"
	"encoding/json"
	"strings"
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

// LET01: a model's result that breaks the schema of the revision, or uses a tool that the request does not have, is not sent; the host learns where it does.
func TestLET01AResultOfAModelIsHeldAgainstItsSchema(t *testing.T) {
	const all, since = "", "2025-11-25"
	say := func(content string) string { return `{"role":"assistant","model":"m","content":` + content + `}` }
	const text, use, used = `{"type":"text","text":"t"}`, `{"type":"tool_use","id":"1","name":"n","input":{}}`, `{"type":"tool_result","toolUseId":"1","content":[]}`
	for _, c := range []struct {
		revision, tools string // of the request
		result          string
		says            string // to the host; "": it is sent
	}{
		{all, "", say(text), ""},
		{all, "", ` {"role":"user","model":"","stopReason":"endTurn","own":1,"content": {"type":"image","data":"","mimeType":"image/png"}} `, ""},
		{all, "", `{"model":"m","content":` + text + `}`, "/role: it must be of type string, and is missing"},
		{all, "", `{"role":"system","model":"m","content":` + text + `}`, "/role: it must be user or assistant"},
		{all, "", `{"Role":"assistant","model":"m","content":` + text + `}`, "/role: it must be of type string"},
		{all, "", `{"role":"assistant","content":` + text + `}`, "/model: it must be of type string"},
		{all, "", `{"role":"assistant","model":7,"content":` + text + `}`, "/model: it must be of type string"},
		{all, "", `{"role":"assistant","model":"m","stopReason":null,"content":` + text + `}`, "/stopReason: it must be of type string"},
		{all, "", `{"role":"assistant","model":"m"}`, "/content: it must be an object, and is missing"},
		{all, "", say(`{"text":"t"}`), "/content/type: it must be"},
		{all, "", say(`{"type":"resource_link","name":"n","uri":"u:"}`), "/content/type: it must be"},
		{all, "", say(`{"type":"text"}`), "/content/text: it must be of type string, and is missing"},
		{all, "", say(`{"type":"text","text":7}`), "/content/text: it must be of type string, and is number"},
		{all, "", say(`{"type":"image","data":""}`), "/content/mimeType: it must be of type string, and is missing"},
		{all, "", say(use), "/content: it can not have a block of type tool_use, because the request has no tools"},
		{all, "", `{"role":"assistant","model":"m","stopReason":"toolUse","content":` + text + `}`, "/stopReason: it can not be toolUse, because the request has no tools"},
		{"2025-06-18", "", say(`[` + text + `]`), "/content: it must be one block"},
		{since, "", say(`[` + text + `,` + text + `]`), ""},
		{since, "", say(`[]`), ""},
		{since, "", say(`[` + text + `,7]`), "/content/1: it must be an object, and is number"},
		{since, "", say(`[` + text + `,` + use + `]`), "/content: it can not have a block of type tool_use"},
		{since, "", say(used), "/content: it can not have a block of type tool_result"},
		{since, `,"tools":[]`, say(use), "/content: it can not have a block of type tool_use"},
		{since, `,"tools":[{"name":"n","inputSchema":{"type":"object"}}]`, `{"role":"assistant","model":"m","stopReason":"toolUse","content":[` + text + `,` + use + `]}`, ""},
		{since, `,"tools":[{"name":"n","inputSchema":{"type":"object"}}]`, say(used), ""},
		{since, `,"tools":[{"name":"n","inputSchema":{"type":"object"}}],"toolChoice":{"mode":"required"}`, say(use), ""},
		{since, `,"tools":[{"name":"N","inputSchema":{"type":"object"}},{"name":"nn","inputSchema":{"type":"object"}}]`, say(`[` + text + `,` + use + `]`), `/content: it uses the tool "n", which the request does not have`},
		{since, `,"tools":[{"name":"n","inputSchema":{"type":"object"}}],"toolChoice":{"mode":"none"}`, say(use), "/content: it can not have a block of type tool_use, because the request's toolChoice is none"},
		{since, `,"tools":[{"name":"n","inputSchema":{"type":"object"}}],"toolChoice":{"mode":"none"}`, `{"role":"assistant","model":"m","stopReason":"toolUse","content":` + text + `}`, "/stopReason: it can not be toolUse, because the request's toolChoice is none"},
		{since, `,"tools":[{"name":"n","inputSchema":{"type":"object"}}],"toolChoice":{"mode":"none"}`, say(text), ""},
		{since, `,"tools":[{"name":"n","inputSchema":{"type":"object"}}]`, say(`{"type":"tool_use","id":"1","name":"n"}`), "/content/input: it must be of type object, and is missing"},
		{since, `,"tools":[{"name":"n","inputSchema":{"type":"object"}}]`, say(`{"type":"tool_result","toolUseId":"1"}`), "/content/content: it must be of type array, and is missing"},
	} {
		revisions := []string{c.revision}
		if c.revision == all {
			revisions = []string{"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"}
		}
		for _, revision := range revisions {
			synctest.Test(t, func(t *testing.T) {
				answered := make(chan error, 1)
				s, p := meet(t, revision, client.WithHandlers(client.Handlers{
					SampleTools: true,
					Sample: func(context.Context, *client.Question) (json.RawMessage, error) {
						return json.RawMessage(c.result), nil
					},
					Answered: func(_ *client.Question, err error) { answered <- err },
				}))
				done := start(t.Context(), s, "x")
				call := p.expect("tools/call")
				p.send(`{"jsonrpc":"2.0","id":1,"method":"sampling/createMessage","params":{"messages":[],"maxTokens":5%s}}`, c.tools)
				m := p.next()
				switch err := <-answered; {
				case c.says == "":
					if m.Result == nil || err != nil {
						t.Errorf("%s, %s: sent %s, %v", revision, c.result, m.raw, err)
					}
				case m.Error == nil || m.Error.Code != rpc.CodeInternalError || err == nil || !strings.Contains(err.Error(), "Handlers.Sample can not be sent: "+c.says):
					t.Errorf("%s, %s: sent %s, and the host hears %v", revision, c.result, m.raw, err)
				}
				p.answer(call, `{"content":[]}`)
				<-done
			})
		}
	}
}
