package servertest_test

// A server as generated code builds it, with tools of these tests and the revisions of a generated package.

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/check"
	"github.com/mcpkiln/mcpkiln/runtime/server"
	"github.com/mcpkiln/mcpkiln/testdata/conformance/server/kiln"
)

type input struct {
	Text string `json:"text"`
}

type output struct {
	Text string `json:"text"`
}

type confirmation struct {
	Yes bool `json:"yes"`
}

var (
	textRule = check.String{Min: 1, Max: 100}
	textOnly = check.Object{Names: []string{"text"}, Required: []string{"text"}, AdditionalProperties: check.Refuse}
	yesOnly  = check.Object{Names: []string{"yes"}, Required: []string{"yes"}, AdditionalProperties: check.Refuse}
	confirm  = server.Question[confirmation]{
		Name: "confirm", Message: "Really?", Schema: `{"type":"object","properties":{"yes":{"type":"boolean"}},"required":["yes"]}`,
		Decode: func(d *check.Decoder, v *confirmation) {
			for f := d.Object(&yesOnly); f >= 0; f = d.Next() {
				v.Yes = d.Bool(nil)
			}
		},
	}
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

func tool(name string, fn run, change ...func(*server.Tool)) server.Tool {
	t := server.Tool{
		Name: name, Definition: `{"name":"` + name + `","inputSchema":{"type":"object"}}`,
		Handler: server.Bind(decodeInput, fn, server.Structured(appendOutput, decodeOutput)),
	}
	for _, c := range change {
		c(&t)
	}
	return t
}

func asTask(support server.TaskSupport) func(*server.Tool) {
	return func(t *server.Tool) { t.Task.Support = support }
}

func uncancellable(t *server.Tool) { t.Cancel.Uncancellable = true }

func echo(_ context.Context, _ *server.Call, in *input) (*output, error) {
	return &output{in.Text}, nil
}

// hang waits for the end of its call.
func hang(ctx context.Context, _ *server.Call, _ *input) (*output, error) {
	<-ctx.Done()
	return nil, context.Cause(ctx)
}

// ask says what the user answered.
func ask(ctx context.Context, call *server.Call, _ *input) (*output, error) {
	answer, err := server.Ask(ctx, call, &confirm, "")
	switch {
	case err != nil:
		return nil, err
	case answer.Accepted() && answer.Value.Yes:
		return &output{"yes"}, nil
	}
	return &output{string(answer.Action)}, nil
}

// count reports three steps, a second each.
func count(ctx context.Context, call *server.Call, in *input) (*output, error) {
	for i := range 3 {
		select {
		case <-time.After(time.Second):
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
		call.Progress(ctx, float64(i+1), 3, in.Text)
	}
	return &output{in.Text}, nil
}

// newServer serves the tools in every revision of the generated package.
func newServer(t testing.TB, tools ...server.Tool) *server.Server {
	t.Helper()
	return newServerWith(t, tools)
}

func newServerWith(t testing.TB, tools []server.Tool, opts ...server.Option) *server.Server {
	t.Helper()
	generated, err := kiln.New(struct{ kiln.Handlers }{})
	if err != nil {
		t.Fatal(err)
	}
	srv, err := server.New(server.Definition{
		Name: "test", Version: "1", Runtime: server.Generation1, Tools: tools, Revisions: generated.Definition().Revisions,
	}, opts...)
	if err != nil {
		t.Fatal(err)
	}
	return srv
}

// exampleT is the test of an example.
type exampleT struct {
	testing.TB
	cleanups []func()
}

func newExampleT() *exampleT { return &exampleT{} }

func (t *exampleT) Helper()                           {}
func (t *exampleT) Failed() bool                      { return false }
func (t *exampleT) Cleanup(f func())                  { t.cleanups = append(t.cleanups, f) }
func (t *exampleT) Errorf(format string, args ...any) { fmt.Printf(format+"\n", args...) }
func (t *exampleT) Fatal(args ...any)                 { panic(fmt.Sprint(args...)) }

// end runs the cleanups, the last one first, as the end of a test does.
func (t *exampleT) end() {
	for _, f := range slices.Backward(t.cleanups) {
		f()
	}
}

// failingT is a test that has to fail.
type failingT struct {
	exampleT
	errors []string
}

func (t *failingT) Errorf(format string, args ...any) {
	t.errors = append(t.errors, fmt.Sprintf(format, args...))
}
