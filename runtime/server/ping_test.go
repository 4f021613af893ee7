package server

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/inflight"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
)

// pinged is how many pings came since it was called last; each is answered if answer is set.
func (c *client) pinged(answer string) (n int) {
	synctest.Wait()
	for len(c.frames) > 0 {
		if m := c.next(); m.Method == "ping" {
			n++
			if answer != "" {
				c.sendf(`{"jsonrpc":"2.0","id":%s,%s}`, m.ID, answer)
			}
		}
	}
	return n
}

// A client that says anything at all is there, and is asked when it says nothing.
func TestLET11ASilentClientIsAsked(t *testing.T) {
	for answer, every := range map[string]int{`"result":{}`: 20, `"error":{"code":-32601,"message":"what?"}`: 20} {
		synctest.Test(t, func(t *testing.T) {
			c := newFixture(t, []Tool{tool("echo", structured(echo))}, WithPing(10*time.Second)).dial(t.Context())
			time.Sleep(time.Hour) // before the handshake there is no revision to ask in
			if n := c.pinged(answer); n != 0 {
				t.Errorf("%d pings before the handshake", n)
			}
			c.initialize(`{}`)
			asked := 0
			for range 600 {
				time.Sleep(time.Second)
				asked += c.pinged(answer)
			}
			if asked != 600/every {
				t.Errorf("%s: %d pings in ten minutes", answer, asked)
			}
			for i := range 600 {
				time.Sleep(time.Second)
				c.sendf(`{"jsonrpc":"2.0","method":"notifications/whatever%d"}`, i)
				if i > 10 && c.pinged("") > 0 {
					t.Fatal("asked though it speaks")
				}
			}
			c.request("1", "tools/call", `{"name":"echo","arguments":{"text":"x"}}`).wantNoError(t)
			c.close()
		})
	}
}

// A client that does not answer ends, and its calls are told why.
func TestLET11AClientThatDoesNotAnswerIsGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log syncBuffer
		h := newHold()
		f := newFixture(t, []Tool{tool("hang", h.handler())}, WithPing(10*time.Second), WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
		c := f.dial(t.Context())
		c.initialize(`{}`)
		c.call("1", "hang", `{}`)
		<-h.began
		began := time.Now()
		cause := <-h.ended
		if cause.Source != inflight.SourceDisconnect || !errors.Is(cause, ErrSilent) {
			t.Error(cause)
		}
		if took := time.Since(began); took < 20*time.Second || took > 30*time.Second {
			t.Errorf("ended after %v", took)
		}
		if err := <-c.served; !errors.Is(err, ErrSilent) {
			t.Error(err)
		}
		f.srv.records.Flush(t.Context())
		if !strings.Contains(log.String(), "did not answer a ping") {
			t.Errorf("logged: %s", log.String())
		}
		c.closed = true
		c.conn.Close()
		<-c.read
	})
}

// One that reads nothing any more blocks the write of the ping: that does not hold up the end.
func TestLET11AClientThatReadsNothingIsGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, []Tool{tool("echo", structured(echo))}, WithPing(10*time.Second))
		up, fromClient := io.Pipe()
		fromServer, down := io.Pipe()
		served := make(chan error, 1)
		go func() { served <- f.srv.Serve(t.Context(), rpc.Lines(up, down, closers{up, down}, rpc.LineOptions{})) }()
		client := rpc.Lines(fromServer, fromClient, closers{fromServer, fromClient}, rpc.LineOptions{})
		if err := client.WriteFrame([]byte(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`)); err != nil {
			t.Fatal(err)
		}
		if _, err := client.ReadFrame(nil); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		if err := <-served; !errors.Is(err, ErrSilent) {
			t.Error(err)
		}
		if took := time.Since(began); took > 35*time.Second {
			t.Errorf("ended after %v", took)
		}
		client.Close()
	})
}

// A connection is not asked unless that is wanted, and neither is a client of a revision without ping.
func TestLET11ConnectionsAreNotAskedByDefault(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for name, opts := range map[string][]Option{"default": nil, "off": {WithPing(0)}} {
			c := newFixture(t, []Tool{tool("echo", structured(echo))}, opts...).dial(t.Context())
			c.initialize(`{}`)
			time.Sleep(24 * time.Hour)
			if n := c.pinged(""); n != 0 {
				t.Errorf("%s: %d pings", name, n)
			}
			c.close()
		}
		c := dual(t, Definition{Tools: []Tool{tool("echo", structured(echo))}}, WithPing(time.Second)).dial(t.Context())
		for i := range 3 {
			c.send(frame(i, "tools/list", nothing, ""))
			time.Sleep(time.Hour)
			if n := c.pinged(""); n != 0 {
				t.Errorf("%d pings in a revision that has none", n)
			}
		}
		c.close()
	})
}

// ping and tasks/cancel are answered when everything else is refused (also CAN05's neighbour: they end others).
func TestLET11PingAndCancelPassTheLimit(t *testing.T) {
	h := newHold()
	c := newFixture(t, jobs(h), WithMaxInFlight(3)).dialTasks("ada")
	id := c.start("1", "hang", "")
	<-h.began
	for i := range 3 {
		c.call(fmt.Sprint(10+i), "hang", `{}`)
		<-h.began
	}
	c.request("2", "tools/call", `{"name":"quick","arguments":{"text":"x"}}`).wantError(t, -32600, "in flight")
	c.request("3", "ping", `{}`).wantResult(t, `{}`)
	c.request("4", "tasks/cancel", taskID(id)).wantNoError(t)
	h.free()
}
