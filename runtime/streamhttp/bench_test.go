package streamhttp

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/mcpkiln/mcpkiln/runtime/server"
)

// benchmark posts body from n clients at a time.
func benchmark(b *testing.B, n int, url string, headers http.Header, body func(i int) []byte) {
	b.Helper()
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: n, DisableCompression: true}}
	defer client.CloseIdleConnections()
	var next atomic.Int64
	var clients sync.WaitGroup
	b.ReportAllocs()
	b.ResetTimer()
	for range n {
		clients.Go(func() {
			for {
				i := int(next.Add(1))
				if i > b.N {
					return
				}
				r, err := http.NewRequest(http.MethodPost, url, bytes.NewReader(body(i)))
				if err != nil {
					b.Error(err)
					return
				}
				r.Header = headers
				resp, err := client.Do(r)
				if err != nil {
					b.Error(err)
					return
				}
				_, _ = io.Copy(io.Discard, resp.Body)
				resp.Body.Close()
				if resp.StatusCode != http.StatusOK {
					b.Errorf("status %d", resp.StatusCode)
					return
				}
			}
		})
	}
	clients.Wait()
	b.StopTimer()
}

func jsonHeaders(more ...string) http.Header {
	h := http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}}
	for i := 0; i < len(more); i += 2 {
		h.Set(more[i], more[i+1])
	}
	return h
}

// BenchmarkCallFloor is net/http with a reply that is written by hand: it finds the id in a fixed place, validates nothing and
// tracks nothing. The client's part of the work is in every figure.
func BenchmarkCallFloor(b *testing.B) {
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
	for _, n := range []int{1, 64} {
		b.Run(fmt.Sprintf("inflight=%d", n), func(b *testing.B) {
			benchmark(b, n, ts.URL, jsonHeaders(), func(i int) []byte { return []byte(callBody(fmt.Sprint(i), "echo", "hello")) })
		})
	}
}

func benchServer(b *testing.B) (url string) {
	srv := newServer(b, []server.Tool{tool("echo", func(_ context.Context, _ *server.Call, in *input) (*output, error) {
		return &output{text: in.text}, nil
	})})
	h := Handler(srv)
	ts := httptest.NewServer(h)
	b.Cleanup(func() {
		_ = h.Shutdown(context.Background())
		ts.Close()
		_ = srv.Shutdown(context.Background())
	})
	return ts.URL
}

func BenchmarkCall(b *testing.B) {
	b.Run("revision=2025-11-25", func(b *testing.B) {
		url := benchServer(b)
		resp, err := http.DefaultClient.Do(mustRequest(url, initializeBody))
		if err != nil {
			b.Fatal(err)
		}
		resp.Body.Close()
		headers := jsonHeaders("Mcp-Session-Id", resp.Header.Get("Mcp-Session-Id"), "Mcp-Protocol-Version", "2025-11-25")
		for _, n := range []int{1, 64} {
			b.Run(fmt.Sprintf("inflight=%d", n), func(b *testing.B) {
				benchmark(b, n, url, headers, func(i int) []byte { return []byte(callBody(fmt.Sprint(i), "echo", "hello")) })
			})
		}
		http.DefaultClient.CloseIdleConnections()
	})
	b.Run("revision=2026-07-28", func(b *testing.B) {
		url := benchServer(b)
		headers := jsonHeaders("Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", "echo")
		for _, n := range []int{1, 64} {
			b.Run(fmt.Sprintf("inflight=%d", n), func(b *testing.B) {
				benchmark(b, n, url, headers, func(i int) []byte { return []byte(callBody2026(fmt.Sprint(i), "echo", "hello")) })
			})
		}
	})
}

func mustRequest(url, body string) *http.Request {
	r, err := http.NewRequest(http.MethodPost, url, bytes.NewReader([]byte(body)))
	if err != nil {
		panic(err)
	}
	r.Header = jsonHeaders()
	return r
}
