package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/mcpkiln/mcpkiln/runtime/inflight"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
)

// client is a peer that speaks raw JSON. Reads are in the order of arrival; expectations that are not met end the test.
type client struct {
	t      *testing.T
	srv    *Server
	conn   rpc.Conn
	frames chan string
	read   chan struct{} // closed when the reader is gone
	served <-chan error
	closed bool
}

func newClient(t *testing.T, conn rpc.Conn) *client {
	c := &client{t: t, conn: conn, frames: make(chan string, 1<<16), read: make(chan struct{})}
	go func() {
		defer close(c.read)
		defer close(c.frames)
		for {
			frame, err := conn.ReadFrame(nil)
			if err != nil {
				return
			}
			c.frames <- string(frame)
		}
	}()
	return c
}

// close ends the connection and waits for Serve.
func (c *client) close() {
	if c.closed {
		return
	}
	c.closed = true
	c.conn.Close()
	<-c.read
	if err := <-c.served; err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrClosedPipe) && // or the server was writing a status
		!errors.Is(err, context.Canceled) && !errors.Is(err, ErrShutdown) {
		c.t.Errorf("Serve: %v", err)
	}
}

func (c *client) send(lines ...string) {
	c.t.Helper()
	for _, line := range lines {
		if err := c.conn.WriteFrame([]byte(line)); err != nil {
			c.t.Fatal(err)
		}
	}
}

func (c *client) sendf(format string, args ...any) {
	c.t.Helper()
	c.send(fmt.Sprintf(format, args...))
}

// message is a frame from the server.
type message struct {
	raw    string
	about  rpc.ID          // what the server said that it belongs to, of a frame in an inbox
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Code    int             `json:"code"`
		Message string          `json:"message"`
		Data    json.RawMessage `json:"data"`
	} `json:"error"`
}

// next is the next frame.
func (c *client) next() message {
	c.t.Helper()
	frame, ok := <-c.frames
	if !ok {
		c.t.Fatal("the connection is closed")
	}
	m := message{raw: frame}
	if err := json.Unmarshal([]byte(frame), &m); err != nil {
		c.t.Fatalf("the server sent %q: %v", frame, err)
	}
	return m
}

// answer is the answer to id; other frames before it are returned too.
func (c *client) answer(id string) (answer message, before []message) {
	c.t.Helper()
	for {
		m := c.next()
		if m.Method == "" && string(m.ID) == id {
			return m, before
		}
		before = append(before, m)
	}
}

// request sends and waits for the answer.
func (c *client) request(id, method, params string) message {
	c.t.Helper()
	c.sendf(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":%s}`, id, method, params)
	m, _ := c.answer(id)
	return m
}

func (c *client) call(id, tool, args string) {
	c.t.Helper()
	c.sendf(`{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, id, tool, args)
}

func (c *client) cancel(id string) {
	c.t.Helper()
	c.sendf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%s,"reason":"changed my mind"}}`, id)
}

// fence waits until the server has read everything that was sent, and returns what it sent meanwhile.
func (c *client) fence() []message {
	c.t.Helper()
	c.send(`{"jsonrpc":"2.0","id":"fence","method":"ping"}`)
	_, before := c.answer(`"fence"`)
	return before
}

// inFlight lists the calls of tool.
func (c *client) inFlight(tool string) (list []inflight.Snapshot) {
	for _, s := range c.srv.InFlight() {
		if s.Tool == tool {
			list = append(list, s)
		}
	}
	return list
}

func (c *client) initialize(capabilities string) message {
	c.t.Helper()
	m := c.request(`"init"`, "initialize", `{"protocolVersion":"2025-11-25","capabilities":`+capabilities+`,"clientInfo":{"name":"c","version":"1"}}`)
	c.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return m
}

// wantError holds the answer against a code and parts of the message.
func (m message) wantError(t *testing.T, code int, parts ...string) {
	t.Helper()
	if m.Error == nil {
		t.Fatalf("want error %d, got %s", code, m.raw)
	}
	if m.Error.Code != code {
		t.Errorf("want code %d, got %s", code, m.raw)
	}
	for _, p := range parts {
		if !strings.Contains(m.Error.Message, p) {
			t.Errorf("want %q in the message, got %s", p, m.raw)
		}
	}
}

// wantResult holds the result against one that is given as JSON.
func (m message) wantResult(t *testing.T, want string) {
	t.Helper()
	if string(m.Result) != want {
		t.Errorf("want result %s, got %s", want, m.raw)
	}
}

// field is the value at a path of member names in the frame, as JSON; "" when it is absent.
func (m message) field(path ...string) string {
	value := json.RawMessage(m.raw)
	for _, name := range path {
		var members map[string]json.RawMessage
		if json.Unmarshal(value, &members) != nil {
			return ""
		}
		value = members[name]
	}
	return string(value)
}

// str is field without quotes.
func (m message) str(path ...string) string {
	var s string
	_ = json.Unmarshal([]byte(m.field(path...)), &s)
	return s
}
