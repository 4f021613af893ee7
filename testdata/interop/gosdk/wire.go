package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// recorder remembers what was sent and which requests were answered. It is the round tripper of HTTP clients, because a
// transport of the SDK that is wrapped loses what it is told of its session.
type recorder struct {
	mu      sync.Mutex
	answers map[string]bool // by id, as JSON
	methods map[string]int  // that were sent
	calls   chan string     // ids of tools/call, as JSON
}

func newRecorder() *recorder {
	return &recorder{answers: map[string]bool{}, methods: map[string]int{}, calls: make(chan string, 64)}
}

// envelope is what a message says of itself.
type envelope struct {
	ID     json.RawMessage
	Method string
}

func (r *recorder) sent(message []byte) {
	var e envelope
	if json.Unmarshal(message, &e) != nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.methods[e.Method]++
	if e.Method == "tools/call" {
		r.calls <- string(e.ID)
	}
}

func (r *recorder) received(message []byte) {
	var e envelope
	if json.Unmarshal(message, &e) != nil || e.Method != "" || e.ID == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.answers[string(e.ID)] = true
}

// awaitCall returns the id of the next tools/call that is written.
func (r *recorder) awaitCall(ctx context.Context) string {
	select {
	case id := <-r.calls:
		return id
	case <-ctx.Done():
		return ""
	}
}

func (r *recorder) answered(id string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.answers[id]
}

func (r *recorder) count(method string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.methods[method]
}

// RoundTrip implements http.RoundTripper.
func (r *recorder) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Body != nil && req.GetBody != nil {
		if body, err := req.GetBody(); err == nil {
			message, _ := io.ReadAll(body)
			r.sent(message)
		}
	}
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	resp.Body = &recordedBody{ReadCloser: resp.Body, r: r}
	return resp, nil
}

// recordedBody looks for messages in a response: the lines of an event stream that carry data, or all of it.
type recordedBody struct {
	io.ReadCloser
	r    *recorder
	line []byte
}

func (b *recordedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.line = append(b.line, p[:n]...)
	for {
		line, rest, found := bytes.Cut(b.line, []byte("\n"))
		if !found {
			break
		}
		b.r.received(bytes.TrimPrefix(line, []byte("data: ")))
		b.line = rest
	}
	if err != nil {
		b.r.received(b.line)
	}
	return n, err
}

// recordedTransport is a transport whose messages are recorded.
type recordedTransport struct {
	mcp.Transport
	r *recorder
}

func (t *recordedTransport) Connect(ctx context.Context) (mcp.Connection, error) {
	conn, err := t.Transport.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &recordedConn{conn, t.r}, nil
}

type recordedConn struct {
	mcp.Connection
	r *recorder
}

func (c *recordedConn) Read(ctx context.Context) (jsonrpc.Message, error) {
	msg, err := c.Connection.Read(ctx)
	if err == nil {
		if data, err := jsonrpc.EncodeMessage(msg); err == nil {
			c.r.received(data)
		}
	}
	return msg, err
}

func (c *recordedConn) Write(ctx context.Context, msg jsonrpc.Message) error {
	err := c.Connection.Write(ctx, msg)
	if data, err := jsonrpc.EncodeMessage(msg); err == nil {
		c.r.sent(data)
	}
	return err
}
