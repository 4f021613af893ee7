package server

import (
	"cmp"
	"strings"
	"testing"

	"github.com/mcpkiln/mcpkiln/runtime/check"
)

func TestVAL07HostileFramesAreRefusedAndTheSessionGoesOn(t *testing.T) {
	c := newFixture(t, []Tool{tool("echo", structured(echo))}).dial(t.Context())
	c.initialize(`{}`)
	const none = "none" // an id that could not be read is left out
	deep := strings.Repeat(`[`, 10_000) + strings.Repeat(`]`, 10_000)
	for name, row := range map[string]struct {
		frame string
		id    string
		code  int
	}{
		"no JSON":             {`{"jsonrpc":"2.0","id":1,`, none, -32700},
		"prose":               {`hello`, none, -32700},
		"invalid UTF-8":       {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}", "", -32700},
		"duplicate key":       {`{"jsonrpc":"2.0","id":1,"method":"ping","id":2}`, none, -32600},
		"duplicate param":     {`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"text":"a"},"arguments":{"text":"b"}}}`, "", -32600},
		"method twice":        {`{"jsonrpc":"2.0","id":"a","method":"ping","method":"tools/list"}`, `"a"`, -32600},
		"params twice":        {`{"jsonrpc":"2.0","id":7,"method":"ping","params":{},"params":{}}`, "7", -32600},
		"equal ids":           {`{"jsonrpc":"2.0","id":1,"method":"ping","id":1}`, none, -32600},
		"10,000 deep":         {`{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":` + deep + `}}`, "", -32600},
		"10,000 deep, alone":  {deep, "", -32600},
		"huge number":         {`{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":` + strings.Repeat("9", 5000) + `}}`, "", -32600},
		"wrong version":       {`{"jsonrpc":"1.0","id":1,"method":"ping"}`, "1", -32600},
		"method of no string": {`{"jsonrpc":"2.0","id":1,"method":5}`, "", -32600},
		"neither":             {`{"jsonrpc":"2.0","id":1}`, "1", -32600},
		"scalar":              {`17`, none, -32600},
	} {
		t.Run(name, func(t *testing.T) {
			c.t = t
			c.send(row.frame)
			m := c.next()
			m.wantError(t, row.code)
			if id := cmp.Or(string(m.ID), none); row.id != "" && id != row.id {
				t.Errorf("want id %s: %s", row.id, m.raw)
			}
			if got := c.fence(); len(got) != 0 {
				t.Errorf("more than one answer: %v", got)
			}
		})
	}
}

func TestVAL07AMessageOfABatchThatRepeatsAMemberIsRefusedWithItsID(t *testing.T) {
	c := dialBatches(t, tool("echo", structured(echo)))
	c.send(`[{"jsonrpc":"2.0","id":1,"method":"ping","method":"ping"},{"jsonrpc":"2.0","id":2,"id":2,"method":"ping"},` + ping("3") + `]`)
	got := c.array()
	if len(got) != 3 || !strings.HasPrefix(got["1"], `-32600 repeated key "method"`) || !strings.HasPrefix(got[""], `-32600 repeated key "id"`) || got["3"] != "{}" {
		t.Error(got)
	}
}

func TestVAL07FramesOverTheLimitAreSkipped(t *testing.T) {
	c := newLineFixture(t, 1<<20)
	c.initialize(`{}`)
	c.send(`{"jsonrpc":"2.0","id":1,"method":"ping","params":{"pad":"` + strings.Repeat("x", 1<<20) + `"}}`)
	c.next().wantError(t, -32600, "1048576")
	if got := c.fence(); len(got) != 0 {
		t.Error(got)
	}
}

func TestVAL07LimitsAreOptions(t *testing.T) {
	c := newFixture(t, []Tool{tool("echo", structured(echo))}, WithLimits(check.Limits{Depth: 6})).dial(t.Context())
	c.initialize(`{}`)
	c.send(`{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":[[[[[[1]]]]]]}}`)
	c.next().wantError(t, -32600, "6")
}

func TestUnknownMethods(t *testing.T) {
	c := newFixture(t, []Tool{tool("echo", structured(echo))}).dial(t.Context())
	c.initialize(`{}`)
	c.request("1", "resources/list", `{}`).wantError(t, -32601, "resources/list")
	c.request("2", "notifications/progress", `{}`).wantError(t, -32601)
	c.send(`{"jsonrpc":"2.0","method":"notifications/whatever","params":{}}`,
		`{"jsonrpc":"2.0","method":"notifications/progress","params":{}}`,
		`{"jsonrpc":"2.0","method":"ping"}`,
		`{"jsonrpc":"2.0","id":99,"result":{}}`,
		`{"jsonrpc":"2.0","id":99,"error":{"code":1,"message":"x"}}`,
		`{"jsonrpc":"2.0","id":"99","error":{}}`)
	if got := c.fence(); len(got) != 0 {
		t.Errorf("notifications and answers were answered: %v", got)
	}
}

func TestLimitOfBytesInFlight(t *testing.T) {
	hold := newHold()
	f := newFixture(t, []Tool{tool("hang", hold.handler())}, WithMaxBytesInFlight(250<<10))
	c := f.dial(t.Context())
	c.initialize(`{}`)
	large := `{"pad":"` + strings.Repeat("x", 100<<10) + `"}`
	c.call("1", "hang", large)
	c.call("2", "hang", large)
	c.call("3", "hang", large)
	m, _ := c.answer("3")
	m.wantError(t, -32600, "256000 bytes")
	c.call("4", "hang", `{}`)
	hold.free()
	for range 3 {
		m := c.next()
		m.wantNoError(t)
	}
	c.call("5", "hang", large)
	m, _ = c.answer("5")
	m.wantNoError(t)
	c.close()
	if got := f.srv.bytes.Used(); got != 0 {
		t.Errorf("%d bytes are still counted", got)
	}
}

// What a request holds is its whole message, whatever stands in it beside the params.
func TestTSK28TheWholeMessageIsCounted(t *testing.T) {
	hold := newHold()
	f := dual(t, Definition{Tools: []Tool{tool("hang", hold.handler())}}, WithMaxBytesInFlight(150<<10))
	pad := strings.Repeat(" ", 100<<10)
	c := f.dial(t.Context())
	c.initialize(`{}`)
	c.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"hang","arguments":{}}` + pad + `}`)
	c.send(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"hang","arguments":{}},"x":"` + pad + `"}`)
	m, _ := c.answer("2")
	m.wantError(t, -32600, "153600 bytes")
	if m := f.ask(t.Context(), frame(3, "tools/call", nothing, callParams("hang", `{}`))+pad); m.Error == nil {
		t.Error(m.raw)
	}
	hold.free()
	c.answer("1")
	c.close()
	if got := f.srv.bytes.Used(); got != 0 {
		t.Errorf("%d bytes are still counted", got)
	}
}

func TestLimitOfRequestsInFlight(t *testing.T) {
	hold := newHold()
	c := newFixture(t, []Tool{tool("hang", hold.handler())}, WithMaxInFlight(2)).dial(t.Context())
	c.initialize(`{}`)
	c.call("1", "hang", `{}`)
	c.call("2", "hang", `{}`)
	c.call("3", "hang", `{}`)
	m, _ := c.answer("3")
	m.wantError(t, -32600, "2")
	hold.free()
	c.answer("1")
}
