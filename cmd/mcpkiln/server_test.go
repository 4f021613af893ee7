package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/server"
	"github.com/mcpkiln/mcpkiln/runtime/streamhttp"
	"github.com/mcpkiln/mcpkiln/testdata/conformance/server/kiln"
)

// shop is the server that the commands call in tests, in every revision: a generated one, with those of its tools that tests need.
type shop struct {
	kiln.Handlers
	started chan string // hears of tools that wait: when they begin, and why they ended
}

type result = *kiln.CallToolResult

func newShop(opts ...server.Option) (*server.Server, *shop, error) {
	h := &shop{started: make(chan string, 1000)}
	srv, err := kiln.New(h, append(opts, server.WithLogger(slog.New(slog.DiscardHandler)), server.WithTaskList(), server.WithPageSize(7))...)
	return srv, h, err
}

// serveShop is the command shop of the scripts: the server on standard input and output.
func serveShop() {
	srv, _, err := newShop()
	if err == nil {
		fmt.Fprintln(os.Stderr, "the shop is open")
		err = srv.Run(server.WithPrincipal(context.Background(), "stdio"), rpc.Stdio())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// serveDeaf is the command deaf: the shop, but it ends only when it is killed.
func serveDeaf() {
	signal.Ignore(syscall.SIGTERM, syscall.SIGINT)
	if srv, _, err := newShop(); err == nil {
		_ = srv.Serve(context.Background(), rpc.Stdio())
	}
	select {}
}

// openShop serves over HTTP and returns the address. A token is an identity, whatever it says.
func openShop(t testing.TB) (url string, h *shop) {
	t.Helper()
	srv, h, err := newShop()
	if err != nil {
		t.Fatal(err)
	}
	endpoint := streamhttp.Handler(srv)
	ts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if who, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); ok {
			r = r.WithContext(server.WithPrincipal(r.Context(), who))
		}
		endpoint.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		_ = endpoint.Shutdown(context.Background())
		ts.Close()
		_ = srv.Shutdown(context.Background())
	})
	return ts.URL, h
}

func (*shop) Greet(_ context.Context, _ *server.Call, in *kiln.GreetInput) (result, error) {
	return kiln.TextResult("Hello, " + in.Name + "!"), nil
}

// SlowCompute waits for the end of its call, unless it is given no time. It runs as a task where the caller or the server wants that.
func (h *shop) SlowCompute(ctx context.Context, _ *server.Call, in *kiln.SlowComputeInput) (result, error) {
	if in.Seconds == 0 {
		return kiln.TextResult("computed " + in.Label.Or("nothing")), nil
	}
	return h.hang(ctx)
}

// TestToolWithProgress says how far it is and waits for the end of its call.
func (h *shop) TestToolWithProgress(ctx context.Context, call *server.Call, _ *kiln.TestToolWithProgressInput) (result, error) {
	call.Progress(ctx, 1, 4, "\x1b[31mslow\x1b[0m")
	return h.hang(ctx)
}

// MultiInput waits for the end of its call, always as a task.
func (h *shop) MultiInput(ctx context.Context, _ *kiln.MultiInputCall, _ *kiln.MultiInputInput) (result, error) {
	return h.hang(ctx)
}

func (h *shop) hang(ctx context.Context) (result, error) {
	h.started <- "begun"
	<-ctx.Done()
	ended := "ended: " + context.Cause(ctx).Error()
	fmt.Fprintln(os.Stderr, ended)
	h.started <- ended
	return nil, context.Cause(ctx)
}

// TestSimpleText says what a terminal would obey.
func (*shop) TestSimpleText(context.Context, *server.Call, *kiln.TestSimpleTextInput) (result, error) {
	return kiln.TextResult("\x1b]0;owned\a\x1b[2Jhello\u009b31m"), nil
}

// TestToolWithLogging logs what a terminal would obey, and waits for the end of its call.
func (h *shop) TestToolWithLogging(ctx context.Context, c *server.Call, _ *kiln.TestToolWithLoggingInput) (result, error) {
	c.LogMessage(ctx, server.LevelWarning, "shop", map[string]string{"text": "low\n\x1b[2J"})
	return h.hang(ctx)
}

func (*shop) TestErrorHandling(context.Context, *server.Call, *kiln.TestErrorHandlingInput) (result, error) {
	return nil, errors.New("no luck\x1b[2J")
}

func (*shop) TestImageContent(context.Context, *server.Call, *kiln.TestImageContentInput) (result, error) {
	return &kiln.CallToolResult{Content: []kiln.ContentBlock{&kiln.ImageContent{Data: []byte("12345"), MIMEType: "image/png"}}}, nil
}

func (*shop) TestElicitation(ctx context.Context, c *kiln.TestElicitationCall, in *kiln.TestElicitationInput) (result, error) {
	answer, err := c.UserInfo(ctx, in.Message)
	if err != nil {
		return nil, err
	}
	return kiln.TextResult(fmt.Sprintf("%s %s %s", answer.Action, answer.Value.Username, answer.Value.Email)), nil
}

func (*shop) ConfirmDelete(ctx context.Context, c *kiln.ConfirmDeleteCall, in *kiln.ConfirmDeleteInput) (result, error) {
	answer, err := c.Confirm(ctx, "Delete "+in.Filename+"?")
	if err != nil {
		return nil, err
	}
	return kiln.TextResult(fmt.Sprintf("%s %v", answer.Action, answer.Value.Confirm)), nil
}

// FailingJob is a task that fails at once.
func (*shop) FailingJob(context.Context, *server.Call, *kiln.FailingJobInput) (result, error) {
	return nil, errors.New("the job failed, as it should")
}

// ProtocolErrorJob takes a moment and ends with an error of the protocol.
func (*shop) ProtocolErrorJob(ctx context.Context, _ *server.Call, _ *kiln.ProtocolErrorJobInput) (result, error) {
	select {
	case <-time.After(10 * time.Millisecond):
	case <-ctx.Done():
	}
	return nil, rpc.Errorf(rpc.CodeInternalError, "the job ended with an error of the protocol")
}
