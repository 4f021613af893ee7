package server_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/mcpkiln/mcpkiln/runtime/server"
	"github.com/mcpkiln/mcpkiln/testdata/library/library"
)

// giver is a library with a prompt and a resource whose data is in readers.
type giver struct {
	library.Handlers
	prompt   func(call *server.Call) (*server.PromptResult, error)
	resource func() (*server.ResourceContents, error)
}

func (g giver) Hello(_ context.Context, call *server.Call) (*server.PromptResult, error) {
	return g.prompt(call)
}

func (g giver) ReadReadme(context.Context, *server.Call) (*server.ResourceContents, error) {
	return g.resource()
}

// openers makes Openers of ReaderOf; open is how many of their readers are not closed.
type openers struct{ made, open int }

func (o *openers) reader() server.Opener {
	o.made++
	o.open++
	return server.ReaderOf(&openReader{strings.NewReader("data"), o})
}

type openReader struct {
	io.Reader
	of *openers
}

func (r *openReader) Close() error {
	r.of.open--
	return nil
}

// What ReaderOf has is closed, whatever the handler of a prompt or resource does with it.
func TestTSK25SRV04ReadersOfPromptsAndResourcesAreClosed(t *testing.T) {
	var o openers
	says := func(more ...server.PromptMessage) *server.PromptResult {
		image := server.UserMessage(server.ImageFrom("image/png", o.reader()))
		return server.PromptOf(append([]server.PromptMessage{image}, more...)...)
	}
	parts := func(more ...server.ResourcePart) *server.ResourceContents {
		return &server.ResourceContents{Parts: append([]server.ResourcePart{{TextFrom: o.reader()}, {BlobFrom: o.reader()}}, more...)}
	}
	prompts := map[string]func(*server.Call) (*server.PromptResult, error){
		"sent": func(*server.Call) (*server.PromptResult, error) { return says(), nil },
		"before an invalid message": func(*server.Call) (*server.PromptResult, error) {
			return says(server.UserMessage(server.Block{})), nil
		},
		"beside an error": func(*server.Call) (*server.PromptResult, error) { return says(), errors.New("failed") },
		"in an error": func(*server.Call) (*server.PromptResult, error) {
			return nil, &server.ToolError{Content: []server.Block{server.ImageFrom("image/png", o.reader())}}
		},
		"added as if to a tool": func(call *server.Call) (*server.PromptResult, error) {
			call.Content(server.ImageFrom("image/png", o.reader()))
			return server.PromptOf(), nil
		},
	}
	resources := map[string]func() (*server.ResourceContents, error){
		"sent":                   func() (*server.ResourceContents, error) { return parts(), nil },
		"before an invalid part": func() (*server.ResourceContents, error) { return parts(server.ResourcePart{URI: "nothing"}), nil },
		"beside an error":        func() (*server.ResourceContents, error) { return parts(), errors.New("failed") },
		"as bytes and as text": func() (*server.ResourceContents, error) {
			return parts(server.ResourcePart{BlobFrom: o.reader(), TextFrom: o.reader()}), nil
		},
	}
	for name, prompt := range prompts {
		o.wantClosed(t, "prompts/get", `"name":"hello"`, name, giver{prompt: prompt})
	}
	for name, resource := range resources {
		o.wantClosed(t, "resources/read", `"uri":"docs://readme"`, name, giver{resource: resource})
	}
}

func (o *openers) wantClosed(t *testing.T, method, of, name string, g giver) {
	t.Helper()
	*o = openers{}
	srv, err := library.New(g)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = srv.Shutdown(context.Background()) }()
	to, refused := srv.Route([]byte(`{"jsonrpc":"2.0","id":1,"method":"`+method+`","params":{`+of+`,"_meta":{`+
		`"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`), "")
	if refused != nil {
		t.Fatal(refused)
	}
	out := new(response)
	srv.Exchange(t.Context(), &to, out)
	if o.made == 0 || o.open != 0 || name == "sent" && strings.Contains(out.answer, `"error"`) {
		t.Errorf("%s, %s: %d of %d readers are open after %s", method, name, o.open, o.made, out.answer)
	}
}
