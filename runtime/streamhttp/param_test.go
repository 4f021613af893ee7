package streamhttp

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/mcpkiln/mcpkiln/runtime/server"
)

// TestTSK28ToolsThatWentAreNotKept by what is known of their headers.
func TestTSK28ToolsThatWentAreNotKept(t *testing.T) {
	known := paramTable{prefix: "Mcp-Param-"}
	for range 3 * maxParamTools {
		known.of(&server.Tool{Definition: paramTool})
	}
	n := 0
	known.tools.Range(func(any, any) bool { n++; return true })
	if n == 0 || n > maxParamTools {
		t.Errorf("the params of %d tools are known", n)
	}
}

// TestSRV06HeadersDoNotTellOfAHiddenTool: with headers that its arguments do not have, it is an unknown one like any other.
func TestSRV06HeadersDoNotTellOfAHiddenTool(t *testing.T) {
	f := &fixture{t: t}
	var tools []server.Tool
	for _, name := range []string{"filtered", "off", "shown"} {
		of := tool(name, f.echo)
		of.Definition = strings.Replace(paramTool, `"name":"t"`, `"name":"`+name+`"`, 1)
		tools = append(tools, of)
	}
	f.srv = newServer(t, tools, server.WithToolFilter(func(ctx context.Context, tool string) bool {
		return tool != "filtered" || server.PrincipalFrom(ctx) == "ann"
	}))
	f.srv.SetToolEnabled("off", false)
	f.h = Handler(f.srv)
	f.ts = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.h.ServeHTTP(w, r.WithContext(server.WithPrincipal(r.Context(), r.Header.Get("X-User"))))
	}))
	t.Cleanup(f.shutDown)
	call := func(name, user string) string {
		return body(f.post(callBody2026("1", name, "x"), append(headers2026("tools/call", name), "Mcp-Param-Region: eu", "X-User: "+user)...))
	}
	unknown := call("no such", "bob")
	for _, name := range []string{"filtered", "off"} {
		if b := call(name, "bob"); b != strings.ReplaceAll(unknown, "no such", name) {
			t.Errorf("%s, and of an unknown tool %s", b, unknown)
		}
	}
	for name, user := range map[string]string{"shown": "bob", "filtered": "ann"} {
		if b := call(name, user); !strings.Contains(b, "Mcp-Param-Region") {
			t.Errorf("%s: %s", name, b)
		}
	}
}
