package servertest

import (
	"encoding/json"
	"slices"

	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/server"
	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

// Progress is one progress notification.
type Progress struct {
	Progress float64 `json:"progress"`
	Total    float64 `json:"total"` // 0: unknown
	Message  string  `json:"message"`
}

// Log is one log message.
type Log struct {
	Level  server.Level    `json:"level"`
	Logger string          `json:"logger"`
	Data   json.RawMessage `json:"data"`
}

// Notice is any notification of the server.
type Notice struct {
	Method string
	Params json.RawMessage
}

// meter is the progress of one request, and of the task that it made. Guarded by Client.mu.
type meter struct {
	seen   []Progress
	over   bool // nothing more may come
	report func(Progress)
}

// received handles a notification.
func (c *Client) received(msg *rpc.Message) {
	n := Notice{string(msg.Method), json.RawMessage(msg.Params)}
	op, known := c.opOf(n.Method)
	if !known {
		c.broken("the notification %s, which %s does not have", n.Method, c.revision.Version)
		return
	}
	c.mu.Lock()
	c.notices = append(c.notices, n)
	var report func()
	switch op {
	case wire.OpProgress:
		report = c.progressed(n.Params)
	case wire.OpCancelled:
		c.withdrawn(n.Params)
	case wire.OpTaskStatus:
		if s := c.readTask(n.Params); terminal(s) {
			c.endTask(s.ID)
		}
	}
	close(c.changed)
	c.changed = make(chan struct{})
	c.mu.Unlock()
	if report != nil {
		report()
	}
}

func (c *Client) opOf(method string) (op wire.Op, known bool) {
	i := slices.IndexFunc(c.revision.Outgoing, func(o wire.Outgoing) bool { return o.Name == method })
	if i < 0 {
		return wire.OpNone, false
	}
	return c.revision.Outgoing[i].Op, true
}

// progressed handles progress, which has to grow, and to belong to a request that is not over. mu is held.
func (c *Client) progressed(params json.RawMessage) (report func()) {
	var p Progress
	_ = json.Unmarshal(params, &p)
	token := readID(membersOf(params)["progressToken"])
	m := c.meters[token]
	switch {
	case m == nil:
		c.broken("progress for the token %s, which no request has", token)
	case m.over:
		c.broken("progress for the token %s, whose request is over", token)
	case len(m.seen) > 0 && p.Progress <= m.seen[len(m.seen)-1].Progress:
		c.broken("progress for the token %s that goes from %v to %v", token, m.seen[len(m.seen)-1].Progress, p.Progress)
	default:
		m.seen = append(m.seen, p)
		if m.report != nil {
			return func() { m.report(p) }
		}
	}
	return nil
}

// withdrawn handles a cancellation by the server, which has to be that of a question or of a subscription. mu is held.
func (c *Client) withdrawn(params json.RawMessage) {
	id := readID(membersOf(params)["requestId"])
	if cancel := c.questions[id]; cancel != nil {
		cancel()
		return
	}
	if x := c.sent[id]; x == nil || x.op != wire.OpListen {
		c.broken("it cancels %s, which is neither its question nor a subscription", id)
	}
}

// readID decodes an id; the zero ID: it is none.
func readID(raw json.RawMessage) rpc.ID {
	id, _ := rpc.ParseID(raw)
	return id
}

// Notices are the notifications of that method so far, of all methods for "".
func (c *Client) Notices(method string) []Notice {
	c.mu.Lock()
	defer c.mu.Unlock()
	var all []Notice
	for _, n := range c.notices {
		if method == "" || n.Method == method {
			all = append(all, n)
		}
	}
	return all
}

// AwaitNotice returns the first notification of that method that it has not returned yet, and waits until there is one.
func (c *Client) AwaitNotice(method string) (Notice, error) {
	c.t.Helper()
	for {
		changed := c.nextNotice()
		if n, ok := c.takeNotice(method); ok {
			return n, nil
		}
		if err := c.wait(changed, method); err != nil {
			return Notice{}, err
		}
	}
}

func (c *Client) takeNotice(method string) (Notice, bool) {
	all := c.Notices(method)
	c.mu.Lock()
	defer c.mu.Unlock()
	nth := c.taken[method]
	if nth >= len(all) {
		return Notice{}, false
	}
	c.taken[method]++
	return all[nth], true
}

// nextNotice returns a channel that is closed when the next notification has come.
func (c *Client) nextNotice() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.changed
}

// Logs are the log messages so far.
func (c *Client) Logs() []Log {
	var all []Log
	for _, o := range c.revision.Outgoing {
		if o.Op != wire.OpLog {
			continue
		}
		for _, n := range c.Notices(o.Name) {
			var l Log
			_ = json.Unmarshal(n.Params, &l)
			all = append(all, l)
		}
	}
	return all
}
