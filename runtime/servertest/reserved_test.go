package servertest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/server"
	"github.com/mcpkiln/mcpkiln/runtime/servertest"
	"github.com/mcpkiln/mcpkiln/runtime/task"
	"github.com/mcpkiln/mcpkiln/testdata/library/library"
)

// failing is a library whose every handler returns an error.
type failing struct {
	library.Handlers
	err error
}

func (f failing) ReviewCode(context.Context, *server.Call, *library.ReviewCodeArgs) (*server.PromptResult, error) {
	return nil, f.err
}

func (f failing) CompleteReviewCodePath(context.Context, *server.Call, *server.CompletionRequest) (*server.Completion, error) {
	return nil, f.err
}

func (f failing) ReadReadme(context.Context, *server.Call) (*server.ResourceContents, error) {
	return nil, f.err
}

func (f failing) ReadFile(context.Context, *server.Call, *library.FileVariables) (*server.ResourceContents, error) {
	return nil, f.err
}

func (f failing) CompleteFileUser(context.Context, *server.Call, *server.CompletionRequest) (*server.Completion, error) {
	return nil, f.err
}

// add adds one of each kind that fails as well.
func (f failing) add(t *testing.T, srv *server.Server) {
	t.Helper()
	err := errors.Join(
		srv.AddPrompt([]byte(`{"name":"added","arguments":[{"name":"a"}]}`), func(context.Context, *server.Call, map[string]string) (*server.PromptResult, error) {
			return nil, f.err
		}, server.Argument{Name: "a", Complete: func(context.Context, *server.Call, *server.CompletionRequest) (*server.Completion, error) {
			return nil, f.err
		}}),
		srv.AddResource([]byte(`{"name":"added","uri":"added://one"}`), func(context.Context, *server.Call) (*server.ResourceContents, error) { return nil, f.err }),
		srv.AddResourceTemplate([]byte(`{"name":"many","uriTemplate":"many://{x}"}`), func(context.Context, *server.Call, map[string][]string) (*server.ResourceContents, error) {
			return nil, f.err
		}),
	)
	if err != nil {
		t.Fatal(err)
	}
}

// failures are what comes of f.err in every place where a handler returns an error, by its name, in every revision.
func (f failing) failures(t *testing.T, visit func(revision, where string, err error)) {
	t.Helper()
	srv, err := library.New(f)
	if err != nil {
		t.Fatal(err)
	}
	f.add(t, srv)
	raw := func(context.Context, *server.Call, json.RawMessage) (json.RawMessage, error) { return nil, f.err }
	other := newServer(t, tool("typed", func(context.Context, *server.Call, *input) (*output, error) { return nil, f.err }, asTask(server.TaskOptional)))
	if err := other.AddTool([]byte(`{"name":"raw","inputSchema":{"type":"object"}}`), atMost10{}, raw); err != nil {
		t.Fatal(err)
	}
	around, err := library.New(f, server.WithMiddleware(func(next server.Handle) server.Handle {
		return func(ctx context.Context, m *server.Message) (*server.MessageResult, error) {
			if m.Method == "resources/read" {
				return nil, f.err
			}
			return next(ctx, m)
		}
	}))
	if err != nil {
		t.Fatal(err)
	}
	for _, revision := range servertest.Revisions(srv) {
		c, d := servertest.Start(t, srv, servertest.WithRevision(revision)), servertest.Start(t, other, servertest.WithRevision(revision))
		m := servertest.Start(t, around, servertest.WithRevision(revision))
		for where, try := range map[string]func() error{
			"prompt":         func() error { _, err := c.Prompt("review_code", map[string]string{"language": "go"}); return err },
			"completion":     func() error { _, err := c.CompletePrompt("review_code", "path", "", nil); return err },
			"resource":       func() error { _, err := c.Read("docs://readme"); return err },
			"template":       func() error { _, err := c.Read("files://ann/x"); return err },
			"variable":       func() error { _, err := c.CompleteResource("files://{user}/{+path}", "user", "", nil); return err },
			"added prompt":   func() error { _, err := c.Prompt("added", nil); return err },
			"added argument": func() error { _, err := c.CompletePrompt("added", "a", "", nil); return err },
			"added resource": func() error { _, err := c.Read("added://one"); return err },
			"added template": func() error { _, err := c.Read("many://x"); return err },
			"middleware":     func() error { _, err := m.Read("docs://readme"); return err },
			"tool":           func() error { _, err := d.Call("typed", text("x")); return err },
			"added tool":     func() error { _, err := d.Call("raw", nil); return err },
			"task": func() error {
				if !d.HasTasks() {
					_, err := d.Call("typed", text("x"))
					return err
				}
				job, err := d.Task("typed", text("x"))
				if err == nil {
					_, err = job.Result()
				}
				return err
			},
		} {
			visit(revision, where, try())
		}
	}
}

// Wherever a handler returns an error, a reserved code is for the log alone, and any other is sent (LET05), see
// https://modelcontextprotocol.io/specification/2026-07-28/basic#error-responses.
func TestLET05NoHandlerSendsAReservedCode(t *testing.T) {
	for code, want := range map[int]int{-32042: -32603, -32002: -32603, -32021: -32603, -32000: -32603, -32700: -32603, -32601: -32601, 4042: 4042} {
		failing{err: fmt.Errorf("no: %w", rpc.Errorf(code, "x"))}.failures(t, func(revision, where string, err error) {
			var own *rpc.Error
			if !errors.As(err, &own) || own.Code != want {
				t.Errorf("%s: %d of a %s is %v, want %d", revision, code, where, err, want)
			}
		})
	}
}

// Whatever error of the runtime's a handler returns, the client reads what it says, also where the revision has no code for it. Of an error
// that the handler of no tool wraps around it, the client reads nothing.
func TestLET05NoErrorOfTheRuntimeIsWithoutWords(t *testing.T) {
	page := server.URLElicitation{ID: "p", URL: "https://example.com/connect", Message: "Connect your account"}
	for own, want := range map[error][]string{
		&server.UnsupportedError{Capability: "sampling/tools"}:                                 {"sampling"}, // also as the data of an error
		&server.UnsupportedError{}:                                                             {"its revision of the protocol has no such request"},
		server.ErrUnsupported:                                                                  {server.ErrUnsupported.Error()},
		server.ErrQuestionTimeout:                                                              {server.ErrQuestionTimeout.Error()},
		fmt.Errorf("%w: %w", task.ErrWithdrawn, context.Canceled):                              {task.ErrWithdrawn.Error()},
		&server.ResourceError{URI: "test://gone"}:                                              {"unknown resource test://gone"},
		&server.URLElicitationError{Elicitations: []server.URLElicitation{page}}:               {"Connect your account", server.ErrUnsupported.Error()}, // which some of these manifests do not list
		&server.AnswerError{Question: "confirm", Err: errors.New("/name: required")}:           {"confirm"},
		&server.ToolError{Message: "no such account", Err: errors.New("secret of a database")}: {"no such account"},
	} {
		failing{err: fmt.Errorf("outer: %w", own)}.failures(t, func(revision, where string, err error) {
			text := fmt.Sprint(err)
			if !slices.ContainsFunc(want, func(w string) bool { return strings.Contains(text, w) }) {
				t.Errorf("%s: %v of a %s is %q", revision, own, where, text)
			}
			if !strings.Contains(where, "tool") && where != "task" && (strings.Contains(text, "outer") || strings.Contains(text, "secret")) {
				t.Errorf("%s: what wraps %v of a %s is sent: %q", revision, own, where, text)
			}
		})
	}
}
