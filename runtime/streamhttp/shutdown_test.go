package streamhttp

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/inflight"
	"github.com/mcpkiln/mcpkiln/runtime/server"
)

// Responses that nobody reads do not hold up the shutdown, whatever they are: it takes the grace period and what it takes to see that they
// stand still.
func TestCAN21ResponsesThatNobodyReadsDoNotHoldUpTheShutdown(t *testing.T) {
	call2026 := func(tool string) func(*fixture) string {
		return func(*fixture) string {
			return rawRequest("1.1", callBody2026("1", tool, "x"), append(headers2026("tools/call", tool), accept)...)
		}
	}
	for name, request := range map[string]func(f *fixture) string{
		"answer of an exchange":   call2026("large"),
		"progress of an exchange": call2026("chatty"),
		"answer of a session": func(f *fixture) string {
			return rawRequest("1.1", callBody("1", "large", "x"), f.initialize(), accept)
		},
		"progress of a session": func(f *fixture) string {
			return rawRequest("1.1", callBody("1", "chatty", "x"), f.initialize(), accept)
		},
		"subscription": func(*fixture) string {
			return rawRequest("1.1", `{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},`+meta2026+`}}`,
				append(headers2026("subscriptions/listen", ""), accept)...)
		},
		"listener": func(f *fixture) string {
			return strings.Replace(rawRequest("1.1", "", f.initialize(), "Accept: text/event-stream"), "POST", "GET", 1)
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f, dial := newLargeBubble(t, WithWriteTimeout(0))
				dial(request(f))
				synctest.Wait()
				start := time.Now()
				if err := f.h.Shutdown(t.Context()); err != nil {
					t.Error(err)
				}
				if took := time.Since(start); took > f.srv.Grace()+2*server.LateStall {
					t.Errorf("it took %v", took)
				}
			})
		})
	}
}

// Clients dial while another connection becomes free, and then never use what they dialled.
func TestCAN21AConnectionThatSentNothingDoesNotHoldUpTheShutdown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := Handler(newServer(t, nil))
		web, l := Server("", h), newPipes()
		served := make(chan error, 1)
		go func() { served <- web.Serve(l) }()
		for range 2 {
			if _, err := l.dial(t.Context(), "", ""); err != nil {
				t.Fatal(err)
			}
		}
		synctest.Wait()
		start := time.Now()
		if err := web.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
		if took := time.Since(start); took > time.Second {
			t.Errorf("it took %v", took)
		}
		if err := <-served; !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
	})
}

// Whoever writes one learns why it ended.
func TestTSK28AResponseThatIsGivenUpSaysWhy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, dial := newLargeBubble(t)
		dial(rawRequest("1.1", callBody2026("1", "chatty", "x"), append(headers2026("tools/call", "chatty"), accept)...))
		synctest.Wait() // its progress is being written
		f.h.mu.Lock()
		for x := range f.h.exchanges {
			x.GiveUp(0)
		}
		f.h.mu.Unlock()
		<-f.began
		cause := (*inflight.Cause)(nil)
		if err := <-f.causes; !errors.As(err, &cause) || cause.Source != inflight.SourceDisconnect || !errors.Is(err, server.ErrStalled) {
			t.Errorf("the call ended with %v", err)
		}
	})
}

// A client that reads, if slowly, gets all of its answer.
func TestCAN21AResponseThatIsReadIsNotGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, dial := newLargeBubble(t)
		r := dial(rawRequest("1.1", callBody2026("1", "huge", "x"), append(headers2026("tools/call", "huge"), accept)...))
		synctest.Wait()
		done := make(chan error, 1)
		go func() { done <- f.h.Shutdown(context.WithoutCancel(t.Context())) }()
		resp, err := http.ReadResponse(bufio.NewReader(r), nil)
		if err != nil {
			t.Fatal(err)
		}
		n, err := int64(0), error(nil)
		for err == nil {
			var more int64
			more, err = io.CopyN(io.Discard, resp.Body, 4*piece)
			n += more
			time.Sleep(server.LateStall / 2)
		}
		if err != io.EOF || n < 64*piece {
			t.Errorf("%d bytes, %v", n, err)
		}
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}
