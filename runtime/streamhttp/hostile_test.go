package streamhttp

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestBadInputIsRefused(t *testing.T) {
	f := newFixture(t, WithMaxBody(10_000))
	session := f.initialize()
	ping := `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	stateless := callBody2026("1", "echo", "x")
	for name, c := range map[string]struct {
		method, body string
		headers      []string
		status       int
		part         string
	}{
		"strange host":             {"POST", ping, []string{session, "Host: evil.example.com"}, 403, "is not served here"},
		"strange origin":           {"POST", ping, []string{session, "Origin: http://evil.example.com"}, 403, "is not allowed"},
		"strange host, stateless":  {"POST", stateless, append(headers2026("tools/call", "echo"), "Host: evil.example.com"), 403, ""},
		"strange origin, GET":      {"GET", "", []string{session, "Origin: http://evil.example.com"}, 403, ""},
		"no content type":          {"POST", ping, []string{session, "Content-Type:"}, 415, ""},
		"wrong content type":       {"POST", ping, []string{session, "Content-Type:", "Content-Type: text/plain"}, 415, ""},
		"two content types":        {"POST", ping, []string{session, "Content-Type: text/plain"}, 415, ""},
		"accepts JSON alone":       {"POST", ping, []string{session, "Accept:", "Accept: application/json"}, 406, ""},
		"accepts streams alone":    {"POST", ping, []string{session, "Accept:", "Accept: text/event-stream"}, 406, ""},
		"GET accepts JSON alone":   {"GET", "", []string{session, "Accept:", "Accept: application/json"}, 406, ""},
		"accepts anything":         {"POST", ping, []string{session, "Accept:", "Accept: */*"}, 200, ""},
		"says nothing of accept":   {"POST", ping, []string{session, "Accept:"}, 200, ""},
		"PUT":                      {"PUT", ping, []string{session}, 405, ""},
		"PATCH":                    {"PATCH", ping, []string{session}, 405, ""},
		"OPTIONS":                  {"OPTIONS", "", []string{session}, 405, ""},
		"too large":                {"POST", strings.Repeat(" ", 10_001), []string{session}, 413, "10000"},
		"largest":                  {"POST", ping + strings.Repeat(" ", 10_000-len(ping)), []string{session}, 200, ""},
		"empty":                    {"POST", "", []string{session}, 400, "-32700"},
		"blank":                    {"POST", " \n", []string{session}, 400, "-32700"},
		"no JSON":                  {"POST", "hello", []string{session}, 400, "-32700"},
		"cut off":                  {"POST", ping[:20], []string{session}, 400, "-32700"},
		"two messages":             {"POST", ping + "\n" + ping, []string{session}, 400, "-32700"},
		"two messages, stateless":  {"POST", stateless + stateless, headers2026("tools/call", "echo"), 400, "-32700"},
		"a batch":                  {"POST", "[" + ping + "]", []string{session}, 400, "-32600"},
		"a batch, stateless":       {"POST", "[" + stateless + "]", headers2026("tools/call", "echo"), 400, "-32600"},
		"an empty batch":           {"POST", "[]", []string{session}, 400, "-32600"},
		"a scalar":                 {"POST", "7", []string{session}, 400, "-32600"},
		"no method":                {"POST", `{"jsonrpc":"2.0","id":1}`, []string{session}, 400, "-32600"},
		"null id":                  {"POST", `{"jsonrpc":"2.0","id":null,"method":"ping"}`, []string{session}, 400, "-32600"},
		"fractional id":            {"POST", `{"jsonrpc":"2.0","id":1.5,"method":"ping"}`, []string{session}, 400, "-32600"},
		"wrong jsonrpc":            {"POST", `{"jsonrpc":"1.0","id":1,"method":"ping"}`, []string{session}, 400, "-32600"},
		"array params":             {"POST", `{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}`, []string{session}, 400, "-32602"},
		"repeated key":             {"POST", `{"jsonrpc":"2.0","id":1,"method":"ping","id":2}`, []string{session}, 400, "-32600"},
		"deep":                     {"POST", `{"jsonrpc":"2.0","id":1,"method":"ping","params":` + strings.Repeat(`{"a":`, 1000) + "1" + strings.Repeat("}", 1001), []string{session}, 400, "-32600"},
		"not UTF-8":                {"POST", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"p\xff\"}", []string{session}, 400, "-32700"},
		"no session":               {"POST", ping, nil, 400, "Mcp-Session-Id"},
		"answer without a session": {"POST", `{"jsonrpc":"2.0","id":1,"result":{}}`, nil, 400, ""},
		"unknown session":          {"POST", ping, []string{"Mcp-Session-Id: x"}, 404, ""},
		"unknown method, session":  {"POST", `{"jsonrpc":"2.0","id":1,"method":"no/such"}`, []string{session}, 200, "-32601"},
	} {
		t.Run(name, func(t *testing.T) {
			resp := f.do(f.request(c.method, c.body, c.headers...))
			b := body(resp)
			if resp.StatusCode != c.status || !strings.Contains(b, c.part) {
				t.Errorf("%d %s", resp.StatusCode, b)
			}
			if resp.StatusCode >= 400 && field(b, "error", "message") == "" {
				t.Errorf("no JSON-RPC error: %s", b)
			}
		})
	}
	f.want(f.post(ping, session), 200)
}

// TestVAL07ARefusalCarriesTheIDThatIsThereOnce: only a message whose id itself is repeated is refused without it.
func TestVAL07ARefusalCarriesTheIDThatIsThereOnce(t *testing.T) {
	f := newFixture(t)
	session, march := f.initialize(), f.march()
	for frame, id := range map[string]string{
		`{"jsonrpc":"2.0","id":7,"method":"ping","method":"ping"}`:                             "7",
		`{"jsonrpc":"2.0","id":7,"method":"ping","params":{},"params":{}}`:                     "7",
		`{"jsonrpc":"2.0","id":7,"method":5,"method":"ping"}`:                                  "7",
		`{"jsonrpc":"2.0","id":7,"method":5}`:                                                  "7",
		`{"jsonrpc":"2.0","id":7,"method":"ping","id":7}`:                                      "",
		`{"jsonrpc":"2.0","id":7,"result":{},"result":{}}`:                                     "", // an answer gets none
		strings.Replace(callBody2026("7", "echo", "x"), `"id":7`, `"id":7,"method":"ping"`, 1): "7",
		strings.Replace(callBody2026("7", "echo", "x"), `"id":7`, `"id":7,"\u0069d":7`, 1):     "",
	} {
		headers := []string{session}
		if strings.Contains(frame, "tools/call") {
			headers = headers2026("tools/call", "echo")
		}
		if b := f.want(f.post(frame, headers...), 400, "-32600"); field(b, "id") != id {
			t.Errorf("%s is refused with %s", frame, b)
		}
	}
	f.want(f.post(`[{"jsonrpc":"2.0","id":7,"method":"ping","method":"ping"}]`, march), 200, `"id":7,"error":{"code":-32600`)
}

// raw writes text to a connection of its own and returns the responses that come, until the server closes or says no more.
func (f *fixture) raw(parts ...string) *bufio.Reader {
	f.t.Helper()
	conn, err := net.Dial("tcp", f.ts.Listener.Addr().String())
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() { conn.Close() })
	for _, p := range parts {
		if _, err := io.WriteString(conn, p); err != nil {
			f.t.Fatal(err)
		}
	}
	return bufio.NewReader(conn)
}

func (f *fixture) response(r *bufio.Reader) (status int, text string) {
	f.t.Helper()
	resp, err := http.ReadResponse(r, nil)
	if err != nil {
		f.t.Fatal(err)
	}
	defer resp.Body.Close()
	return resp.StatusCode, body(resp)
}

func rawRequest(version, body string, headers ...string) string {
	return fmt.Sprintf("POST / HTTP/%s\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n%s\r\n%s",
		version, len(body), strings.Join(append(headers, ""), "\r\n"), body)
}

func TestHTTP10(t *testing.T) {
	f := newFixture(t)
	h := headers2026("tools/call", "echo")
	if status, b := f.response(f.raw(rawRequest("1.0", callBody2026("1", "echo", "old"), h...))); status != 200 || !strings.Contains(b, "old") {
		t.Errorf("%d %s", status, b)
	}
	noHost := strings.Replace(rawRequest("1.0", callBody2026("1", "echo", "old"), h...), "Host: localhost\r\n", "", 1)
	if status, b := f.response(f.raw(noHost)); status != 403 {
		t.Errorf("without a host: %d %s", status, b)
	}
	r := f.raw(rawRequest("1.0", callBody2026("1", "steps", "streamed"), headers2026("tools/call", "steps")...))
	<-f.began
	f.release <- struct{}{}
	if status, b := f.response(r); status != 200 || !strings.Contains(b, "notifications/progress") || !strings.Contains(b, "streamed") {
		t.Errorf("stream: %d %s", status, b)
	}
}

func TestPipelinedRequests(t *testing.T) {
	f := newFixture(t)
	h := headers2026("tools/call", "echo")
	r := f.raw(rawRequest("1.1", callBody2026("1", "echo", "one"), h...) + rawRequest("1.1", callBody2026("2", "echo", "two"), h...))
	for _, want := range []string{"one", "two"} {
		if status, b := f.response(r); status != 200 || !strings.Contains(b, want) {
			t.Errorf("%d %s", status, b)
		}
	}
}

func TestTruncatedBodies(t *testing.T) {
	f := newFixture(t)
	request := rawRequest("1.1", callBody2026("1", "echo", "cut"), headers2026("tools/call", "echo")...)
	conn, err := net.Dial("tcp", f.ts.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, request[:len(request)-10]); err != nil {
		t.Fatal(err)
	}
	if err := conn.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	if status, b := f.response(bufio.NewReader(conn)); status != 400 {
		t.Errorf("%d %s", status, b)
	}
}

func TestSlowBodiesTimeOut(t *testing.T) {
	f := newFixture(t, WithBodyTimeout(50*time.Millisecond))
	request := rawRequest("1.1", callBody2026("1", "echo", "slow"), headers2026("tools/call", "echo")...)
	r := f.raw(request[:len(request)-10])
	if status, b := f.response(r); status != 408 {
		t.Errorf("%d %s", status, b)
	}
	// The time of the body is not the time of the call.
	resp := make(chan string)
	go func() { resp <- body(f.call2026("1", "gate", "patient")) }()
	<-f.began
	time.Sleep(150 * time.Millisecond) // longer than a body may take: nothing else can show that it does not count
	f.release <- struct{}{}
	if b := <-resp; !strings.Contains(b, "patient") {
		t.Errorf("answer %s", b)
	}
}

func TestSlowHeadersTimeOut(t *testing.T) {
	s := Server("127.0.0.1:0", http.NotFoundHandler())
	s.ReadHeaderTimeout = 50 * time.Millisecond
	l, err := net.Listen("tcp", s.Addr)
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error)
	go func() { served <- s.Serve(l) }()
	conn, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, "POST / HTTP/1.1\r\nHost: lo"); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadAll(conn); err != nil {
		t.Errorf("the connection was not closed in order: %v", err)
	}
	s.Close()
	<-served
}

func TestServerBindsLoopback(t *testing.T) {
	for addr, want := range map[string]string{
		":8080": "127.0.0.1:8080", "127.0.0.1:1": "127.0.0.1:1", "0.0.0.0:8080": "0.0.0.0:8080", "[::]:80": "[::]:80", "example.com:80": "example.com:80",
	} {
		s := Server(addr, http.NotFoundHandler())
		if s.Addr != want {
			t.Errorf("%s: %s", addr, s.Addr)
		}
		if s.ReadHeaderTimeout == 0 || s.IdleTimeout == 0 || s.WriteTimeout != 0 || s.ReadTimeout != 0 {
			t.Errorf("timeouts of %s", addr)
		}
	}
}

// TestSlowClientsLoseTheirConnection: a client that does not read holds nobody up for longer than the write timeout.
func TestSlowClientsLoseTheirConnection(t *testing.T) {
	for _, timeout := range []time.Duration{time.Second / 2, time.Second} { // before the grace period is over, and with its end
		synctest.Test(t, func(t *testing.T) {
			f, dial := newLargeBubble(t, WithWriteTimeout(timeout))
			session := f.initialize()
			slow := []*bufio.Reader{
				dial(rawRequest("1.1", callBody2026("1", "large", "x"), append(headers2026("tools/call", "large"), accept)...)),
				dial(rawRequest("1.1", callBody("1", "large", "x"), session, accept)),
			}
			synctest.Wait()
			start := time.Now()
			f.want(f.post(callBody("2", "echo", "others go on"), session), 200, "others go on")
			// Shutdown waits for both: it returns only when neither is stuck.
			if err := f.h.Shutdown(t.Context()); err != nil || time.Since(start) > timeout {
				t.Errorf("after %v: %v", time.Since(start), err)
			}
			for _, r := range slow {
				if resp, err := http.ReadResponse(r, nil); err == nil {
					if n, err := io.Copy(io.Discard, resp.Body); err == nil {
						t.Errorf("a slow client got all: %d bytes", n)
					}
				}
			}
		})
	}
}
