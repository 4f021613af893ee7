package client_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/mcpkiln/mcpkiln/runtime/client"
)

// reported is a batch with progress, what is no message, and an answer.
func reported(m message) string {
	return `[{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":` + string(m.ID) + `,"progress":1}},{"jsonrpc":"2.0","id":7},` +
		`{"jsonrpc":"2.0","id":` + string(m.ID) + `,"result":{"content":[{"type":"text","text":"of the batch"}]}}]`
}

// What is in a batch counts as if each message had come by itself, over every transport; one that can not be read ends nothing else.
func TestCAN24AServerMaySendBatches(t *testing.T) {
	steps := 0
	progress := client.OnProgress(func(client.Progress) { steps++ })
	check := func(over string, r result) {
		t.Helper()
		if r.err != nil || r.Text() != "of the batch" || steps != 1 {
			t.Errorf("%s: %+v after %d steps", over, r, steps)
		}
		steps = 0
	}
	s, p := meet(t, "2025-03-26", client.WithHandlers(client.Handlers{Roots: func(context.Context, *client.Question) ([]client.Root, error) {
		return []client.Root{{URI: "file:///a"}}, nil
	}}))
	done := start(t.Context(), s, "x", progress)
	m := p.expect("tools/call")
	p.send(`[]`)
	p.send(`[{"jsonrpc":"2.0","id":%s,`, m.ID)
	p.send(`[{"jsonrpc":"2.0","method":"notifications/tools/list_changed"},{"jsonrpc":"2.0","id":"q","method":"roots/list"},{"jsonrpc":"2.0","id":"p","method":"ping"}]`)
	answers := p.next().raw + p.next().raw
	has(t, answers, "file:///a", `"id":"p","result":{}`)
	p.send("%s", reported(m))
	check("a pipe", <-done)

	for _, kind := range []string{"application/json", "text/event-stream"} {
		endpoint := client.HTTP("http://server.example/mcp")
		endpoint.Client = &http.Client{Transport: roundTrip(func(r *http.Request, m message) (*http.Response, error) {
			w := httptest.NewRecorder()
			switch m.Method {
			case "initialize":
				answer(w, m, `{"protocolVersion":"2025-03-26","capabilities":`+offers+`,"serverInfo":{"name":"x","version":"1"}}`)
			case "tools/call":
				w.Header().Set("Content-Type", kind)
				text := reported(m)
				if kind == "text/event-stream" {
					text = "data: " + text + "\n\n"
				}
				_, _ = w.WriteString(text)
			default:
				return status(http.StatusAccepted), nil
			}
			return w.Result(), nil
		})}
		check(kind, <-start(t.Context(), connect(t, endpoint, []client.Option{client.WithRevision("2025-03-26")}), "x", progress))
	}
}
