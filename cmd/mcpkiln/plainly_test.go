package main

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

// TestAMessageSaysEachThingOnce: which address, which time; and what to do.
func TestAMessageSaysEachThingOnce(t *testing.T) {
	busy := func(status int, header string) string { return bad(t, status, header, "text/plain", "") }
	silent := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // else the server does not see that the client has left
		<-r.Context().Done()
	}))
	t.Cleanup(silent.Close)
	gone := closed(t)
	question := strange(t, plainTool, `{"resultType":"input_required","inputRequests":{"a":{"method":"elicitation/create","params":{"message":"?","requestedSchema":{"type":"object","properties":{"it's":{"type":"string"},"n":{"type":"integer"}},"required":["it's","n"]}}}}}`)
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"tools", gone}, "mcpkiln: " + gone + ": connection refused\n  is the address right, and does the server run?\n"},
		{[]string{"tools", "--timeout", "100ms", silent.URL}, "mcpkiln: the request was not done after 100ms\n  --timeout sets how long it may take\n"},
		{[]string{"tools", busy(http.StatusTooManyRequests, "Retry-After: 7")}, "mcpkiln: HTTP status 429 Too Many Requests\n  the server is busy, or has a fault of its own: try again in 7s\n"},
		{[]string{"tools", busy(http.StatusBadGateway, "")}, "mcpkiln: HTTP status 502 Bad Gateway\n  the server is busy, or has a fault of its own: try again later\n"},
		{[]string{"call", gone, "t", "--answer", "yes=true"}, `mcpkiln: --answer yes=true: write a JSON object with the fields of the question, as in '{"yes": true}', or decline` + "\n"},
		{[]string{"call", gone, "t", "--answer", "who:=me"}, `mcpkiln: --answer who:=me: write a JSON object with the fields of the question, as in '{"who": "me"}', or decline` + "\n"},
		{[]string{"call", gone, "t", "--answer", `{"a":1,"a":2}`}, `mcpkiln: --answer {"a":1,"a":2}: line 1, column 8: key "a" occurs twice; the first is at line 1: remove one of them` + "\n"},
		{[]string{"call", gone, "t", "--answer", "no"}, "mcpkiln: --answer no: write a JSON object with the fields of the question, or decline\n"},
		{[]string{"tools", gone, "--timeout", "5"}, "mcpkiln: invalid argument \"5\" for \"--timeout\" flag: time: missing unit in duration \"5\"\n  a time has a unit: --timeout 5s\n  mcpkiln tools --help lists all flags\n"},
		{[]string{"tools", "--", "no-such-server -x"}, "mcpkiln: the server does not start: no-such-server -x: executable file not found in $PATH\n  it is one word, which names the program alone: leave out the quotes around its arguments\n"},
		{[]string{"tools", gone, "-H", "Mcp-Method: x"}, "mcpkiln: --header Mcp-Method: the value comes from the address, the session or the request, and no other is sent: leave it out\n"},
		{[]string{"call", question, "t"}, "mcpkiln: the tool asks something, and there is no terminal to ask you on\n  call it again with --answer '{\"it'\\''s\": …, \"n\": …}', or --answer decline\n"},
		{[]string{"call", question, "t", "--answer", `{"n":1,"it's":"a"}`}, "mcpkiln: the tool asks something, and there is no terminal to ask you on\n  call it again with --answer '{\"n\":1,\"it'\\''s\":\"a\"}' --answer '{\"it'\\''s\": …, \"n\": …}', or --answer decline\n"},
	} {
		if _, _, stderr := runs(t, c.args...); stderr != c.want {
			t.Errorf("%s: %q, want %q", strings.Join(c.args, " "), stderr, c.want)
		}
	}
	lookup := &net.OpError{Op: "dial", Net: "tcp", Err: &net.DNSError{Err: "no such host", Name: "nobody.example", Server: "127.0.0.1:53"}}
	if got := reason(&url.Error{Op: "Post", URL: "http://nobody.example/mcp", Err: lookup}); got != "http://nobody.example/mcp: no such host" {
		t.Error(got)
	}
}

// TestWhatAServerSaysEachTimeItIsStartedIsSaidOnce: it is started again for the handshake.
func TestWhatAServerSaysEachTimeItIsStartedIsSaidOnce(t *testing.T) {
	status, _, stderr := runs(t, "tools", "--", "sh", "-c", "echo what it says; exit 3")
	if status != exitProtocol || strings.Count(stderr, "what it says") != 1 {
		t.Errorf("status %d: %s", status, stderr)
	}
}
