package servertest

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/internal/questionname"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/server"
	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

// Errors of waiting for an answer, beside *ToolError and *rpc.Error.
var (
	// ErrCancelled: the call was cancelled and not answered, or its task is cancelled.
	ErrCancelled = errors.New("servertest: cancelled")
	// ErrClosed: the connection ended first.
	ErrClosed = errors.New("servertest: the connection has ended")
	// ErrPatience: it took too long, which fails the test, too. See WithPatience.
	ErrPatience = errors.New("servertest: nothing came in time")
	// ErrIgnored: the call asked, the answer was Ignore, and in the client's revision that ends the call.
	ErrIgnored = errors.New("servertest: the call asks, and its question was ignored")
)

// Client is one client of a server under test. Its methods are safe for concurrent use. Their errors are those that the server
// answered; a breach of the protocol fails the test by itself.
type Client struct {
	t            testing.TB
	srv          *server.Server // nil: something else is at the other end
	cfg          config
	revision     *wire.Revision
	dialect      *dialect
	capabilities object                  // those that the client declares
	tools        map[string]*server.Tool // of the server's Definition, by name
	conn         rpc.Conn
	gone         chan struct{} // closed when nothing more can come

	ctx       context.Context // of the answers to questions
	cancel    context.CancelFunc
	work      sync.WaitGroup // goroutines that this client started
	closeConn func() error   // ends the connection, once

	mu         sync.Mutex
	ids        int64
	sent       map[rpc.ID]*exchange
	meters     map[rpc.ID]*meter             // by progress token
	taskMeters map[string]*meter             // by task
	questions  map[rpc.ID]context.CancelFunc // of questions that came as requests: ends the context of the answer
	names      map[rpc.ID]string             // of these questions
	answers    map[string]answerFunc
	notices    []Notice
	taken      map[string]int // how many notices AwaitNotice has returned, by method
	changed    chan struct{}  // closed at the next notice
	transcript []string
}

// Start serves srv to a new client in this process, and returns the client after its handshake. The server ends with the test, so srv is for
// this test alone: after the clients, Server.Shutdown ends what they left. In a bubble of synctest, make srv in the bubble, too.
func Start(t testing.TB, srv *server.Server, opts ...Option) *Client {
	t.Helper()
	t.Cleanup(func() { shutDown(t, srv) })
	return connect(t, srv, opts)
}

// Join returns another client of the same server, for the same test.
func (c *Client) Join(opts ...Option) *Client {
	c.t.Helper()
	return connect(c.t, c.srv, opts)
}

// Revisions returns the revisions that srv serves, newest first.
func Revisions(srv *server.Server) []string {
	var all []string
	for _, w := range srv.Definition().Revisions {
		all = append(all, w.Version)
	}
	slices.Sort(all) // they are dates
	slices.Reverse(all)
	return all
}

func shutDown(t testing.TB, srv *server.Server) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := srv.Shutdown(ctx); err != nil {
		t.Errorf("servertest: shutdown: %v", err)
	}
}

// connect returns a new client at one end of a pipe, which srv serves at the other end.
func connect(t testing.TB, srv *server.Server, opts []Option) *Client {
	t.Helper()
	near, far := rpc.Pipe()
	c := newClient(t, near, revisionOf(t, srv, opts), opts)
	c.srv = srv
	for _, tool := range srv.Definition().Tools {
		c.tools[tool.Name] = &tool
	}
	ctx := questionname.With(context.Background(), c.recordName)
	if c.cfg.principal != "" {
		ctx = server.WithPrincipal(ctx, c.cfg.principal)
	}
	served := make(chan error, 1)
	go func() { served <- srv.Serve(ctx, far) }()
	c.closeConn = sync.OnceValue(func() error {
		err := near.Close()
		return errors.Join(err, <-served)
	})
	c.begin()
	return c
}

// newClient returns a client at one end of a connection, on which nothing was sent yet.
func newClient(t testing.TB, conn rpc.Conn, w *wire.Revision, opts []Option) *Client {
	c := &Client{
		t: t, cfg: configOf(opts), revision: w, dialect: dialectOf(w), conn: conn, tools: map[string]*server.Tool{}, gone: make(chan struct{}),
		sent: map[rpc.ID]*exchange{}, meters: map[rpc.ID]*meter{}, taskMeters: map[string]*meter{}, questions: map[rpc.ID]context.CancelFunc{},
		names: map[rpc.ID]string{}, answers: map[string]answerFunc{}, taken: map[string]int{}, changed: make(chan struct{}),
	}
	c.ctx, c.cancel = context.WithCancel(context.Background())
	c.closeConn = sync.OnceValue(conn.Close)
	c.capabilities = c.declares()
	return c
}

func configOf(opts []Option) config {
	cfg := config{patience: defaultPatience()}
	for _, o := range opts {
		o(&cfg)
	}
	return cfg
}

func revisionOf(t testing.TB, srv *server.Server, opts []Option) *wire.Revision {
	t.Helper()
	served := Revisions(srv)
	want := configOf(opts).revision
	if want == "" {
		want = served[0]
	}
	for _, w := range srv.Definition().Revisions {
		if w.Version == want {
			return w
		}
	}
	t.Fatalf("servertest: revision %q is not served; these are: %s", want, strings.Join(served, ", "))
	return nil
}

// declares returns the capabilities that the client declares.
func (c *Client) declares() object {
	if c.cfg.capabilities != nil {
		return *c.cfg.capabilities
	}
	all := object{}
	for _, o := range c.revision.Outgoing {
		declare(all, o.Capability)
		for _, n := range o.Needs {
			declare(all, n.Capability)
		}
	}
	for _, path := range c.revision.Capabilities.Extensions { // so that the server sends notifications of its own
		declare(all, path)
	}
	if !c.cfg.noTasks {
		declare(all, c.revision.Capabilities.ClientTasks)
	}
	return all
}

// HasElicitation reports whether the client can ask its user: its revision has elicitation, and it declares that capability.
func (c *Client) HasElicitation() bool {
	for _, o := range c.revision.Outgoing {
		if o.Op == wire.OpElicit {
			return declared(c.capabilities, o.Capability)
		}
	}
	return false
}

// HasTasks reports whether calls of the client may become tasks: its revision has tasks, and the client supports them.
func (c *Client) HasTasks() bool {
	if c.revision.Task.ServerDecides {
		return declared(c.capabilities, c.revision.Capabilities.ClientTasks)
	}
	return c.revision.Task.ClientDecides && !c.cfg.noTasks
}

// begin starts reading and does the handshake, where the revision has one.
func (c *Client) begin() {
	c.t.Helper()
	go c.read()
	c.t.Cleanup(c.end)
	if !c.revision.Handshake {
		return
	}
	result, err := c.request(c.method(wire.OpInitialize), c.initialize())
	if err != nil {
		c.t.Fatalf("servertest: handshake: %v", err)
	}
	if got := textMember(result, "protocolVersion"); got != c.revision.Version {
		c.t.Fatalf("servertest: the server answered the handshake for %s with %q", c.revision.Version, got)
	}
	c.notify(c.method(wire.OpInitialized), nil)
	if set := c.method(wire.OpSetLevel); c.cfg.logLevel != "" && set != "" {
		if _, err := c.request(set, object{"level": c.cfg.logLevel}); err != nil {
			c.t.Fatalf("servertest: log level: %v", err)
		}
	}
}

// Revision is the protocol revision that the client uses.
func (c *Client) Revision() string { return c.revision.Version }

// Close ends the connection, like a client that goes away. The end of the test does that, too.
func (c *Client) Close() {
	c.t.Helper()
	err := c.closeConn()
	c.cancel()
	<-c.gone
	c.finish()
	if err != nil && !errors.Is(err, server.ErrShutdown) {
		c.t.Errorf("servertest: the connection ended with: %v", err)
	}
}

// end is Close after everything that the server has written was read, so that no breach of the protocol goes unseen.
func (c *Client) end() {
	c.t.Helper()
	c.roundTrip()
	c.Close()
	if c.t.Failed() {
		c.t.Log(c.conversation())
	}
}

// method returns the name of the method that the client may call for op, "" if the revision has none.
func (c *Client) method(op wire.Op) string {
	for i := range c.revision.Methods {
		if c.revision.Methods[i].Op == op {
			return c.revision.Methods[i].Name
		}
	}
	return ""
}

// recordName records the name of a question that the server sends as a request: the name is not in the request.
func (c *Client) recordName(id rpc.ID, name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.names[id] = name
}
