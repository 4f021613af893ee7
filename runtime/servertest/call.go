package servertest

import (
	"context"
	"encoding/json"
	"slices"
	"sync"

	"github.com/mcpkiln/mcpkiln/runtime/server"
	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

// Call calls a tool and returns its structured output, as a value of the generated type. in is a value of its input type, or anything that
// json.Marshal turns into arguments, such as json.RawMessage. A field of a struct that is not set is left out where its property has a
// default: to send "", 0 or false there, pass a map or JSON. A call that is answered with a task is followed to its result. Errors:
// *ToolError, *rpc.Error, ErrCancelled, ErrClosed, ErrPatience, ErrIgnored.
func Call[Out any](c *Client, tool string, in any, opts ...CallOption) (*Out, error) {
	c.t.Helper()
	return Output[Out](c.Call(tool, in, opts...))
}

// Request makes any other request that the server serves, with params of a generated type. Out is a generated type, too, or one of the
// test's own: generated types that are only sent and have one of several forms, such as blocks, can not be decoded; Block can.
func Request[Out any](c *Client, method string, params any, opts ...CallOption) (*Out, error) {
	c.t.Helper()
	raw, err := c.BeginRequest(method, params, opts...).Raw()
	if err != nil {
		return nil, err
	}
	return decode[Out](raw)
}

// Call calls a tool and waits for its result, with its blocks.
func (c *Client) Call(tool string, in any, opts ...CallOption) (*Result, error) {
	c.t.Helper()
	return c.Begin(tool, in, opts...).Result()
}

// Begin calls a tool and does not wait.
func (c *Client) Begin(tool string, in any, opts ...CallOption) *Pending {
	c.t.Helper()
	o := callConfigOf(opts)
	t := c.tools[tool]
	if t != nil && t.Task.Support == server.TaskRequired && !o.inline {
		o.asTask = true
	}
	o.asTask = o.asTask && c.HasTasks()
	p := c.start(c.method(wire.OpCallTool), c.callTool(tool, c.arguments(t, in), o), o)
	p.uncancellable = t != nil && t.Cancel.Uncancellable
	return p
}

// BeginRequest makes any other request and does not wait.
func (c *Client) BeginRequest(method string, params any, opts ...CallOption) *Pending {
	c.t.Helper()
	p := c.start(method, c.params(method, params), callConfigOf(opts))
	p.uncancellable = c.methodNamed(method).Uncancellable
	return p
}

// params returns the members of the JSON object of params, nil for nil.
func (c *Client) params(method string, params any) (members object) {
	c.t.Helper()
	if params != nil {
		if err := json.Unmarshal(c.encode(params), &members); err != nil {
			c.t.Errorf("servertest: the params of %s are no object: %v", method, err)
		}
	}
	return members
}

func callConfigOf(opts []CallOption) *callConfig {
	o := new(callConfig)
	for _, opt := range opts {
		opt(o)
	}
	return o
}

// Pending is a call or another request that has begun.
type Pending struct {
	c             *Client
	method        string
	opts          *callConfig
	uncancellable bool
	ctx           context.Context // of the answers to its questions
	cancel        context.CancelFunc
	done          chan struct{}

	mu        sync.Mutex
	at        *exchange // the last try: a call that asks is sent again with the answers
	meters    []*meter
	cancelled bool

	// Set before done is closed.
	answer json.RawMessage
	err    error
}

// start sends a request, and answers the questions in its results.
func (c *Client) start(method string, params object, o *callConfig) *Pending {
	c.t.Helper()
	if params == nil {
		params = object{} // a retry adds to it
	}
	p := &Pending{c: c, method: method, opts: o, done: make(chan struct{})}
	p.ctx, p.cancel = context.WithCancel(c.ctx)
	p.try(params)
	c.work.Go(func() {
		defer close(p.done)
		defer p.cancel()
		p.answer, p.err = p.follow(params)
	})
	return p
}

// try sends the request, the first time or with another round of answers. It returns false if the call was cancelled meanwhile.
func (p *Pending) try(params object) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cancelled {
		return false
	}
	p.at = p.c.send(p.method, params, p.opts, true)
	p.meters = append(p.meters, p.at.meter)
	return true
}

// follow answers the questions in the request's results, until a result asks nothing, and returns that.
func (p *Pending) follow(params object) (json.RawMessage, error) {
	for {
		x := p.at // nobody else sets it
		select {
		case <-x.done:
		case <-p.c.gone:
		}
		select {
		case <-x.done:
		default:
			return nil, ErrClosed
		}
		questions, state, asks := p.c.asks(x.result)
		if x.err != nil || !asks {
			return x.result, x.err
		}
		given, missing := p.c.answerAll(p.ctx, questions, "")
		if missing && p.ctx.Err() == nil {
			return nil, ErrIgnored
		}
		params["inputResponses"] = given
		if state != nil {
			params["requestState"] = *state
		}
		if !p.try(params) {
			return nil, ErrCancelled
		}
	}
}

// Raw waits for the answer and returns it as it came.
func (p *Pending) Raw() (json.RawMessage, error) {
	p.c.t.Helper()
	if err := p.c.wait(p.done, p.method); err != nil {
		return nil, err
	}
	return p.answer, p.err
}

// Result waits for the result of a call. If the answer is a task, it is the task's result.
func (p *Pending) Result() (*Result, error) {
	p.c.t.Helper()
	raw, err := p.Raw()
	if err != nil {
		return nil, err
	}
	if made := p.c.madeTask(raw); made != nil {
		return p.c.newTask(made, p).Result()
	}
	return readResult(raw)
}

// Cancel cancels the call, and returns when the server has read the cancellation. From then on the server must not send anything
// about the call: its result is ErrCancelled, and whatever comes nevertheless fails the test, until the client is closed. A call that
// was answered before keeps its answer, and one of a tool that can not be cancelled gets its answer; a task has a Cancel of its own.
func (p *Pending) Cancel(reason string) {
	p.c.t.Helper()
	p.mu.Lock()
	p.cancelled = !p.uncancellable
	x := p.at
	p.mu.Unlock()
	params := object{"requestId": json.RawMessage(x.id.String())}
	if reason != "" {
		params["reason"] = reason
	}
	p.c.notify(p.c.method(wire.OpCancelled), params)
	p.c.roundTrip()
	if !p.uncancellable {
		p.c.silence(x)
		p.cancel()
	}
}

// Progress is the call's progress so far.
func (p *Pending) Progress() []Progress {
	p.mu.Lock()
	meters := slices.Clone(p.meters)
	p.mu.Unlock()
	return p.c.progressOf(meters...)
}

func (c *Client) progressOf(meters ...*meter) (all []Progress) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, m := range meters {
		if m != nil {
			all = append(all, m.seen...)
		}
	}
	return all
}
