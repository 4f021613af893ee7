package streamhttp

import (
	"context"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/mcpkiln/mcpkiln/runtime/server"
)

// Header values that are not ASCII, or do not decode to text, are refused with the code for it (basic/transports/streamable-http#server-validation
// of 2026-07-28). Control characters are for malformed_test.go: no handler sees such a request.
func TestEXT14InvalidCharactersInAHeaderAreAMismatch(t *testing.T) {
	f := newFixture(t)
	text := callBody2026("1", "echo", "x")
	for header, value := range map[string]string{"Mcp-Name": "ech\xf6", "Mcp-Method": "tools/call\xff", "MCP-Protocol-Version": "2026\xad07-28"} {
		headers := []string{accept}
		for _, h := range headers2026("tools/call", "echo") {
			if !strings.HasPrefix(h, header) {
				headers = append(headers, h)
			}
		}
		status, got := f.response(f.raw(rawRequest("1.1", text, append(headers, header+": "+value)...)))
		if status != 400 || field(got, "error", "code") != "-32020" {
			t.Errorf("%s: %q: %d %s", header, value, status, got)
		}
		for _, c := range []string{"\x00", "\x01", "\x7f", "\r"} {
			if status, got := f.response(f.raw(rawRequest("1.1", text, append(headers, header+": a"+c+"b")...))); status != 400 || strings.Contains(got, `"result"`) {
				t.Errorf("%s with %q: %d %s", header, c, status, got)
			}
		}
	}
	for _, value := range []string{"=?base64?ZWNo/w==?=", "=?base64?AAE=?=", "=?base64?###?="} {
		f.want(f.post(text, "MCP-Protocol-Version: 2026-07-28", "Mcp-Method: tools/call", "Mcp-Name: "+value), 400, "-32020")
	}
}

// Refused params carry data over HTTP, too, with and without a session.
func TestLET05RefusedParamsCarryDataOverHTTP(t *testing.T) {
	f := newFixture(t)
	session := f.initialize()
	list := `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":"x",` + meta2026 + `}}`
	loud := strings.Replace(callBody2026("1", "echo", "x"), `"progressToken":1`, `"io.modelcontextprotocol/logLevel":"loud"`, 1)
	f.want(f.post(callBody("1", "nothing", "x"), session), 200, "-32602", `"data":{"violations":["/name: unknown tool`)
	f.want(f.call2026("1", "nothing", "x"), 200, "-32602", `"data":{"violations":["/name: unknown tool`)
	f.want(f.post(list, headers2026("tools/list", "")...), 200, "-32602", `"data":{"violations":["/cursor: `)
	f.want(f.post(`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":"x"}}`, session), 200, "-32602", `"data":{"violations":["/cursor: `)
	f.want(f.post(loud, headers2026("tools/call", "echo")...), 400, "-32602", `"data":{"violations":["/_meta/io.modelcontextprotocol~1logLevel: enum: `)
}

// A filter of tools knows the session of the caller, as its handlers do.
func TestSRV06AFilterKnowsTheSessionOverHTTP(t *testing.T) {
	f := &fixture{t: t}
	var mu sync.Mutex
	asked := map[string]bool{}
	named := func(ctx context.Context, call *server.Call, _ *input) (*output, error) {
		return &output{text: call.Session()}, nil
	}
	f.srv = newServer(t, []server.Tool{tool("named", named)}, server.WithToolFilter(func(ctx context.Context, _ string) bool {
		mu.Lock()
		defer mu.Unlock()
		asked[server.SessionFrom(ctx)] = true
		return true
	}))
	f.h = Handler(f.srv)
	f.ts = httptest.NewServer(f.h)
	t.Cleanup(f.shutDown)
	clear(asked)
	var sessions []string
	for range 2 {
		header := f.initialize()
		id := strings.TrimPrefix(header, "Mcp-Session-Id: ")
		sessions = append(sessions, id)
		f.want(f.post(callBody("1", "named", ""), header), 200, `"text":"`+id+`"`)
	}
	f.want(f.call2026("1", "named", ""), 200, `"text":""`)
	mu.Lock()
	defer mu.Unlock()
	if !asked[sessions[0]] || !asked[sessions[1]] || !asked[""] || sessions[0] == sessions[1] {
		t.Errorf("asked of %v, sessions %v", asked, sessions)
	}
}
