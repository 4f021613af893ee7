package streamhttp

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/server"
)

// newLargeBubble is a bubble with a tool of answers of half a MiB, and 8 MiB for those that are not read.
func newLargeBubble(t *testing.T, opts ...Option) (f *fixture, dial func(request string) (answer *bufio.Reader)) {
	f = &fixture{t: t, began: make(chan struct{}, 16), causes: make(chan error, 16)}
	text := func(n int) run {
		return func(context.Context, *server.Call, *input) (*output, error) {
			return &output{text: strings.Repeat("x", n)}, nil
		}
	}
	f.srv = newServer(t, []server.Tool{tool("large", text(1<<18)), tool("huge", text(2<<20)), tool("echo", f.echo), tool("chatty", f.steps)}, server.WithMaxBytesUnread(8<<20), server.WithGrace(time.Second))
	f.h = Handler(f.srv, append(opts, WithKeepAlive(0))...) // a comment would hold the lock of its stream, which a bubble does not see through
	l := newPipes()
	f.ts = &httptest.Server{Listener: l, Config: &http.Server{Handler: f.h}}
	f.ts.Start()
	f.ts.Client().Transport.(*http.Transport).DialContext = l.dial
	t.Cleanup(f.shutDown)
	return f, func(request string) *bufio.Reader {
		conn, err := l.dial(t.Context(), "", "")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
		if _, err := io.WriteString(conn, request); err != nil {
			t.Fatal(err)
		}
		return bufio.NewReader(conn)
	}
}

// A client that reads nothing of its responses for five seconds loses one or some of them while others wait for a large answer, also
// if it counts as the same caller. Small answers wait for nobody.
func TestTSK28ResponsesThatNobodyReadsGiveWay(t *testing.T) {
	for name, request := range map[string]func(f *fixture, tool string) string{
		"2026-07-28": func(_ *fixture, tool string) string {
			return rawRequest("1.1", callBody2026("1", tool, "x"), append(headers2026("tools/call", tool), accept)...)
		},
		"2025-11-25": func(f *fixture, tool string) string {
			return rawRequest("1.1", callBody("1", tool, "x"), f.initialize(), accept)
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f, dial := newLargeBubble(t)
				var stuck []*bufio.Reader
				for range 5 {
					stuck = append(stuck, dial(request(f, "large")))
					synctest.Wait()
				}
				start := time.Now()
				if status, b := f.response(dial(request(f, "echo"))); status != http.StatusOK || time.Since(start) > 0 {
					t.Errorf("a small answer took %v: %d %s", time.Since(start), status, b)
				}
				status, b := f.response(dial(request(f, "large")))
				if took := time.Since(start); status != http.StatusOK || took == 0 || took > 7*time.Second {
					t.Errorf("a large answer took %v: %d %.200s", took, status, b)
				}
				lost := 0
				for _, r := range stuck {
					resp, err := http.ReadResponse(r, nil)
					if err == nil {
						_, err = io.Copy(io.Discard, resp.Body)
						resp.Body.Close()
					}
					if err != nil {
						lost++
					}
				}
				if lost == 0 || lost == len(stuck) {
					t.Errorf("%d of %d responses were lost", lost, len(stuck))
				}
			})
		})
	}
}

const accept = "Accept: application/json, text/event-stream"
