package streamhttp

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/mcpkiln/mcpkiln/runtime/server"
)

// FuzzEndpoint: whatever comes, the answer is a status with JSON, a stream, or nothing.
func FuzzEndpoint(f *testing.F) {
	f.Add("POST", callBody2026("1", "echo", "x"), "2026-07-28", "tools/call", "echo", "", "")
	f.Add("POST", callBody("1", "echo", "x"), "2025-11-25", "", "", "session", "")
	f.Add("POST", initializeBody, "", "", "", "", "")
	f.Add("DELETE", "", "", "", "", "x", "")
	f.Add("POST", callBody2026("1", "params", "x"), "2026-07-28", "tools/call", "=?base64?cGFyYW1z?=", "", "eu")
	f.Add("POST", "[]", "", "", "", "", "r1.0")
	echo := (&fixture{}).echo
	params := tool("params", echo)
	params.Definition = strings.Replace(paramTool, `"name":"t"`, `"name":"params"`, 1)
	srv := newServer(f, []server.Tool{tool("echo", echo), params})
	h := Handler(srv)
	f.Cleanup(func() {
		_ = h.Close()
		_ = srv.Shutdown(context.Background())
	})
	session := recorded(h, http.MethodPost, initializeBody, "").Header().Get("Mcp-Session-Id")
	f.Fuzz(func(t *testing.T, method, body, version, mcpMethod, name, id, region string) {
		if strings.Contains(body, "listen") || method == http.MethodGet {
			return // has no end of its own
		}
		if id == "session" && method != http.MethodDelete {
			id = session
		}
		r := httptest.NewRequest(http.MethodPost, "http://localhost/", strings.NewReader(body))
		r.Method = method
		r.Header = http.Header{
			"Content-Type": {"application/json"}, "Mcp-Protocol-Version": {version}, "Mcp-Method": {mcpMethod}, "Mcp-Name": {name},
			"Mcp-Session-Id": {id}, "Mcp-Param-Region": {region},
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if media := w.Header().Get("Content-Type"); media == typeJSON && !json.Valid(w.Body.Bytes()) {
			t.Errorf("%d %s", w.Code, w.Body)
		} else if media == "" && w.Body.Len() > 0 || w.Code >= 500 {
			t.Errorf("%d %s", w.Code, w.Body)
		}
	})
}

// FuzzSentinel: what is encoded is decoded, and decoding takes nothing but what encoding makes.
func FuzzSentinel(f *testing.F) {
	f.Add("=?base64?SGVsbG8=?=")
	f.Add("plain")
	f.Add("=?base64??=")
	f.Add("=?base64?\r?=")
	f.Fuzz(func(t *testing.T, value string) {
		got, ok := testSentinel.decode(value)
		if !ok || got == value {
			return
		}
		if again := "=?base64?" + base64.StdEncoding.EncodeToString([]byte(got)) + "?="; again != value {
			t.Errorf("%q means %q, which is written %q", value, got, again)
		}
	})
}
