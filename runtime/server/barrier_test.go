package server

import (
	"context"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/mcpkiln/mcpkiln/runtime/rpc"
)

// Whatever is said after a cancellation was read may be proof of that, so it waits for what was permitted before.
func TestCAN02WhateverIsProofOfACancellationSettlesIt(t *testing.T) {
	for name, proof := range map[string]func(c *client){
		"a refusal in a batch": func(c *client) { c.send(`[{"jsonrpc":"2.0","id":2,"method":"nope"}]`) },
		"an empty batch":       func(c *client) { c.send(`[]`) },
		"a batch's result":     func(c *client) { c.send(`[` + ping("2") + `]`) },
		"a result that an answer led to": func(c *client) {
			c.send(`{"jsonrpc":"2.0","id":1,"result":` + accepted + `}`)
		},
		"a question withdrawn": func(c *client) { c.cancel("9") },
	} {
		c := dialBatches(t, asker(confirmQuestion()))
		c.sendf(`{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"ask","arguments":{}}}`)
		if q := c.next(); q.Method != elicit {
			t.Fatal(q.raw)
		}
		p := c.srv.onlyPeer()
		p.gate.RLock() // somebody writes what was permitted before
		c.cancel("77")
		proof(c)
		for !blocked("(*peer).drainAfterCancel") && len(c.frames) == 0 {
			runtime.Gosched()
		}
		if len(c.frames) > 0 {
			t.Errorf("%s is written too early", name)
		}
		p.gate.RUnlock()
		<-c.frames
		c.close()
	}
}

// A client that sends batches and does not read makes the server stop reading.
func TestTSK28RefusalsOfBatchesSlowTheReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := dialBatches(t, tool("echo", structured(echo)))
		near, far := rpc.Pipe()
		served := make(chan error, 1)
		go func() { served <- c.srv.Serve(t.Context(), far) }()
		silent := &client{t: t, conn: near, srv: c.srv}
		silent.send(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-03-26","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`)
		var sent atomic.Int64
		go func() {
			frame := []byte(`[` + strings.Repeat("1,", rpc.MaxBatch-1) + `1]`)
			for sent.Load() < 10_000 && near.WriteFrame(frame) == nil {
				sent.Add(1)
			}
		}()
		synctest.Wait()
		if n := sent.Load(); n == 10_000 {
			t.Error("all are read")
		}
		near.Close()
		<-served
		c.close()
		synctest.Wait()
		if used := c.srv.bytes.Used(); used != 0 {
			t.Errorf("%d bytes still count", used)
		}
	})
}

// What a batch holds counts with all of it, and an answer that does not fit is not lost: its request was served.
func TestTSK28AnAnswerThatCanNotWaitInABatchIsNotLost(t *testing.T) {
	const size = 1 << 20
	c := dialBatches(t, tool("large", large(size, new(atomic.Int64))))
	c.srv.bytes.Max = size
	c.send(`[{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"large","arguments":{}}}]`)
	if got := c.array(); len(got["1"]) < size {
		t.Errorf("%.200s", got["1"])
	}
	c.send(`[` + strings.Repeat(" ", size) + ping("2") + `]`)
	c.next().wantError(t, -32600, "limit reached")
	c.close()
}

// A handler that follows a cancellation has failed at nothing: middleware gets no result that says so.
func TestCAN02AFollowedCancellationIsNoToolError(t *testing.T) {
	h := newHold()
	type answer struct {
		result *MessageResult
		err    error
	}
	answers := make(chan answer, 1)
	f := newFixture(t, []Tool{tool("hang", h.handler())},
		wrapping("tools/call", func(ctx context.Context, next Handle, m *Message) (*MessageResult, error) {
			result, err := next(ctx, m)
			answers <- answer{result, err}
			return result, err
		}))
	c := f.dial(t.Context())
	c.initialize(`{}`)
	c.call("1", "hang", `{}`)
	<-h.began
	c.cancel("1")
	if got := <-answers; got.err == nil || got.result != nil {
		t.Errorf("a result: %v, error %v", got.result != nil, got.err)
	}
	for _, m := range c.fence() {
		t.Errorf("sent after the cancellation: %s", m.raw)
	}
}
