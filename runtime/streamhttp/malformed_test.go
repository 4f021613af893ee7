package streamhttp

import (
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// dialRaw sends text and returns the whole response.
func dialRaw(t *testing.T, addr net.Addr, text string) string {
	t.Helper()
	conn, err := net.Dial(addr.Network(), addr.String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	go io.WriteString(conn, text)
	_ = conn.SetReadDeadline(time.Now().Add(30 * time.Second))
	b, err := io.ReadAll(conn)
	if err != nil {
		t.Errorf("%.60q: %v", text, err)
	}
	return string(b)
}

// malformedRequests are those that net/http refuses by itself, each with the status and the code of the refusal, and a part of it.
var malformedRequests = []struct {
	name, text, status, code, says string
}{
	{"a control character in a value", rawHead("Mcp-Name: a\x01b"), "400 Bad Request", "-32020", "control character"},
	{"NUL in a value", rawHead("Mcp-Name: a\x00b"), "400 Bad Request", "-32020", "control character"},
	{"DEL in a value", rawHead("Mcp-Name: a\x7fb"), "400 Bad Request", "-32020", "control character"},
	{"a carriage return in a value", rawHead("Mcp-Name: a\rb"), "400 Bad Request", "-32020", "control character"},
	{"a control character in a header of no revision", rawHead("X-Trace: a\x01b"), "400 Bad Request", "-32020", "control character"},
	{"a control character in a name", rawHead("Mcp\x01Name: ab"), "400 Bad Request", "-32020", "control character"},
	{"a blank in a name", rawHead("Mcp Name: ab"), "400 Bad Request", "-32020", "the name of a header is not valid"},
	{"a line without a name", rawHead("ab"), "400 Bad Request", "-32020", "no name"},
	{"no Host", "POST / HTTP/1.1\r\n\r\n", "400 Bad Request", "-32600", "Host is missing"},
	{"two Hosts", rawHead("Host: localhost"), "400 Bad Request", "-32020", "repeated"},
	{"a Host that is none", "POST / HTTP/1.1\r\nHost: a b\r\n\r\n", "400 Bad Request", "-32600", "Host is not valid"},
	{"too large a head", rawHead("X-Trace: " + strings.Repeat("a", maxHeader+8<<10)), "431 Request Header Fields Too Large", "-32600", "too large"},
	{"a first line that is none", "\x01\r\n\r\n", "400 Bad Request", "-32020", "first line"},
	{"a length that is none", rawHead("Content-Length: many"), "400 Bad Request", "-32020", "Content-Length"},
	{"another transfer coding", rawHead("Transfer-Encoding: gzip"), "501 Not Implemented", "-32600", "Transfer-Encoding"},
	{"another version", "POST / HTTP/3.0\r\nHost: localhost\r\n\r\n", "505 HTTP Version Not Supported", "-32600", "version of HTTP"},
}

func rawHead(header string) string {
	return "POST / HTTP/1.1\r\nHost: localhost\r\n" + header + "\r\n\r\n"
}

// What net/http refuses by itself is a JSON-RPC error like every other refusal, and one of a header that is not valid has its code
// (basic/transports/streamable-http#server-validation of 2026-07-28).
func TestLET21EXT14WhatNetHTTPRefusesIsOurError(t *testing.T) {
	f := newFixture(t)
	for _, at := range []string{"127.0.0.1:0", "unix:" + filepath.Join(socketDir(t), "mcp.sock")} {
		l, err := Listen(at)
		if err != nil {
			t.Fatal(err)
		}
		serveOn(t, l, f.h)
		for _, c := range malformedRequests {
			wantRefused(t, c.name, dialRaw(t, l.Addr(), c.text), c.status, c.code, c.says)
		}
		good := rawRequest("1.1", callBody2026("1", "echo", "x"), append(headers2026("tools/call", "echo"), accept)...)
		second := dialRaw(t, l.Addr(), good+rawHead("Mcp-Name: a\x01b"))
		first, rest, _ := strings.Cut(second, "}HTTP/1.1 ")
		if !strings.Contains(first, `"result"`) {
			t.Errorf("%s: before a malformed request: %s", at, second)
		}
		wantRefused(t, "a second request", "HTTP/1.1 "+rest, "400 Bad Request", "-32020", "control character")
	}
}

func wantRefused(t *testing.T, name, got, status, code, says string) {
	t.Helper()
	head, text, _ := strings.Cut(got, "\r\n\r\n")
	resp := strings.Split(head, "\r\n")
	if resp[0] != "HTTP/1.1 "+status || !strings.Contains(head, "\r\nContent-Type: application/json\r\n") || !strings.Contains(head, "\r\nConnection: close\r\n") {
		t.Errorf("%s: %q", name, head)
	}
	if field(text, "error", "code") != code || field(text, "id") != "" || !strings.Contains(field(text, "error", "message"), says) {
		t.Errorf("%s: %q, want %s and %q", name, text, code, says)
	}
}

// A response is not lost because its client is still sending.
func TestLET21ARefusalReachesAClientThatIsStillSending(t *testing.T) {
	l, err := Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	serveOn(t, l, http.NotFoundHandler())
	for range 20 {
		got := dialRaw(t, l.Addr(), rawHead("Content-Length: 500000\r\nX-Trace: \x01")+strings.Repeat("x", 500_000))
		wantRefused(t, "a body behind it", got, "400 Bad Request", "-32020", "control character")
	}
}

// A handler's response passes as it is, also one that says the same, and so does what goes over TLS.
func TestLET21OnlyRefusalsOfNetHTTPAreReplaced(t *testing.T) {
	plain := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.Header().Set("Connection", "close")
		w.WriteHeader(http.StatusBadRequest)
		io.WriteString(w, "400 Bad Request")
	}
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := Listener(inner)
	serveOn(t, l, http.HandlerFunc(plain))
	if got := dialRaw(t, l.Addr(), rawHead("X: y")); !strings.HasSuffix(got, "\r\n\r\n400 Bad Request") {
		t.Errorf("a handler's response: %q", got)
	}
	wantRefused(t, "a Listener of one's own", dialRaw(t, l.Addr(), rawHead("X: \x01")), "400 Bad Request", "-32020", "control character")

	ts := httptest.NewUnstartedServer(http.HandlerFunc(plain))
	ts.Listener = Listener(ts.Listener)
	ts.StartTLS()
	defer ts.Close()
	conn, err := tls.Dial("tcp", ts.Listener.Addr().String(), &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"http/1.1"}})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	io.WriteString(conn, rawHead("X: \x01"))
	if b, err := io.ReadAll(conn); err != nil || !strings.HasSuffix(string(b), "\r\n\r\n400 Bad Request") {
		t.Errorf("over TLS: %q %v", b, err)
	}
}

// Connections of a Listener have what net/http, and those who know what they accepted, look for.
func TestAListenersConnectionsKeepTheirAbilities(t *testing.T) {
	for _, at := range []string{"127.0.0.1:0", "unix:" + filepath.Join(socketDir(t), "mcp.sock")} {
		l, err := Listen(at)
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		client, err := net.Dial(l.Addr().Network(), l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close()
		conn, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if _, ok := conn.(interface{ CloseWrite() error }); !ok {
			t.Errorf("%T has no CloseWrite", conn)
		}
		inner := conn.(interface{ NetConn() net.Conn }).NetConn()
		if _, tcp := inner.(*net.TCPConn); tcp {
			if _, ok := conn.(io.ReaderFrom); !ok {
				t.Errorf("%T has no ReadFrom", conn)
			}
		} else if _, unix := inner.(*net.UnixConn); !unix {
			t.Errorf("%T is around a %T", conn, inner)
		}
	}
}
