package streamhttp

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/mcpkiln/mcpkiln/runtime/server"
)

// TestSRV03HeadersOfEachRequest also within a session: a token that is renewed arrives, and another identity is refused.
func TestSRV03HeadersOfEachRequest(t *testing.T) {
	f := newFixture(t)
	srv := newServer(t, []server.Tool{tool("headers", func(_ context.Context, call *server.Call, _ *input) (*output, error) {
		named := call.Session() == call.Header().Get("Mcp-Session-Id")
		return &output{fmt.Sprint(call.Principal(), ":", call.Header().Get("authorization"), ":", call.Header().Values("X-TRACE"), ":", named)}, nil
	})})
	h := Handler(srv)
	t.Cleanup(func() {
		_ = h.Shutdown(context.Background())
		_ = srv.Shutdown(context.Background())
	})
	f.ts.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		who, _, _ := strings.Cut(r.Header.Get("Authorization"), "-")
		h.ServeHTTP(w, r.WithContext(server.WithPrincipal(r.Context(), who)))
	})
	session := f.initialize("Authorization: ada-1")
	for i, token := range []string{"ada-1", "ada-2", "ada-3"} {
		trace := fmt.Sprint("t", i)
		f.want(f.post(callBody(fmt.Sprint(i+1), "headers", "x"), session, "Authorization: "+token, "X-Trace: "+trace),
			http.StatusOK, `"text":"ada:`+token+`:[`+trace+`]:true"`)
	}
	refused := f.post(callBody("9", "headers", "x"), session, "Authorization: bob-1")
	f.want(refused, http.StatusNotFound, "this caller has no such session: begin a new one")
	f.want(f.post(callBody("10", "headers", "x"), session, "Authorization: ada-4"), http.StatusOK, `"text":"ada:ada-4:[]:true"`)
	stateless := append(headers2026("tools/call", "headers"), "Authorization: bob-2", "X-Trace: a", "X-Trace: b")
	f.want(f.post(callBody2026("11", "headers", "x"), stateless...), http.StatusOK, `"text":"bob:bob-2:[a b]:true"`)
}

// TestSRV03AHeaderThatIsNotValidIsNamed says what is wrong with it, and what its values are.
func TestSRV03AHeaderThatIsNotValidIsNamed(t *testing.T) {
	f := newFixture(t)
	for value, want := range map[string]string{
		"=?base64?%%?=":  "the header Mcp-Name is not valid: its value is printable ASCII, or the base64 of UTF-8 between =?base64? and ?=",
		"gr\u00fc\u00df": "the header Mcp-Name is not valid",
		"another":        "the header Mcp-Name does not say what the body says",
	} {
		f.want(f.post(callBody2026("1", "echo", "x"), headers2026("tools/call", value)...), http.StatusBadRequest, want)
	}
}

func TestTSK21SessionsBelongToTheirPrincipal(t *testing.T) {
	f := newFixture(t)
	session := f.initialize("X-User: ann")
	ping := `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	f.want(f.post(ping, session, "X-User: ann"), 200)
	f.want(f.post(ping, session, "X-User: bob"), 404)
	f.want(f.post(ping, session), 404)
	f.want(f.do(f.request(http.MethodGet, "", session, "X-User: bob")), 404)
	f.want(f.do(f.request(http.MethodDelete, "", session, "X-User: bob")), 404)
	f.want(f.post(ping, session, "X-User: ann"), 200)
}
