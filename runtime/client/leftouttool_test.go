package client_test

import (
	"errors"
	"net/http"
	"sync/atomic"
	"testing"

	"github.com/mcpkiln/mcpkiln/runtime/client"
)

// A tool that the list leaves out because of its headers is not called by its name, either, and the error says why; nor is it sent again when only a refused
// call has had the list read (EXT14).
func TestEXT14AToolWhoseHeadersAreInvalidIsNotCalled(t *testing.T) {
	for _, listed := range []bool{true, false} {
		var calls atomic.Int32
		url := script(t, func(w http.ResponseWriter, r *http.Request, m message) {
			switch m.Method {
			case "server/discover":
				answer(w, m, `{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":`+offers+`,"ttlMs":0,"cacheScope":"private"}`)
			case "tools/list":
				answer(w, m, `{"tools":[{"name":"two","inputSchema":{"type":"object","properties":{"a":{"type":"string","x-mcp-header":"X"},"b":{"type":"string","x-mcp-header":"x"}}}},
					{"name":"good","inputSchema":{"type":"object"}}],"ttlMs":0,"cacheScope":"private"}`)
			default:
				if calls.Add(1); listed {
					answer(w, m, `{"content":[]}`)
				} else {
					refuseWith(w, m, -32020, "Mcp-Param-X is missing")
				}
			}
		})
		s := dialHTTP(t, url)
		if listed {
			for range s.ListTools(t.Context()) {
			}
			if _, err := s.CallTool(t.Context(), "good", nil); err != nil {
				t.Error(err)
			}
		}
		call := func() error { _, err := s.CallTool(t.Context(), "two", nil); return err }
		start := func() error { _, err := s.Start(t.Context(), "two", nil); return err }
		for _, f := range []func() error{call, start} {
			err := f()
			var with *client.RemedyError
			var bad *client.ProtocolError
			if !errors.As(err, &with) || with.Remedy != client.MendDefinition || !errors.As(err, &bad) {
				t.Fatalf("listed %v: %T %v", listed, err, err)
			}
			has(t, err.Error(), `tool "two" can not be called over HTTP in revision 2026-07-28, and was left out: its x-mcp-header is not valid`, "mend the definition")
		}
		if n := calls.Load(); n != 1 {
			t.Errorf("listed %v: %d calls were sent", listed, n)
		}
	}
}
