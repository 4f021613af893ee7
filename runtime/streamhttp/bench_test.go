package streamhttp

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/mcpkiln/mcpkiln/runtime/server"
)

// benchmark posts bodies over n connections at a time. The client writes prepared bytes and reads as little as it must, so that the
// figures are the server's.
func benchmark(b *testing.B, n int, url string, headers http.Header, body func(i int) string) {
	b.Helper()
	var next atomic.Int64
	var clients sync.WaitGroup
	requests := make([][]byte, 1000)
	for i := range requests {
		requests[i] = rawBytes(headers, body(i))
	}
	conns := make([]net.Conn, n)
	for i := range conns {
		conn, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
		if err != nil {
			b.Fatal(err)
		}
		defer conn.Close()
		conns[i] = conn
	}
	b.ReportAllocs()
	b.ResetTimer()
	for c, conn := range conns {
		clients.Go(func() {
			// Ids in flight differ: each connection has its own share.
			from := bufio.NewReaderSize(conn, 64<<10)
			for i := c; next.Add(1) <= int64(b.N); i += n {
				if err := roundTrip(conn, from, requests[i%(len(requests)/n*n)]); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	clients.Wait()
	b.StopTimer()
}

func rawBytes(headers http.Header, body string) []byte {
	var w bytes.Buffer
	fmt.Fprintf(&w, "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n", len(body))
	_ = headers.Write(&w)
	w.WriteString("\r\n" + body)
	return w.Bytes()
}

// roundTrip reads a response of known length.
func roundTrip(conn net.Conn, from *bufio.Reader, request []byte) error {
	if _, err := conn.Write(request); err != nil {
		return err
	}
	length := -1
	for first := true; ; first = false {
		line, err := from.ReadSlice('\n')
		if err != nil {
			return err
		}
		if first && !bytes.HasPrefix(line, []byte("HTTP/1.1 200")) {
			return fmt.Errorf("answer %s", line)
		}
		if value, ok := bytes.CutPrefix(line, []byte("Content-Length: ")); ok {
			length = 0
			for _, c := range bytes.TrimSpace(value) {
				length = length*10 + int(c-'0')
			}
		}
		if len(line) == len("\r\n") {
			break
		}
	}
	if length < 0 {
		return errors.New("the answer has no length")
	}
	_, err := from.Discard(length)
	return err
}

func jsonHeaders(more ...string) http.Header {
	h := http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}}
	for i := 0; i < len(more); i += 2 {
		h.Set(more[i], more[i+1])
	}
	return h
}

// BenchmarkCall is a call with so many in flight. The floor is net/http with a reply that is written by hand: it finds the id in a fixed place,
// validates nothing and tracks nothing.
func BenchmarkCall(b *testing.B) {
	for _, n := range []int{1, 64} {
		for _, end := range []struct {
			name    string
			measure func(b *testing.B, n int)
		}{{"floor", callFloor}, {"2025-11-25", callOfSession}, {"2026-07-28", callOfExchange}} {
			b.Run(fmt.Sprintf("inflight=%d/%s", n, end.name), func(b *testing.B) { end.measure(b, n) })
		}
	}
}

func callFloor(b *testing.B, n int) {
	ts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		frame, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		rest := frame[len(`{"jsonrpc":"2.0","id":`):]
		id := rest[:bytes.IndexByte(rest, ',')]
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"{\"text\":\"hello\"}"}],"structuredContent":{"text":"hello"}}}`, id)
	}))
	defer ts.Close()
	benchmark(b, n, ts.URL, jsonHeaders(), func(i int) string { return callBody(fmt.Sprint(i), "echo", "hello") })
}

func callOfSession(b *testing.B, n int) {
	url := benchServer(b)
	benchmark(b, n, url, benchSession(b, url), func(i int) string { return callBody(fmt.Sprint(i), "echo", "hello") })
}

func callOfExchange(b *testing.B, n int) {
	headers := jsonHeaders("Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", "echo")
	benchmark(b, n, benchServer(b), headers, func(i int) string { return callBody2026(fmt.Sprint(i), "echo", "hello") })
}

func benchServer(b *testing.B) (url string) {
	srv := newServer(b, []server.Tool{tool("echo", func(_ context.Context, _ *server.Call, in *input) (*output, error) {
		return &output{text: in.text}, nil
	}), tool("report", report)})
	h := Handler(srv)
	ts := httptest.NewServer(h)
	b.Cleanup(func() {
		_ = h.Shutdown(context.Background())
		ts.Close()
		_ = srv.Shutdown(context.Background())
	})
	return ts.URL
}

// benchSession opens a session and returns the headers of its calls.
func benchSession(b *testing.B, url string) http.Header {
	resp, err := http.DefaultClient.Do(mustRequest(url, initializeBody))
	if err != nil {
		b.Fatal(err)
	}
	resp.Body.Close()
	http.DefaultClient.CloseIdleConnections()
	return jsonHeaders("Mcp-Session-Id", resp.Header.Get("Mcp-Session-Id"), "Mcp-Protocol-Version", "2025-11-25")
}

func mustRequest(url, body string) *http.Request {
	r, err := http.NewRequest(http.MethodPost, url, bytes.NewReader([]byte(body)))
	if err != nil {
		panic(err)
	}
	r.Header = jsonHeaders()
	return r
}
