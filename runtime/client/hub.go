package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/internal/exact"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
)

// Hub has sessions with several servers, each by the name that the host gives it. Its zero value is ready; its methods are safe for
// concurrent use. A child process that ends is restarted: after a second, then after twice as long each time, up to a minute. When it
// has run for a minute, that begins anew. Tools are named server/tool.
type Hub struct {
	// Options are those of every session, applied before those of Add.
	Options []Option
	// Changed is called with the error when a server is down, also after each failed restart, and with nil when it is up again: then
	// Listen again. What SetLevel and Subscribe have asked for is asked for again by itself. Calls for one server come one by one.
	// Changed must not call Remove or Close.
	Changed func(server string, err error)

	mu      sync.Mutex
	members map[string]*member
	closed  bool
}

// member is one server of a hub.
type member struct {
	hub       *Hub
	name      string
	transport Transport
	opts      []Option
	ctx       context.Context // ends with Remove or Close
	stop      context.CancelFunc
	ended     chan struct{}  // closed when the goroutine of keep has ended
	err       error          // of Session.Close, final when ended is closed
	old       sync.WaitGroup // sessions that are being closed

	session *Session   // nil: it is down; guarded by the hub
	down    *DownError // guarded by the hub
}

// DownError says that a server of a hub has ended, or does not start.
type DownError struct {
	Server string
	Err    error
	Again  time.Time // when it is restarted, in the past if it is being restarted; zero: never
}

// Error implements error.
func (e *DownError) Error() string {
	text := "client: server " + e.Server + " is down"
	switch in := time.Until(e.Again).Round(time.Second); {
	case e.Again.IsZero():
	case in > 0:
		text += fmt.Sprintf(" and started again in %v", in)
	default:
		text += " and is being started again"
	}
	return text + ": " + e.Err.Error()
}

// Unwrap returns Err.
func (e *DownError) Unwrap() error { return e.Err }

// Add connects to a server; ctx is only for that. The name must be new and without a slash. If Add fails, the hub does not have the
// server.
func (h *Hub) Add(ctx context.Context, name string, t Transport, opts ...Option) error {
	m := &member{hub: h, name: name, transport: t, opts: slices.Concat(h.Options, opts, []Option{WithServerName(name)}), ended: make(chan struct{})}
	m.ctx, m.stop = context.WithCancel(context.Background())
	if err := h.reserve(m); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(m.ctx, cancel)()
	s, err := Connect(ctx, t, m.opts...)
	if err != nil {
		h.mu.Lock()
		if h.members[name] == m {
			delete(h.members, name)
		}
		h.mu.Unlock()
		m.stop()
		close(m.ended)
		return fmt.Errorf("client: server %s: %w", name, err)
	}
	m.up(s)
	go m.keep(s)
	return nil
}

func (h *Hub) reserve(m *member) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.closed:
		return fmt.Errorf("client: the hub is closed: server %s can not be added, use another Hub", m.name)
	case m.name == "" || strings.Contains(m.name, "/"):
		return fmt.Errorf("client: %q can not be the name of a server: it must be one word without a slash", m.name)
	case h.members[m.name] != nil:
		return fmt.Errorf("client: there is a server %s already", m.name)
	case h.members == nil:
		h.members = map[string]*member{}
	}
	m.down = &DownError{Server: m.name, Err: errors.New("it is being connected to")}
	h.members[m.name] = m
	return nil
}

// Remove ends the session with a server, as Session.Close does.
func (h *Hub) Remove(name string) error {
	h.mu.Lock()
	m := h.members[name]
	delete(h.members, name)
	h.mu.Unlock()
	if m == nil {
		return nil
	}
	m.stop()
	<-m.ended
	return m.err
}

// Close ends all sessions. Afterwards no server can be added.
func (h *Hub) Close() error {
	h.mu.Lock()
	h.closed = true
	h.mu.Unlock()
	names := h.Servers()
	errs := make([]error, len(names))
	var all sync.WaitGroup
	for i, name := range names {
		all.Go(func() { errs[i] = h.Remove(name) })
	}
	all.Wait()
	return errors.Join(errs...)
}

// Servers returns the names of all servers, sorted.
func (h *Hub) Servers() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Sorted(maps.Keys(h.members))
}

// Session returns the current session with a server. The error is a *DownError for one that is down.
func (h *Hub) Session(name string) (*Session, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch m := h.members[name]; {
	case m == nil:
		return nil, fmt.Errorf("client: there is no server %q; there are %s", name, strings.Join(slices.Sorted(maps.Keys(h.members)), ", "))
	case m.session == nil:
		return nil, m.down
	default:
		return m.session, nil
	}
}

// HubTool is a tool of one server of a hub.
type HubTool struct {
	Server     string
	Name       string          // server/tool, as CallTool takes it
	Definition json.RawMessage // as the server writes it
}

// ListTools returns the tools of all servers. An error is that of one server, which is HubTool.Server; the other servers follow.
func (h *Hub) ListTools(ctx context.Context, opts ...CallOption) iter.Seq2[HubTool, error] {
	return func(yield func(HubTool, error) bool) {
		for _, name := range h.Servers() {
			for tool, err := range h.listTools(ctx, name, opts) {
				if !yield(tool, err) {
					return
				}
			}
		}
	}
}

// listTools lists the tools of one server. A server without tools is no error.
func (h *Hub) listTools(ctx context.Context, server string, opts []CallOption) iter.Seq2[HubTool, error] {
	return func(yield func(HubTool, error) bool) {
		s, err := h.Session(server)
		if err != nil {
			yield(HubTool{Server: server}, err)
			return
		}
		var none *NotOfferedError
		for definition, err := range s.ListTools(ctx, opts...) {
			var tool struct {
				Name string `json:"name"`
			}
			if err == nil {
				err = exact.Unmarshal(definition, &tool)
			}
			if errors.As(err, &none) || !yield(HubTool{server, server + "/" + tool.Name, definition}, err) {
				return
			}
		}
	}
}

// CallTool is Session.CallTool for a tool by its name in ListTools.
func (h *Hub) CallTool(ctx context.Context, name string, args any, opts ...CallOption) (*ToolResult, error) {
	s, tool, err := h.find(name)
	if err != nil {
		return nil, err
	}
	return s.CallTool(ctx, tool, args, opts...)
}

// Start is Session.Start for a tool by its name in ListTools.
func (h *Hub) Start(ctx context.Context, name string, args any, opts ...CallOption) (*Execution[ToolResult], error) {
	s, tool, err := h.find(name)
	if err != nil {
		return nil, err
	}
	return s.Start(ctx, tool, args, opts...)
}

func (h *Hub) find(name string) (s *Session, tool string, err error) {
	server, tool, ok := strings.Cut(name, "/")
	if !ok {
		return nil, "", fmt.Errorf("client: %q is no server/tool", name)
	}
	s, err = h.Session(server)
	return s, tool, err
}

// HubRequest is a Request to one server.
type HubRequest struct {
	Server string
	Request
}

// Requests returns the requests to all servers that callers wait for, oldest first.
func (h *Hub) Requests() (all []HubRequest) {
	for _, name := range h.Servers() {
		s, err := h.Session(name)
		if err != nil {
			continue
		}
		for _, r := range s.Requests() {
			all = append(all, HubRequest{name, r})
		}
	}
	slices.SortStableFunc(all, func(a, b HubRequest) int { return a.Started.Compare(b.Started) })
	return all
}

// CancelRequest is Session.CancelRequest for a server. The requests to a server that is down are over already.
func (h *Hub) CancelRequest(server string, id rpc.ID, reason string) error {
	s, err := h.Session(server)
	var down *DownError
	switch {
	case errors.As(err, &down):
		return nil
	case err != nil:
		return err
	}
	return s.CancelRequest(id, reason)
}
