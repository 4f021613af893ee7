package server

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/mcpkiln/mcpkiln/runtime/check"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

// Client is the client as it describes itself: none of it is verified.
type Client struct {
	// Name, Title and Version are cut to 128 bytes each; "" for what it does not say.
	Name, Title, Version string
	// Capabilities are the paths of the declared ones that questions or tasks require, such as "elicitation" and "elicitation/url", and
	// those of the server's extensions.
	Capabilities []string
}

// Can reports whether the client declared the capability, by its path. UnsupportedError names capabilities in the same way.
func (c Client) Can(capability string) bool { return slices.Contains(c.Capabilities, capability) }

// Meta is the _meta object of a request, for what the protocol leaves to others: trace context, for example.
type Meta map[string]json.RawMessage

// Text returns the value of a key if it is a string, else "".
func (m Meta) Text(key string) string {
	var text string
	_ = json.Unmarshal(m[key], &text) // anything but a string leaves it as it is
	return text
}

// SessionNamer is an Outlet that knows the name of its session.
type SessionNamer interface {
	SessionID() string
}

// Client is who calls, as the handshake or, in a stateless revision, the request says. In a task it is who called when the task was
// created, also when the handler runs again.
func (c *Call) Client() Client { return describe(c.clientInfo(), c.revision, c.can) }

// describe returns the client with its capabilities.
func describe(info *Client, rev *revision, can ability) (client Client) {
	if info != nil {
		client = *info
	}
	for i, path := range rev.declarable {
		if path != "" && can&(1<<i) != 0 {
			client.Capabilities = append(client.Capabilities, path)
		}
	}
	return client
}

// clientInfo is nil when the client says nothing of itself.
func (c *Call) clientInfo() *Client {
	if c.taskRun != nil {
		return c.stored().client(c.revision)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.r == nil {
		return nil
	}
	return c.r.clientInfo()
}

// Revision is the protocol revision that the call is served in, such as "2025-11-25".
func (c *Call) Revision() string { return c.revision.Version }

// Session names the session of the call: over HTTP its Mcp-Session-Id, which is a secret of its client; on a connection a number. It
// is "" in a stateless revision, and in a task that outlived its session.
func (c *Call) Session() string {
	return c.peer.session(c.revision)
}

// Meta is the _meta of the request, nil without one or when the handler has returned. In a task it is that of the request that created
// the task, also when the handler runs again.
func (c *Call) Meta() Meta {
	if c.taskRun != nil {
		return readMeta(c.stored().Meta)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.r == nil {
		return nil
	}
	return readMeta(c.r.meta())
}

// Header is the header of the HTTP request that brought the call, nil on other transports and when the handler has returned. A task has
// that of the request that created it, if it has at most 4 KiB; when the handler of a task runs again there is none.
func (c *Call) Header() Header {
	if c.taskRun != nil {
		return c.local.header
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.r == nil {
		return nil
	}
	return c.r.header
}

// appendJSON appends the client as a task stores it.
func (c *Client) appendJSON(b []byte) []byte {
	b = check.AppendString(append(b, `{"name":`...), c.Name)
	b = check.AppendString(append(b, `,"title":`...), c.Title)
	b = check.AppendString(append(b, `,"version":`...), c.Version)
	return append(b, '}')
}

// stored returns what the task keeps of the request that created it.
func (c *Call) stored() *taskMeta {
	stored := new(taskMeta)
	t := c.taskRun.Task()
	_ = json.Unmarshal(t.Meta, stored) // we wrote it
	return stored
}

// client returns what the client said of itself. In a stateless revision that is part of the request's _meta.
func (m *taskMeta) client(rev *revision) *Client {
	if m.Client != nil || rev.ReadRequest == nil || m.Meta == nil {
		return m.Client
	}
	var p wire.Params
	params := append(append(check.AppendString([]byte{'{'}, rev.metaMember), ':'), m.Meta...)
	_ = check.Decode(append(params, '}'), check.Limits{}, rev.ReadRequest, &p) // it was read before
	return readClient(p.ClientInfo)
}

func readMeta(raw []byte) (m Meta) {
	_ = json.Unmarshal(raw, &m) // anything but an object has no members
	return m
}

// session names the session or connection, "" without a peer or in a stateless revision.
func (p *peer) session(rev *revision) string {
	if p == nil || !rev.Handshake || p.sessionless {
		return ""
	}
	if named, ok := p.out.(SessionNamer); ok {
		return named.SessionID()
	}
	return strconv.FormatUint(p.id, 10)
}

// clientInfo is what the client says of itself, nil for nothing.
func (r *request) clientInfo() *Client {
	if r.revision.Handshake {
		return r.p.client
	}
	return readClient(r.params.ClientInfo)
}

func readClient(info []byte) *Client {
	if len(info) == 0 || info[0] != '{' {
		return nil
	}
	c := &Client{}
	d := check.Get(info, check.Limits{})
	defer d.Put()
	fields := check.Object{Names: []string{"name", "title", "version"}, AdditionalProperties: check.Skip}
	for f := d.Object(&fields); f >= 0; f = d.Next() {
		switch f {
		case 0:
			c.Name = rpc.Cut(d.String(nil))
		case 1:
			c.Title = rpc.Cut(d.String(nil))
		case 2:
			c.Version = rpc.Cut(d.String(nil))
		}
	}
	return c
}

// meta is the _meta of the request, in the client's own spelling; nil for none.
func (r *request) meta() []byte { return r.revision.metaOf(r.raw, r.p.s.cfg.limits) }

// metaOf is the _meta of params, in the client's own spelling; nil for none. The params were scanned before.
func (rev *revision) metaOf(params []byte, limits check.Limits) (value []byte) {
	if len(params) == 0 || params[0] != '{' {
		return nil
	}
	d := check.GetScanned(params, limits)
	defer d.Put()
	for f := d.Object(&rev.metadata); f >= 0; f = d.Next() {
		value = d.Alias(nil)
	}
	return value
}

// valued is a context that also has the values of another context, but not its end.
type valued struct {
	context.Context
	values context.Context
}

// Value implements context.Context.
func (v *valued) Value(key any) any {
	if value := v.Context.Value(key); value != nil || v.values == nil {
		return value
	}
	return v.values.Value(key)
}

// Header is the header of an HTTP request: http.Header without net/http, which a server on standard input and output does not need. Do not change a Header.
type Header map[string][]string

// Get returns the first value of the name, in whatever case, "" without one.
func (h Header) Get(name string) string {
	if values := h.Values(name); len(values) > 0 {
		return values[0]
	}
	return ""
}

// Values returns all values of the name, in whatever case.
func (h Header) Values(name string) []string {
	if values, ok := h[name]; ok {
		return values
	}
	for other, values := range h {
		if strings.EqualFold(other, name) {
			return values
		}
	}
	return nil
}
