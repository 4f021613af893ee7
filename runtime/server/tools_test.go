package server

// A server as generated code builds it: tools with typed inputs and outputs, a policy each.

import (
	"context"
	"testing"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/check"
	"github.com/mcpkiln/mcpkiln/runtime/internal/wiretest"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

type echoInput struct {
	Text  string
	Count int64
}

type echoOutput struct{ Text string }

var (
	echoInputRule  = check.Object{Names: []string{"text", "count"}, Required: []string{"text"}, AdditionalProperties: check.Refuse}
	echoTextRule   = check.String{Min: 1, Max: 1 << 20}
	echoCountRule  = check.Int{Has: check.Minimum | check.Maximum, Min: 1, Max: 9}
	echoOutputRule = check.Object{Names: []string{"text"}, Required: []string{"text"}, AdditionalProperties: check.Refuse}
	echoOutText    = check.String{Max: 1 << 20}
)

func decodeEchoInput(d *check.Decoder, v *echoInput) {
	for f := d.Object(&echoInputRule); f >= 0; f = d.Next() {
		switch f {
		case 0:
			v.Text = d.String(&echoTextRule)
		case 1:
			v.Count = d.Int(&echoCountRule)
		}
	}
}

func decodeEchoOutput(d *check.Decoder, v *echoOutput) {
	for f := d.Object(&echoOutputRule); f >= 0; f = d.Next() {
		switch f {
		case 0:
			v.Text = d.String(&echoOutText)
		}
	}
}

func appendEchoOutput(b []byte, v *echoOutput) []byte {
	b = append(b, '{')
	b = check.AppendString(check.Member(b, `"text":`), v.Text)
	return append(b, '}')
}

// noInput takes any object.
type noInput struct{}

var noInputRule = check.Object{AdditionalProperties: check.Skip}

func decodeNoInput(d *check.Decoder, _ *noInput) {
	for f := d.Object(&noInputRule); f >= 0; f = d.Next() {
	}
}

// rawResult is the protocol's own result.
type rawResult struct{ json string }

func appendRawResult(b []byte, v *rawResult) []byte { return append(b, v.json...) }

type confirmation struct{ Overwrite bool }

var confirmationRule = check.Object{Names: []string{"overwrite"}, Required: []string{"overwrite"}, AdditionalProperties: check.Refuse}

func decodeConfirmation(d *check.Decoder, v *confirmation) {
	for f := d.Object(&confirmationRule); f >= 0; f = d.Next() {
		switch f {
		case 0:
			v.Overwrite = d.Bool(nil)
		}
	}
}

func confirmQuestion() *Question[confirmation] {
	return &Question[confirmation]{
		Name: "confirm", Message: "Overwrite?", Schema: `{"type":"object","properties":{"overwrite":{"type":"boolean"}},"required":["overwrite"]}`,
		Timeout: time.Minute, Decode: decodeConfirmation,
	}
}

// structured binds a handler from echoInput to echoOutput.
func structured(fn func(ctx context.Context, call *Call, in *echoInput) (*echoOutput, error)) Handler {
	return Bind(decodeEchoInput, fn, Structured(appendEchoOutput, decodeEchoOutput))
}

// plain binds a handler without input.
func plain(fn func(ctx context.Context, call *Call) (*echoOutput, error)) Handler {
	return Bind(decodeNoInput, func(ctx context.Context, call *Call, _ *noInput) (*echoOutput, error) { return fn(ctx, call) },
		Structured(appendEchoOutput, decodeEchoOutput))
}

func echo(_ context.Context, _ *Call, in *echoInput) (*echoOutput, error) {
	return &echoOutput{Text: in.Text}, nil
}

// tool is a tool whose definition says nothing but its name.
func tool(name string, h Handler, change ...func(*Tool)) Tool {
	t := Tool{Name: name, Definition: `{"name":"` + name + `","inputSchema":{"type":"object"}}`, Handler: h}
	for _, c := range change {
		c(&t)
	}
	return t
}

func withTask(s TaskSupport) func(*Tool) {
	return func(t *Tool) { t.Task.Support = s }
}

// fixture is a server under test.
type fixture struct {
	t   *testing.T
	srv *Server
}

func newFixture(t *testing.T, tools []Tool, opts ...Option) *fixture {
	t.Helper()
	srv, err := New(Definition{Name: "test", Version: "1", Runtime: Generation1, Tools: tools, Revisions: []*wire.Revision{wiretest.Revision20251125()}}, opts...)
	if err != nil {
		t.Fatal(err)
	}
	return &fixture{t: t, srv: srv}
}

// dial serves one end of a pipe and returns the other one as a peer. Both are gone when the test ends.
func (f *fixture) dial(ctx context.Context) *client {
	f.t.Helper()
	near, far := rpc.Pipe()
	return f.connect(ctx, near, far)
}

// connect is dial over a connection of the test's own.
func (f *fixture) connect(ctx context.Context, near, far rpc.Conn) *client {
	c := newClient(f.t, near)
	served := make(chan error, 1)
	go func() { served <- f.srv.Serve(ctx, far) }()
	c.srv, c.served = f.srv, served
	f.t.Cleanup(c.close)
	return c
}

// Names that differ by case are two tools (https://modelcontextprotocol.io/specification/2026-07-28/server/tools#tool-names).
func TestNamesOfToolsDifferByCase(t *testing.T) {
	says := func(text string) Handler {
		return plain(func(context.Context, *Call) (*echoOutput, error) { return &echoOutput{text}, nil })
	}
	f := dual(t, Definition{Tools: []Tool{tool("get_quote", says("small")), tool("Get_Quote", says("large"))}})
	c := f.dial(t.Context())
	c.initialize(`{}`)
	for name, want := range map[string]string{"get_quote": "small", "Get_Quote": "large", "GET_QUOTE": ""} {
		for _, m := range []message{c.request("1", "tools/call", callObject(name)), f.ask(t.Context(), frame(1, "tools/call", nothing, callParams(name, `{}`)))} {
			if want == "" {
				m.wantError(t, -32602, "unknown tool")
			} else if m.str("result", "structuredContent", "text") != want {
				t.Errorf("%s: %s", name, m.raw)
			}
		}
	}
}
