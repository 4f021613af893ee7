package streamhttp

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
)

// halfClosed sends a request, closes the writing side of its connection, and returns all that comes back. err is why a response is not whole.
func (f *fixture) halfClosed(body string, headers ...string) (status int, text string, err error) {
	f.t.Helper()
	conn, err := net.Dial("tcp", f.ts.Listener.Addr().String())
	if err != nil {
		f.t.Fatal(err)
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, rawRequest("1.1", body, append(headers, accept)...)); err != nil {
		f.t.Fatal(err)
	}
	if err := conn.(*net.TCPConn).CloseWrite(); err != nil {
		f.t.Fatal(err)
	}
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(b), err
}

// A client that closes its writing side behind its request gets its answer, or sees that there is none: the response is never one that looks
// whole and lacks the answer, in no revision, whether or not it has become a stream.
// https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#sending-messages-to-the-server
func TestCAN18NoResponseLooksWholeWithoutItsAnswer(t *testing.T) {
	f, single := newFixture(t), newFixture(t, WithoutSessions())
	november, march := f.initialize(), f.march()
	for name, c := range map[string]struct {
		f       *fixture
		body    string
		headers []string
	}{
		"2026-07-28":                       {f, callBody2026("1", "hang", "x"), headers2026("tools/call", "hang")},
		"2026-07-28, a stream":             {f, callBody2026("2", "steps", "x"), headers2026("tools/call", "steps")},
		"2025-11-25":                       {f, callBody("3", "hang", "x"), []string{november}},
		"2025-11-25, a stream":             {f, callBody("4", "steps", "x"), []string{november}},
		"2025-03-26":                       {f, callBody("5", "hang", "x"), []string{march}},
		"2025-03-26, a stream":             {f, callBody("6", "steps", "x"), []string{march}},
		"a batch":                          {f, "[" + callBody("7", "hang", "x") + "]", []string{march}},
		"a batch, a stream":                {f, "[" + callBody("8", "steps", "x") + "]", []string{march}},
		"2025-11-25, no session":           {single, callBody("9", "hang", "x"), []string{"MCP-Protocol-Version: 2025-11-25"}},
		"2025-11-25, no session, a stream": {single, callBody("10", "steps", "x"), []string{"MCP-Protocol-Version: 2025-11-25"}},
	} {
		if status, text, err := c.f.halfClosed(c.body, c.headers...); err == nil {
			t.Errorf("%s: %d %q looks whole", name, status, text)
		}
	}
	for name, c := range map[string]struct{ body, header string }{
		"2026-07-28": {cancelOne, "MCP-Protocol-Version: 2026-07-28"}, "2025-11-25": {cancelOne, november}, "a batch": {"[" + cancelOne + "]", march},
	} {
		if status, text, err := f.halfClosed(c.body, c.header); status != http.StatusAccepted || text != "" || err != nil {
			t.Errorf("%s: a notification is answered with %d %q %v", name, status, text, err)
		}
	}
	// Errors that come before anything waits are whole.
	if status, text, err := f.halfClosed(strings.Replace(callBody("1", "echo", "x"), "2.0", "1.0", 1), november); status != http.StatusBadRequest || err != nil {
		t.Errorf("a refusal: %d %s %v", status, text, err)
	}
}
