package client_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/check"
	"github.com/mcpkiln/mcpkiln/runtime/client"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/server"
	kiln "github.com/mcpkiln/mcpkiln/testdata/byhand/byhand"
)

// revisions are all that there are, newest first.
var revisions = []string{"2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"}

// each runs a test once for every revision.
func each(t *testing.T, f func(t *testing.T, revision string)) {
	for _, r := range revisions {
		t.Run(r, func(t *testing.T) { f(t, r) })
	}
}

type input struct{ Text string }

type output struct{ Text string }

var (
	textRule = check.String{Max: 1 << 20}
	textOnly = check.Object{Names: []string{"text"}, AdditionalProperties: check.Refuse}
)

func decodeInput(d *check.Decoder, v *input) {
	for f := d.Object(&textOnly); f >= 0; f = d.Next() {
		v.Text = d.String(&textRule)
	}
}

func decodeOutput(d *check.Decoder, v *output) {
	for f := d.Object(&textOnly); f >= 0; f = d.Next() {
		v.Text = d.String(&textRule)
	}
}

func appendOutput(b []byte, v *output) []byte {
	return append(check.AppendString(append(b, `{"text":`...), v.Text), '}')
}

type run = func(ctx context.Context, call *server.Call, in *input) (*output, error)

func tool(name string, fn run) server.Tool {
	return server.Tool{
		Name: name, Definition: `{"name":"` + name + `","inputSchema":{"type":"object"}}`,
		Handler: server.Bind(decodeInput, fn, server.Structured(appendOutput, decodeOutput)),
	}
}

// tools are those of most tests.
func tools() []server.Tool {
	return []server.Tool{tool("echo", echo), tool("hang", hang), tool("count", count)}
}

func echo(_ context.Context, _ *server.Call, in *input) (*output, error) {
	return &output{in.Text}, nil
}

// hang waits for the end of its call.
func hang(ctx context.Context, _ *server.Call, _ *input) (*output, error) {
	<-ctx.Done()
	return nil, context.Cause(ctx)
}

// count reports five steps, 40 seconds each.
func count(ctx context.Context, call *server.Call, in *input) (*output, error) {
	for i := range 5 {
		select {
		case <-time.After(40 * time.Second):
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
		call.Progress(ctx, float64(i+1), 5, in.Text)
	}
	return &output{in.Text}, nil
}

// newServer serves the tools in every revision.
func newServer(t testing.TB, all []server.Tool, opts ...server.Option) *server.Server {
	t.Helper()
	generated, err := kiln.New(struct{ kiln.Handlers }{})
	if err != nil {
		t.Fatal(err)
	}
	srv, err := server.New(server.Definition{
		Name: "test", Version: "1", Runtime: server.Generation1, Tools: all, Revisions: generated.Definition().Revisions,
	}, opts...)
	if err != nil {
		t.Fatal(err)
	}
	return srv
}

// dial connects a session to a server over a pipe. Both end with the test.
func dial(t testing.TB, srv *server.Server, opts ...client.Option) *client.Session {
	t.Helper()
	ours, theirs := rpc.Pipe()
	served := make(chan error, 1)
	go func() { served <- srv.Serve(context.Background(), theirs) }()
	s, err := client.Connect(t.Context(), client.Conn(ours), opts...)
	t.Cleanup(func() {
		if s != nil {
			if err := s.Close(); err != nil {
				t.Errorf("Close: %v", err)
			}
		}
		<-served
		_ = srv.Shutdown(context.Background())
	})
	if err != nil {
		t.Fatalf("Connect: %v", err)
	}
	return s
}

// peer is a server that says what a test makes it say.
type peer struct {
	t      testing.TB
	conn   rpc.Conn
	offers string
}

// message is a frame of the client.
type message struct {
	raw    string
	ID     json.RawMessage
	Method string
	Params json.RawMessage
	Result json.RawMessage
	Error  *struct {
		Code    int
		Message string
	}
}

// next is the next frame of the client.
func (p *peer) next() message {
	p.t.Helper()
	frame, err := p.conn.ReadFrame(nil)
	if err != nil {
		p.t.Fatalf("the client has gone: %v", err)
	}
	m := message{raw: string(frame)}
	if err := json.Unmarshal(frame, &m); err != nil {
		p.t.Fatalf("the client sent %s: %v", frame, err)
	}
	return m
}

// expect is the next frame, which has that method.
func (p *peer) expect(method string) message {
	p.t.Helper()
	m := p.next()
	if m.Method != method {
		p.t.Fatalf("got %s, want %s", m.raw, method)
	}
	return m
}

func (p *peer) send(format string, args ...any) {
	p.t.Helper()
	if err := p.conn.WriteFrame([]byte(fmt.Sprintf(format, args...))); err != nil {
		p.t.Error(err)
	}
}

func (p *peer) answer(m message, result string) {
	p.t.Helper()
	p.send(`{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, result)
}

// offers is what a peer declares.
const offers = `{"tools":{"listChanged":true},"prompts":{},"resources":{"subscribe":true},"logging":{},"completions":{}}`

// begin takes part in the beginning of a session of the revision.
func (p *peer) begin(revision string) {
	p.t.Helper()
	if revision == "2026-07-28" {
		p.answer(p.expect("server/discover"), `{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":`+p.offers+`,"ttlMs":0,"cacheScope":"private"}`)
		return
	}
	p.answer(p.expect("initialize"), `{"protocolVersion":"`+revision+`","capabilities":`+p.offers+`,"serverInfo":{"name":"peer","version":"1"}}`)
	p.expect("notifications/initialized")
}

// meet connects a session to a peer, in one revision.
func meet(t testing.TB, revision string, opts ...client.Option) (*client.Session, *peer) {
	t.Helper()
	return meetOffering(t, revision, offers, opts...)
}

// taskOffers is what a peer with tasks declares, in each revision that has them.
const taskOffers = `{"tools":{},"tasks":{"cancel":{},"requests":{"tools":{"call":{}}}},"extensions":{"io.modelcontextprotocol/tasks":{}}}`

func meetOffering(t testing.TB, revision, offers string, opts ...client.Option) (*client.Session, *peer) {
	t.Helper()
	ours, theirs := rpc.Pipe()
	return meetOver(t, ours, theirs, revision, offers, opts...)
}

// offerTask offers the tool x, whose calls become tasks.
func (p *peer) offerTask(s *client.Session) {
	p.t.Helper()
	go func() {
		p.answer(p.expect("tools/list"), `{"tools":[{"name":"x","inputSchema":{"type":"object"},"execution":{"taskSupport":"required"}}]}`)
	}()
	for _, err := range s.ListTools(p.t.Context()) {
		if err != nil {
			p.t.Fatal(err)
		}
	}
}

// meetOver is meetOffering over a connection, of which ours is the client's end.
func meetOver(t testing.TB, ours, theirs rpc.Conn, revision, offers string, opts ...client.Option) (*client.Session, *peer) {
	t.Helper()
	p := &peer{t, theirs, offers}
	begun := make(chan struct{})
	go func() { defer close(begun); p.begin(revision) }()
	s, err := client.Connect(t.Context(), client.Conn(ours), append(opts, client.WithRevision(revision))...)
	if err != nil {
		t.Fatalf("Connect: %v", err)
	}
	<-begun
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
		_ = theirs.Close()
	})
	return s, p
}

// result is how a call ended.
type result struct {
	*client.ToolResult
	err error
}

// start calls a tool in a goroutine.
func start(ctx context.Context, s *client.Session, name string, opts ...client.CallOption) <-chan result {
	done := make(chan result, 1)
	go func() {
		r, err := s.CallTool(ctx, name, nil, opts...)
		done <- result{r, err}
	}()
	return done
}

// complete is a result of a tool in a revision.
func complete(revision, text string) string {
	kind := ""
	if revision == "2026-07-28" {
		kind = `"resultType":"complete",`
	}
	return `{` + kind + `"content":[{"type":"text","text":"` + text + `"}]}`
}

func has(t testing.TB, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%q is not in %s", part, text)
		}
	}
}

// each has f take every frame of the client, until that has gone.
func (p *peer) each(f func(m message)) {
	for {
		frame, err := p.conn.ReadFrame(nil)
		if err != nil {
			return
		}
		var m message
		_ = json.Unmarshal(frame, &m)
		f(m)
	}
}

// roundTrip is a server without a network.
type roundTrip func(r *http.Request, m message) (*http.Response, error)

// RoundTrip implements http.RoundTripper.
func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) {
	var m message
	if r.Body != nil {
		body, _ := io.ReadAll(r.Body)
		_ = json.Unmarshal(body, &m)
	}
	return f(r, m)
}
