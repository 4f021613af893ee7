package server

import (
	"context"
	"runtime"
	"strings"
	"testing"

	"github.com/mcpkiln/mcpkiln/runtime/rpc"
)

// TestSRV06APanicOfAToolFilterShowsNothing: it is asked where messages are received, and everybody else is served on.
func TestSRV06APanicOfAToolFilterShowsNothing(t *testing.T) {
	f := dual(t, Definition{Tools: []Tool{tool("echo", structured(echo)), tool("torn", structured(echo))}},
		WithToolFilter(func(_ context.Context, tool string) bool {
			if tool == "torn" {
				panic("torn")
			}
			return true
		}))
	c := f.dial(t.Context())
	c.initialize(nothing)
	c.call("1", "torn", `{"text":"x"}`)
	if m, _ := c.answer("1"); !strings.Contains(m.raw, "unknown tool") {
		t.Error(m.raw)
	}
	if m := c.request("2", "tools/list", "{}"); strings.Contains(m.raw, "torn") || !strings.Contains(m.raw, "echo") {
		t.Error(m.raw)
	}
}

// TestLET12APanicAboutRootsEndsNothing: any client can send what the handler is called for.
func TestLET12APanicAboutRootsEndsNothing(t *testing.T) {
	called := make(chan struct{})
	f := dual(t, Definition{Tools: []Tool{tool("echo", structured(echo))}},
		WithRootsChanged(func(context.Context) { close(called); panic("torn") }))
	c := f.dial(t.Context())
	c.initialize(`{"roots":{"listChanged":true}}`)
	c.sendf(`{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}`)
	<-called
	c.close() // returns when the handler has
}

// TSK25: what ends the goroutine that reads ends the connection, with an error that says so, and leaves nobody waiting.
func TestTSK25AFilterThatExitsEndsTheConnection(t *testing.T) {
	f := dual(t, Definition{Tools: []Tool{tool("echo", structured(echo))}}, WithToolFilter(func(context.Context, string) bool {
		runtime.Goexit()
		return true
	}))
	near, far := rpc.Pipe()
	defer near.Close()
	served := make(chan error, 1)
	go func() { served <- f.srv.Serve(t.Context(), far) }()
	if err := near.WriteFrame([]byte(frame(1, "tools/call", nothing, callParams("echo", `{"text":"x","count":1}`)))); err != nil {
		t.Fatal(err)
	}
	if err := <-served; err == nil || err.Error() != errReaderExited.Error() {
		t.Errorf("served: %v", err)
	}
}
