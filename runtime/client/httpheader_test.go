package client_test

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"sync"
	"testing"

	"github.com/mcpkiln/mcpkiln/runtime/client"
	"github.com/mcpkiln/mcpkiln/runtime/server"
)

// What a request says stands in headers, too (2026-07-28).
func TestEXT14HeadersSayWhatTheRequestSays(t *testing.T) {
	var mu sync.Mutex
	seen := map[string]http.Header{}
	url := script(t, func(w http.ResponseWriter, r *http.Request, m message) {
		mu.Lock()
		seen[m.Method] = r.Header
		mu.Unlock()
		switch m.Method {
		case "server/discover":
			answer(w, m, `{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":`+offers+`,"ttlMs":0,"cacheScope":"private"}`)
		case "tools/list":
			answer(w, m, `{"tools":[
				{"name":"go","inputSchema":{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"},"inner":{"type":"object","properties":{"level":{"type":"integer","x-mcp-header":"Level"}}},
					"note":{"type":"string","x-mcp-header":"Note"},"gone":{"type":"string","x-mcp-header":"Gone"},"like":{"type":"string","x-mcp-header":"Like"}}}},
				{"name":"two","inputSchema":{"properties":{"a":{"type":"string","x-mcp-header":"X"},"b":{"type":"string","x-mcp-header":"x"}}}},
				{"name":"list","inputSchema":{"properties":{"a":{"type":"array","x-mcp-header":"X"}}}},
				{"name":"items","inputSchema":{"properties":{"a":{"type":"array","items":{"type":"string","x-mcp-header":"X"}}}}},
				{"name":"name","inputSchema":{"properties":{"a":{"type":"string","x-mcp-header":"a b"}}}}],"ttlMs":0,"cacheScope":"private"}`)
		default:
			answer(w, m, `{"content":[],"contents":[],"messages":[]}`)
		}
	})
	s := dialHTTP(t, url)
	n := 0
	for _, err := range s.ListTools(t.Context()) {
		if n++; err != nil {
			t.Fatal(err)
		}
	}
	if n != 1 {
		t.Errorf("%d tools can be called", n)
	}
	args := json.RawMessage(`{"region":"eu","inner":{"level":42},"note":" größer","gone":null,"like":"=?base64?eA==?="}`)
	if _, err := s.ReadResource(t.Context(), "file:///a"); err != nil {
		t.Fatal(err)
	}
	for written, want := range map[string]string{
		"5.0": "5", "1e3": "1000", "-0.5e1": "-5", "-0": "0", "5.5": "5.5", "9007199254740991.0": "9007199254740991", "9007199254740993": "9007199254740993", "1e400": "1e400", "true": "true",
	} {
		if _, err := s.CallTool(t.Context(), "go", json.RawMessage(`{"inner":{"level":`+written+`}}`)); err != nil {
			t.Fatal(err)
		}
		if got := seen["tools/call"].Get("Mcp-Param-Level"); got != want {
			t.Errorf("%s is repeated as %q, want %q", written, got, want)
		}
	}
	if _, err := s.CallTool(t.Context(), "go", args); err != nil {
		t.Fatal(err)
	}
	encoded := func(text string) string { return "=?base64?" + base64.StdEncoding.EncodeToString([]byte(text)) + "?=" }
	for _, c := range []struct{ method, header, want string }{
		{"server/discover", "Mcp-Method", "server/discover"}, {"server/discover", "Mcp-Protocol-Version", "2026-07-28"},
		{"tools/call", "Mcp-Method", "tools/call"}, {"tools/call", "Mcp-Name", "go"},
		{"tools/call", "Mcp-Param-Region", "eu"}, {"tools/call", "Mcp-Param-Level", "42"}, {"tools/call", "Mcp-Param-Note", encoded(" größer")},
		{"tools/call", "Mcp-Param-Gone", ""}, {"tools/call", "Mcp-Param-Like", encoded("=?base64?eA==?=")}, {"resources/read", "Mcp-Name", "file:///a"},
	} {
		if got := seen[c.method].Get(c.header); got != c.want {
			t.Errorf("%s of %s is %q, want %q", c.header, c.method, got, c.want)
		}
	}
}

func TestEXT14HeadersThatAServerMissesAreLearnt(t *testing.T) {
	definition := `{"name":"go","inputSchema":{"type":"object","properties":{"text":{"type":"string","x-mcp-header":"Text"}}}}`
	needs := tool("go", echo)
	needs.Definition = definition
	s := dialHTTP(t, serve(t, newServer(t, []server.Tool{needs})), client.WithRevision("2026-07-28"))
	if _, err := s.CallTool(t.Context(), "go", map[string]string{"text": "x"}); err != nil {
		t.Error(err)
	}
}
