package servertest

import (
	"encoding/json"

	"github.com/mcpkiln/mcpkiln/runtime/check"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

// exchange is one request of the client, and its answer.
type exchange struct {
	id     rpc.ID
	op     wire.Op
	method string
	task   string // the id of the task that the request is about, "" for none
	meter  *meter // nil: no progress is asked for
	asTask bool   // the answer may be a task, whose progress has the same token
	done   chan struct{}

	// Guarded by Client.mu until done is closed.
	state  state
	result json.RawMessage
	err    error
}

// state is what became of an exchange.
type state uint8

const (
	open     state = iota
	answered       // nothing more may come
	silenced       // the server has read its cancellation: nothing may come
)

// send writes a request. metered says that it asks for progress.
func (c *Client) send(method string, params object, o *callConfig, metered bool) *exchange {
	c.t.Helper()
	m := c.methodNamed(method)
	x := &exchange{method: method, op: m.Op, done: make(chan struct{})}
	x.task, _ = params["taskId"].(string)
	x.asTask = params["task"] != nil && c.revision.Task.Progress
	c.mu.Lock()
	c.ids++
	x.id = rpc.IntID(c.ids)
	c.sent[x.id] = x
	var token rpc.ID
	if metered {
		token = rpc.StringID("progress of " + x.id.String())
		x.meter = &meter{report: o.progress}
		c.meters[token] = x.meter
	}
	c.mu.Unlock()
	c.write(rpc.AppendRequest(nil, x.id, method, c.marshal(c.withMeta(params, o, token))))
	return x
}

// methodNamed returns the revision's method of that name; an unknown one has only the name.
func (c *Client) methodNamed(name string) wire.Method {
	for _, m := range c.revision.Methods {
		if m.Name == name {
			return m
		}
	}
	return wire.Method{Name: name}
}

// request sends a request without progress, and waits for its answer.
func (c *Client) request(method string, params object) (json.RawMessage, error) {
	c.t.Helper()
	return c.await(c.send(method, params, new(callConfig), false))
}

func (c *Client) await(x *exchange) (json.RawMessage, error) {
	c.t.Helper()
	if err := c.wait(x.done, x.method); err != nil {
		return nil, err
	}
	return x.result, x.err
}

// Notify sends a notification that the protocol does not define, with params that json.Marshal turns into an object; nil: none.
func (c *Client) Notify(method string, params any) {
	c.t.Helper()
	c.notify(method, c.params(method, params))
}

func (c *Client) notify(method string, params object) {
	c.t.Helper()
	c.write(rpc.AppendNotification(nil, method, c.marshal(params)))
}

// write writes one frame. An error is not returned: whoever waits for an answer notices when the connection has ended.
func (c *Client) write(frame []byte) {
	c.record("→", frame)
	_ = c.conn.WriteFrame(frame)
}

func (c *Client) marshal(params object) []byte {
	if params == nil {
		return nil
	}
	return c.encode(params)
}

// encode returns v as JSON; a value that json.Marshal can not encode fails the test.
func (c *Client) encode(v any) []byte {
	c.t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		c.t.Errorf("servertest: %v", err)
	}
	return b
}

// read handles the server's messages until the connection ends.
func (c *Client) read() {
	defer close(c.gone)
	for {
		frame, err := c.conn.ReadFrame(nil)
		if err != nil {
			return
		}
		c.record("←", frame)
		msg, bad := rpc.Parse(frame, check.Limits{})
		switch {
		case bad != nil:
			c.broken("%v: %s", bad, frame)
		case msg.Kind == rpc.KindRequest:
			c.asked(&msg)
		case msg.Kind == rpc.KindNotification:
			c.received(&msg)
		default:
			c.answered(&msg)
		}
	}
}

// answered handles an answer, which has to be the only one to its request, and must not come after a cancellation that the server has read.
func (c *Client) answered(msg *rpc.Message) {
	c.mu.Lock()
	defer c.mu.Unlock()
	x := c.sent[msg.ID]
	switch {
	case x == nil && msg.Error != nil:
		c.broken("an error that answers no request: %v", msg.Error)
	case x == nil:
		c.broken("an answer with the id %s, which no request has", msg.ID)
	case x.state == answered:
		c.broken("a second answer to the request %s (%s)", msg.ID, x.method)
	case x.state == silenced:
		c.broken("an answer to the request %s (%s), after it read the cancellation", msg.ID, x.method)
	default:
		x.state, x.result = answered, json.RawMessage(msg.Result)
		if msg.Error != nil {
			x.err = msg.Error
		}
		c.endProgress(x)
		close(x.done)
	}
}

// endProgress records that no progress may come any more for a request that is answered, or for a task that has ended according to the answer. mu is held.
func (c *Client) endProgress(x *exchange) {
	switch {
	case x.op == wire.OpGetTask, x.op == wire.OpCancelTask:
		if s := c.readTask(x.result); terminal(s) {
			c.endTask(s.ID)
		}
	case x.op == wire.OpTaskResult:
		c.endTask(x.task)
	case x.meter == nil:
	case x.asTask && x.err == nil:
		if s := c.madeTask(x.result); s != nil {
			c.taskMeters[s.ID] = x.meter
			return
		}
		x.meter.over = true
	default:
		x.meter.over = true
	}
}

// endTask records that no progress of a task may come any more. mu is held.
func (c *Client) endTask(id string) {
	if m := c.taskMeters[id]; m != nil {
		m.over = true
	}
}

// silence ends the request, unless its answer is there already: whatever comes about it from now on fails the test.
func (c *Client) silence(x *exchange) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if x.state != open {
		return
	}
	x.state, x.err = silenced, ErrCancelled
	if x.meter != nil {
		x.meter.over = true
	}
	close(x.done)
}
