package streamhttp

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/check"
	"github.com/mcpkiln/mcpkiln/runtime/internal/wiretest"
	"github.com/mcpkiln/mcpkiln/runtime/server"
	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

type input struct{ text string }

type output struct{ text string }

var (
	inputRule  = check.Object{Names: []string{"text"}, AdditionalProperties: check.Keep}
	outputRule = check.Object{Names: []string{"text"}, Required: []string{"text"}, AdditionalProperties: check.Refuse}
	textRule   = check.String{Max: 1 << 24}
)

func decodeInput(d *check.Decoder, v *input) {
	for f := d.Object(&inputRule); f >= 0; f = d.Next() {
		switch f {
		case 0:
			v.text = d.String(&textRule)
		default:
			d.Skip()
		}
	}
}

func decodeOutput(d *check.Decoder, v *output) {
	for f := d.Object(&outputRule); f >= 0; f = d.Next() {
		v.text = d.String(&textRule)
	}
}

func appendOutput(b []byte, v *output) []byte {
	return append(check.AppendString(append(b, `{"text":`...), v.text), '}')
}

type run func(ctx context.Context, call *server.Call, in *input) (*output, error)

func tool(name string, fn run) server.Tool {
	return server.Tool{
		Name: name, Definition: `{"name":"` + name + `","inputSchema":{"type":"object"}}`,
		Handler: server.Bind(decodeInput, fn, server.Structured(appendOutput, decodeOutput)),
	}
}

// fixture is an endpoint under test.
type fixture struct {
	t   testing.TB
	srv *server.Server
	h   *Endpoint
	ts  *httptest.Server

	began      chan struct{} // one for each handler that waits
	release    chan struct{} // lets one of them go on
	causes     chan error    // why those of "hang" ended
	unanswered chan error    // why the questions of "ask" and "strict" ended without an answer; nil: not noted
	blocks     openBlocks    // of "several"
}

func newServer(t testing.TB, tools []server.Tool, opts ...server.Option) *server.Server {
	srv, err := server.New(server.Definition{
		Name: "test", Version: "1", Runtime: server.Generation1, Tools: tools, Revisions: []*wire.Revision{wiretest.Revision20260728(), wiretest.Revision20251125(), wireMarch()},
	}, opts...)
	if err != nil {
		t.Fatal(err)
	}
	return srv
}

func newFixture(t testing.TB, opts ...Option) *fixture {
	return newFixtureOn(t, httptest.NewUnstartedServer, opts...)
}

func newFixtureOn(t testing.TB, unstarted func(http.Handler) *httptest.Server, opts ...Option) *fixture {
	f := &fixture{t: t, began: make(chan struct{}, 4096), release: make(chan struct{}), causes: make(chan error, 4096)}
	f.srv = newServer(t, f.tools(), server.WithGrace(time.Second))
	f.h = Handler(f.srv, opts...)
	f.ts = unstarted(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.h.ServeHTTP(w, r.WithContext(server.WithPrincipal(r.Context(), r.Header.Get("X-User"))))
	}))
	f.ts.Config.ReadHeaderTimeout = 5 * time.Second
	f.ts.Start()
	t.Cleanup(f.shutDown)
	return f
}

func (f *fixture) shutDown() {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := f.h.Shutdown(ctx); err != nil {
		f.t.Errorf("Shutdown: %v", err)
	}
	f.ts.Client().CloseIdleConnections()
	f.ts.Close()
	if err := f.srv.Shutdown(ctx); err != nil {
		f.t.Errorf("Shutdown of the server: %v", err)
	}
}

var askQuestion = server.Question[output]{
	Name: "sure", Message: "Sure?", Schema: `{"type":"object","properties":{"text":{"type":"string"}}}`, Decode: decodeOutput,
}

func (f *fixture) tools() []server.Tool {
	params := tool("params", f.echo)
	params.Definition = strings.Replace(paramTool, `"name":"t"`, `"name":"params"`, 1)
	keep := tool("keep", f.gate)
	keep.Cancel.Uncancellable = true
	stubborn := tool("stubborn", func(context.Context, *server.Call, *input) (*output, error) {
		f.began <- struct{}{}
		<-f.release
		return &output{}, nil
	})
	strict := tool("strict", f.strict)
	strict.MustAsk = true
	sampler := tool("sampler", f.sampler)
	sampler.ClientCapabilities = []string{"sampling"}
	return []server.Tool{
		stubborn, strict, tool("ask", f.ask), tool("echo", f.echo), tool("gate", f.gate), tool("hang", f.hang), keep, params, tool("poll", f.poll), tool("steps", f.steps), tool("loose", f.loose), sampler,
	}
}

func (f *fixture) echo(_ context.Context, _ *server.Call, in *input) (*output, error) {
	return &output{text: in.text}, nil
}

// loose finds out late that the client lacks what it takes: after progress, after a while, or at once.
func (f *fixture) loose(ctx context.Context, call *server.Call, in *input) (*output, error) {
	switch in.text {
	case "said":
		call.Progress(ctx, 1, 2, "")
	case "waited":
		if err := f.wait(ctx); err != nil {
			return nil, err
		}
	}
	return nil, &server.UnsupportedError{Capability: "sampling"}
}

// wait is for handlers that the test lets go on.
func (f *fixture) wait(ctx context.Context) error {
	f.began <- struct{}{}
	select {
	case <-f.release:
		return nil
	case <-ctx.Done():
		f.causes <- context.Cause(ctx)
		return ctx.Err()
	}
}

func (f *fixture) gate(ctx context.Context, _ *server.Call, in *input) (*output, error) {
	return &output{text: in.text}, f.wait(ctx)
}

func (f *fixture) hang(ctx context.Context, _ *server.Call, _ *input) (*output, error) {
	f.began <- struct{}{}
	<-ctx.Done()
	f.causes <- context.Cause(ctx)
	return nil, ctx.Err()
}

func (f *fixture) steps(ctx context.Context, call *server.Call, in *input) (*output, error) {
	call.Progress(ctx, 1, 2, "")
	return &output{text: in.text}, f.wait(ctx)
}

func (f *fixture) poll(ctx context.Context, _ *server.Call, in *input) (*output, error) {
	if !ClosePolling(ctx) {
		return nil, fmt.Errorf("there is no stream to close")
	}
	return &output{text: in.text}, f.wait(ctx)
}

func (f *fixture) ask(ctx context.Context, call *server.Call, _ *input) (*output, error) {
	answer, err := server.Ask(ctx, call, &askQuestion, "")
	if err != nil {
		if f.unanswered != nil {
			f.unanswered <- err
		}
		return nil, err
	}
	return &output{text: string(answer.Action) + " " + answer.Value.text}, nil
}

// strict tells how far it is, waits, and asks.
func (f *fixture) strict(ctx context.Context, call *server.Call, in *input) (*output, error) {
	call.Progress(ctx, 1, 2, "")
	if err := f.wait(ctx); err != nil {
		return nil, err
	}
	if in.text == "ask" {
		return f.ask(ctx, call, in)
	}
	return &output{text: in.text}, nil
}

// sampler tells how far it is, waits, and lets the client's model answer.
func (f *fixture) sampler(ctx context.Context, call *server.Call, in *input) (*output, error) {
	call.Progress(ctx, 1, 2, "")
	if err := f.wait(ctx); err != nil {
		return nil, err
	}
	if in.text == "ask" {
		if _, err := server.Send(ctx, call, &samplingRequest, "q", in); err != nil {
			return nil, err
		}
	}
	return &output{text: in.text}, nil
}

var samplingRequest = server.ClientRequest[input, input]{Op: wire.OpCreateMessage, Codecs: []server.ClientCodec[input, input]{{
	Append: func(b []byte, _ *input) []byte { return append(b, `{"messages":[],"maxTokens":5}`...) },
	Decode: func(d *check.Decoder, _ *input) { d.Skip() },
}}}

// request makes a request with the headers that every client sends; headers are "Name: value", an empty value takes one away.
func (f *fixture) request(method, body string, headers ...string) *http.Request {
	f.t.Helper()
	r, err := http.NewRequest(method, f.ts.URL, strings.NewReader(body))
	if err != nil {
		f.t.Fatal(err)
	}
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/json")
	}
	r.Header.Set("Accept", "application/json, text/event-stream")
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ":")
		value = strings.TrimPrefix(value, " ")
		switch {
		case name == "Host":
			r.Host = value
		case value == "":
			r.Header[http.CanonicalHeaderKey(name)] = nil
		default:
			r.Header.Add(name, value)
		}
	}
	return r
}

func (f *fixture) do(r *http.Request) *http.Response {
	f.t.Helper()
	resp, err := f.ts.Client().Do(r)
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() { resp.Body.Close() })
	return resp
}

func (f *fixture) post(body string, headers ...string) *http.Response {
	f.t.Helper()
	return f.do(f.request(http.MethodPost, body, headers...))
}

const initializeBody = `{"jsonrpc":"2.0","id":"init","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{}},"clientInfo":{"name":"c","version":"1"}}}`

func callBody(id, tool, text string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":%q,"arguments":{"text":%q},"_meta":{"progressToken":1}}}`, id, tool, text)
}

const meta2026 = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"progressToken":1}`

func callBody2026(id, tool, text string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":%q,"arguments":{"text":%q},%s}}`, id, tool, text, meta2026)
}

// headers2026 are those of a stateless message.
func headers2026(method, name string) []string {
	h := []string{"MCP-Protocol-Version: 2026-07-28", "Mcp-Method: " + method}
	if name != "" {
		h = append(h, "Mcp-Name: "+name)
	}
	return h
}

func (f *fixture) call2026(id, tool, text string) *http.Response {
	f.t.Helper()
	return f.post(callBody2026(id, tool, text), headers2026("tools/call", tool)...)
}

func body(resp *http.Response) string {
	b, _ := io.ReadAll(resp.Body)
	return string(b)
}

// field is the value at a path of member names, as JSON; "" when it is absent.
func field(raw string, path ...string) string {
	value := json.RawMessage(raw)
	for _, name := range path {
		var members map[string]json.RawMessage
		if json.Unmarshal(value, &members) != nil {
			return ""
		}
		value = members[name]
	}
	return string(value)
}

// event is one event of a stream, or a comment.
type event struct {
	id, data, retry string
	comment         bool
}

type events struct {
	t testing.TB
	r *bufio.Reader
}

func (f *fixture) events(resp *http.Response) *events {
	f.t.Helper()
	if resp.StatusCode != http.StatusOK || resp.Header.Get("Content-Type") != "text/event-stream" {
		f.t.Fatalf("no stream: %d %s %s", resp.StatusCode, resp.Header.Get("Content-Type"), body(resp))
	}
	return &events{f.t, bufio.NewReader(resp.Body)}
}

// next is the next event; ok is false at the end of the stream.
func (s *events) next() (e event, ok bool) {
	for {
		line, err := s.r.ReadString('\n')
		if err != nil {
			return e, false
		}
		name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ":")
		value = strings.TrimPrefix(value, " ")
		switch {
		case line == "\n":
			return e, true
		case name == "":
			e.comment = true
		case name == "id":
			e.id = value
		case name == "data":
			e.data = value
		case name == "retry":
			e.retry = value
		}
	}
}

// message is the next event with data.
func (s *events) message() event {
	s.t.Helper()
	for {
		e, ok := s.next()
		if !ok {
			s.t.Fatal("the stream is over")
		}
		if e.data != "" {
			return e
		}
	}
}

// end reads to the end of the stream, which must say nothing more.
func (s *events) end() {
	s.t.Helper()
	for {
		e, ok := s.next()
		if !ok {
			return
		}
		if e.data != "" {
			s.t.Fatalf("more on the stream: %+v", e)
		}
	}
}

func (f *fixture) listen(headers ...string) *events {
	f.t.Helper()
	return f.events(f.do(f.request(http.MethodGet, "", headers...)))
}

// wireMarch is 2025-03-26: it has batches, and its streams begin with what there is to say.
func wireMarch() *wire.Revision {
	w := wiretest.Revision20251125()
	w.Version, w.Batches, w.HTTP.Primed, w.HTTP.VersionHeader = "2025-03-26", true, false, ""
	return w
}
