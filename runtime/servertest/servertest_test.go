package servertest_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/check"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/server"
	"github.com/mcpkiln/mcpkiln/runtime/servertest"
	"github.com/mcpkiln/mcpkiln/testdata/conformance/server/kiln"
)

// eachRevision runs a test in a bubble for each revision that is served.
func eachRevision(t *testing.T, test func(t *testing.T, revision string)) {
	eachWith(t, func(*servertest.Client) bool { return true }, test)
}

// eachAskingRevision leaves out those without questions to the user, eachTaskRevision those without tasks.
func eachAskingRevision(t *testing.T, test func(t *testing.T, revision string)) {
	eachWith(t, (*servertest.Client).HasElicitation, test)
}

func eachTaskRevision(t *testing.T, test func(t *testing.T, revision string)) {
	eachWith(t, (*servertest.Client).HasTasks, test)
}

func eachWith(t *testing.T, has func(*servertest.Client) bool, test func(t *testing.T, revision string)) {
	srv := newServer(t)
	for _, revision := range servertest.Revisions(srv) {
		if !has(servertest.Start(t, srv, servertest.WithRevision(revision))) {
			continue
		}
		t.Run(revision, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { test(t, revision) })
		})
	}
}

func text(s string) *input { return &input{s} }

func TestCallsByGoTypes(t *testing.T) {
	eachRevision(t, func(t *testing.T, revision string) {
		c := servertest.Start(t, newServer(t, tool("echo", echo)), servertest.WithRevision(revision))
		out, err := servertest.Call[output](c, "echo", text("hello"))
		if err != nil || out.Text != "hello" {
			t.Errorf("got %v, %v", out, err)
		}
		r, err := c.Call("echo", map[string]any{"text": "blocks"})
		if err != nil || r.Text() != `{"text":"blocks"}` || r.Content[0].Type != "text" {
			t.Errorf("got %v, %v", r, err)
		}
	})
}

// TestFieldsThatAreNotSetTakeTheirDefault calls a tool whose input has plain fields for properties with a default.
func TestFieldsThatAreNotSetTakeTheirDefault(t *testing.T) {
	show := tool("show", nil, func(t *server.Tool) {
		t.Definition = `{"name":"show","inputSchema":{"type":"object","properties":{"text":{"default":"x"},"n":{"default":1},"m":{}}}}`
		t.Handler = server.Bind(func(d *check.Decoder, raw *string) { *raw = string(d.Alias(nil)) },
			func(_ context.Context, _ *server.Call, raw *string) (*output, error) { return &output{*raw}, nil },
			server.Structured(appendOutput, decodeOutput))
	})
	type in struct {
		Text string `json:"text"`
		N    int    `json:"n"`
		M    int    `json:"m"`
	}
	synctest.Test(t, func(t *testing.T) {
		c := servertest.Start(t, newServer(t, show))
		for want, in := range map[string]any{
			`{"m":0}`:                  in{},
			`{"m":0,"n":2,"text":"y"}`: &in{Text: "y", N: 2},
			`{"n":0}`:                  map[string]any{"n": 0},
			`{"text":""}`:              json.RawMessage(`{"text":""}`),
		} {
			if out, err := servertest.Call[output](c, "show", in); err != nil || out.Text != want {
				t.Errorf("got %v, %v, want %s", out, err, want)
			}
		}
	})
}

func TestErrorsHaveTheirTypes(t *testing.T) {
	eachRevision(t, func(t *testing.T, revision string) {
		refuse := func(context.Context, *server.Call, *input) (*output, error) {
			return nil, &rpc.Error{Code: 7, Message: "no"}
		}
		c := servertest.Start(t, newServer(t, tool("echo", echo), tool("refuse", refuse)), servertest.WithRevision(revision))
		_, err := servertest.Call[output](c, "echo", json.RawMessage(`{"text":""}`))
		if wrong, ok := errors.AsType[*servertest.ToolError](err); !ok || !strings.Contains(wrong.Error(), "/text") || !wrong.Result.IsError {
			t.Errorf("bad arguments: %v", err)
		}
		_, err = c.Call("refuse", text("x"))
		if refused, ok := errors.AsType[*rpc.Error](err); !ok || refused.Code != 7 {
			t.Errorf("a JSON-RPC error: %v", err)
		}
		if _, err = c.Call("nothing", nil); !strings.Contains(err.Error(), "unknown tool") {
			t.Errorf("an unknown tool: %v", err)
		}
	})
}

func TestCAN02CancelledCallIsSilent(t *testing.T) {
	eachRevision(t, func(t *testing.T, revision string) {
		ended := make(chan error, 1)
		wait := func(ctx context.Context, call *server.Call, in *input) (*output, error) {
			out, err := hang(ctx, call, in)
			ended <- err
			return out, err
		}
		c := servertest.Start(t, newServer(t, tool("wait", wait)), servertest.WithRevision(revision))
		p := c.Begin("wait", text("x"))
		synctest.Wait() // else it may be cancelled before the handler begins
		p.Cancel("not needed")
		if cause := <-ended; !strings.Contains(cause.Error(), "not needed") {
			t.Errorf("the handler ended with %v", cause)
		}
		if r, err := p.Result(); !errors.Is(err, servertest.ErrCancelled) {
			t.Errorf("got %v, %v", r, err)
		}
	})
}

func TestCAN14UncancellableCallIsAnswered(t *testing.T) {
	eachRevision(t, func(t *testing.T, revision string) {
		c := servertest.Start(t, newServer(t, tool("count", count, uncancellable)), servertest.WithRevision(revision))
		p := c.Begin("count", text("x"))
		p.Cancel("too late")
		if out, err := servertest.Output[output](p.Result()); err != nil || out.Text != "x" {
			t.Errorf("got %v, %v", out, err)
		}
	})
}

func TestProgressIsSeen(t *testing.T) {
	eachRevision(t, func(t *testing.T, revision string) {
		c := servertest.Start(t, newServer(t, tool("count", count)), servertest.WithRevision(revision))
		var live []float64
		p := c.Begin("count", text("pages"), servertest.WithProgress(func(p servertest.Progress) { live = append(live, p.Progress) }))
		if _, err := p.Result(); err != nil {
			t.Fatal(err)
		}
		seen := p.Progress()
		if len(seen) != 3 || seen[2] != (servertest.Progress{Progress: 3, Total: 3, Message: seen[2].Message}) || !slices.Equal(live, []float64{1, 2, 3}) {
			t.Errorf("got %v and %v", seen, live)
		}
	})
}

// TestREV01OneAnswerServesEveryWire answers one question as a request, in a result that asks, and of tasks in both ways.
func TestREV01OneAnswerServesEveryWire(t *testing.T) {
	eachAskingRevision(t, func(t *testing.T, revision string) {
		srv := newServer(t, tool("ask", ask, asTask(server.TaskOptional)))
		c := servertest.Start(t, srv, servertest.WithRevision(revision))
		for _, opt := range []servertest.CallOption{servertest.Inline(), servertest.AsTask()} {
			for want, answer := range map[string]servertest.Answer{
				"yes": servertest.Accept(&confirmation{true}), "decline": servertest.Decline(), "cancel": servertest.Dismiss(),
			} {
				c.Answer("confirm", answer)
				out, err := servertest.Call[output](c, "ask", text("x"), opt)
				if err != nil || out.Text != want {
					t.Errorf("got %v, %v, want %s", out, err, want)
				}
			}
		}
	})
}

func TestAnswersSeeTheQuestion(t *testing.T) {
	eachAskingRevision(t, func(t *testing.T, revision string) {
		both := func(ctx context.Context, call *server.Call, in *input) (*output, error) {
			for _, file := range []string{"a.txt", "b.txt"} {
				answer, err := server.Ask(ctx, call, &confirm, "Delete "+file+"?", server.Named(file))
				if err != nil || !answer.Value.Yes {
					return nil, err
				}
			}
			return &output{"gone"}, nil
		}
		c := servertest.Start(t, newServer(t, tool("delete", both)), servertest.WithRevision(revision))
		var asked []string
		c.AnswerFunc("confirm", func(_ context.Context, q *servertest.Question) servertest.Answer {
			asked = append(asked, q.Name+" "+q.Instance+" "+q.Message)
			return servertest.Accept(confirmation{true})
		})
		out, err := servertest.Call[output](c, "delete", text("x"))
		if want := []string{"confirm a.txt Delete a.txt?", "confirm b.txt Delete b.txt?"}; err != nil || !slices.Equal(asked, want) {
			t.Errorf("got %v, %v, asked %q", out, err, asked)
		}
	})
}

// TestCAN19WithdrawnQuestionEndsItsAnswer cancels a call while its question is open.
func TestCAN19WithdrawnQuestionEndsItsAnswer(t *testing.T) {
	eachAskingRevision(t, func(t *testing.T, revision string) {
		c := servertest.Start(t, newServer(t, tool("ask", ask)), servertest.WithRevision(revision))
		asked, withdrawn := make(chan struct{}), make(chan struct{})
		c.AnswerFunc("confirm", func(ctx context.Context, _ *servertest.Question) servertest.Answer {
			close(asked)
			<-ctx.Done()
			close(withdrawn)
			return servertest.Accept(confirmation{true})
		})
		p := c.Begin("ask", text("x"))
		<-asked
		p.Cancel("")
		<-withdrawn
		if _, err := p.Result(); !errors.Is(err, servertest.ErrCancelled) {
			t.Errorf("got %v", err)
		}
	})
}

func TestIgnoredQuestionTimesOut(t *testing.T) {
	eachAskingRevision(t, func(t *testing.T, revision string) {
		c := servertest.Start(t, newServer(t, tool("ask", ask)), servertest.WithRevision(revision))
		c.Answer("confirm", servertest.Ignore())
		_, err := c.Call("ask", text("x"))
		if !errors.Is(err, servertest.ErrIgnored) && !strings.Contains(err.Error(), server.ErrQuestionTimeout.Error()) {
			t.Errorf("got %v", err)
		}
	})
}

// TestSRV08OldClientIsNotAsked acts as a client without capabilities.
func TestSRV08OldClientIsNotAsked(t *testing.T) {
	eachRevision(t, func(t *testing.T, revision string) {
		decline := confirm
		decline.OnUnsupported = server.Decline
		fallback := func(ctx context.Context, call *server.Call, _ *input) (*output, error) {
			answer, err := server.Ask(ctx, call, &decline, "")
			return &output{string(answer.Action)}, err
		}
		c := servertest.Start(t, newServer(t, tool("ask", fallback)), servertest.WithRevision(revision), servertest.WithCapabilities(nil))
		if out, err := servertest.Call[output](c, "ask", text("x")); err != nil || out.Text != "decline" {
			t.Errorf("got %v, %v", out, err)
		}
	})
}

func TestToolsAreListedOverPages(t *testing.T) {
	eachRevision(t, func(t *testing.T, revision string) {
		srv := newServer(t, tool("b", echo), tool("a", echo))
		c := servertest.Start(t, srv, servertest.WithRevision(revision))
		tools, err := c.Tools()
		if err != nil || len(tools) != 2 || tools[0].Name != "b" || !json.Valid(tools[1].Definition) {
			t.Errorf("got %v, %v", tools, err)
		}
	})
}

func TestLogsAreSeen(t *testing.T) {
	eachRevision(t, func(t *testing.T, revision string) {
		say := func(ctx context.Context, call *server.Call, in *input) (*output, error) {
			call.LogMessage(ctx, server.LevelInfo, "worker", in.Text)
			return &output{in.Text}, nil
		}
		c := servertest.Start(t, newServer(t, tool("say", say)), servertest.WithRevision(revision), servertest.WithLogLevel(server.LevelInfo))
		if _, err := c.Call("say", text("half-way")); err != nil {
			t.Fatal(err)
		}
		if logs := c.Logs(); len(logs) != 1 || logs[0].Level != server.LevelInfo || logs[0].Logger != "worker" || string(logs[0].Data) != `"half-way"` {
			t.Errorf("got %v", logs)
		}
	})
}

func TestNoticesAreAwaited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := newServer(t, tool("a", echo), tool("b", echo))
		c := servertest.Start(t, srv, servertest.WithRevision("2026-07-28"))
		c.BeginRequest("subscriptions/listen", map[string]any{"notifications": map[string]any{"toolsListChanged": true}})
		if _, err := c.AwaitNotice("notifications/subscriptions/acknowledged"); err != nil {
			t.Fatal(err)
		}
		srv.SetToolEnabled("b", false)
		if _, err := c.AwaitNotice("notifications/tools/list_changed"); err != nil {
			t.Fatal(err)
		}
	})
}

// TestCAN21ShutdownEndsWhatWaits shuts the server down under a call.
func TestCAN21ShutdownEndsWhatWaits(t *testing.T) {
	eachRevision(t, func(t *testing.T, revision string) {
		srv := newServer(t, tool("hang", hang))
		c := servertest.Start(t, srv, servertest.WithRevision(revision))
		p := c.Begin("hang", text("x"))
		synctest.Wait()
		if err := srv.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
		if _, err := p.Result(); !errors.Is(err, servertest.ErrClosed) {
			t.Errorf("got %v", err)
		}
	})
}

// TestTimeIsRealWithoutABubble needs none: nothing here waits for a time.
func TestTimeIsRealWithoutABubble(t *testing.T) {
	c := servertest.Start(t, newServer(t, tool("hang", hang), tool("ask", ask, asTask(server.TaskRequired))))
	p := c.Begin("hang", text("x"))
	c.Answer("", servertest.Accept(confirmation{true}))
	if out, err := servertest.Call[output](c, "ask", text("x")); err != nil || out.Text != "yes" {
		t.Errorf("got %v, %v", out, err)
	}
	p.Cancel("")
}

// clientless are tools of a generated package that ask for what no user answers, and a prompt that asks.
type clientless struct{ kiln.Handlers }

func (clientless) TestInputRequiredResultListRoots(ctx context.Context, call *server.Call, _ *kiln.TestInputRequiredResultListRootsInput) (*kiln.CallToolResult, error) {
	roots, err := kiln.ListRoots(ctx, call, "roots")
	if err != nil {
		return nil, err
	}
	return kiln.TextResult(roots.Roots[0].URI), nil
}

func (clientless) TestSimplePrompt(context.Context, *server.Call) (*server.PromptResult, error) {
	return server.PromptOf(server.UserMessage(server.Text("greeting"))), nil
}

func TestRequestsOfOtherMethodsAndOtherQuestions(t *testing.T) {
	eachRevision(t, func(t *testing.T, revision string) {
		srv, err := kiln.New(clientless{})
		if err != nil {
			t.Fatal(err)
		}
		c := servertest.Start(t, srv, servertest.WithRevision(revision))
		c.Answer("roots", servertest.Reply(&kiln.ListRootsResult{Roots: []kiln.Root{{URI: "file:///home"}}}))
		if r, err := c.Call("test_input_required_result_list_roots", nil); err != nil || r.Text() != "file:///home" {
			t.Errorf("got %v, %v", r, err)
		}
		type prompt struct {
			Messages []struct{ Content servertest.Block }
		}
		got, err := servertest.Request[prompt](c, "prompts/get", map[string]string{"name": "test_simple_prompt"})
		if err != nil || got.Messages[0].Content.Text != "greeting" {
			t.Errorf("got %v, %v", got, err)
		}
		_, err = servertest.Request[prompt](c, "prompts/none", nil)
		if refused, ok := errors.AsType[*rpc.Error](err); !ok || refused.Code != rpc.CodeMethodNotFound {
			t.Errorf("got %v", err)
		}
	})
}

// TestWhatDoesNotEndFailsTheTest has a handler, and an answer, that do not look at their context.
func TestWhatDoesNotEndFailsTheTest(t *testing.T) {
	for want, test := range map[string]struct {
		handler run
		answer  func(context.Context, *servertest.Question) servertest.Answer
	}{
		"grace period": {handler: func(context.Context, *server.Call, *input) (*output, error) {
			time.Sleep(time.Hour)
			return nil, nil
		}},
		"AnswerFunc": {handler: ask, answer: func(context.Context, *servertest.Question) servertest.Answer {
			time.Sleep(time.Hour)
			return servertest.Decline()
		}},
	} {
		synctest.Test(t, func(t *testing.T) {
			failing := new(failingT)
			c := servertest.Start(failing, newServer(t, tool("tool", test.handler)), servertest.WithPatience(time.Minute))
			c.AnswerFunc("confirm", test.answer)
			c.Begin("tool", text("x"))
			time.Sleep(time.Second) // until it works, or is asked
			failing.end()
			if all := strings.Join(failing.errors, "\n"); !strings.Contains(all, want) {
				t.Errorf("got %q, want %q", all, want)
			}
			time.Sleep(time.Hour) // else the bubble is a deadlock
		})
	}
}
