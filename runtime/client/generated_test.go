package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/check"
	"github.com/mcpkiln/mcpkiln/runtime/client"
	"github.com/mcpkiln/mcpkiln/runtime/inflight"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/server"
	"github.com/mcpkiln/mcpkiln/runtime/task"
	"github.com/mcpkiln/mcpkiln/testdata/orders/orders"
	"github.com/mcpkiln/mcpkiln/testdata/orders/ordersclient"
)

// shop serves the orders project.
type shop struct {
	building chan struct{} // told when a report that takes for ever has begun
	said     chan error    // why one ended
}

func (shop) PlaceOrder(_ context.Context, _ *server.Call, in *orders.PlaceOrderInput) (*orders.PlaceOrderOutput, error) {
	if in.Quantity == 13 {
		return nil, errors.New("out of stock")
	}
	return &orders.PlaceOrderOutput{Accepted: true, Note: in.Note}, nil
}

func (s shop) BuildReport(ctx context.Context, call *server.Call, in *orders.BuildReportInput) (*orders.BuildReportOutput, error) {
	if in.Title != "endless" {
		call.Progress(ctx, 1, 2, in.Title)
		return &orders.BuildReportOutput{Pages: int64(len(in.Title))}, nil
	}
	s.building <- struct{}{}
	<-ctx.Done()
	s.said <- context.Cause(ctx)
	return nil, context.Cause(ctx)
}

func (shop) ImportOrders(ctx context.Context, call *orders.ImportOrdersCall, in *orders.ImportOrdersInput) (*orders.ImportOrdersOutput, error) {
	answer, err := call.ConfirmOverwrite(ctx, "")
	if err != nil {
		return nil, err
	}
	if !answer.Accepted() || !answer.Value.Overwrite {
		return &orders.ImportOrdersOutput{}, nil
	}
	return &orders.ImportOrdersOutput{Imported: int64(len(in.Source))}, nil
}

func (shop) Say(_ context.Context, _ *server.Call, in *orders.SayInput) (*orders.CallToolResult, error) {
	return orders.TextResult("so: " + in.Word.Or("nothing")), nil
}

// ways open any number of sessions of one caller to a server.
var ways = map[string]func(t *testing.T, srv *server.Server) func(opts ...client.Option) *client.Session{
	"pipe": func(t *testing.T, srv *server.Server) func(opts ...client.Option) *client.Session {
		return func(opts ...client.Option) *client.Session {
			ours, theirs := rpc.Pipe()
			served := make(chan error, 1)
			go func() { served <- srv.Serve(server.WithPrincipal(context.Background(), "me"), theirs) }()
			t.Cleanup(func() { <-served })
			return connect(t, client.Conn(ours), opts)
		}
	},
	"HTTP": func(t *testing.T, srv *server.Server) func(opts ...client.Option) *client.Session {
		url := ofSomebody(t, srv)
		return func(opts ...client.Option) *client.Session {
			return connect(t, &client.Endpoint{URL: url, Header: http.Header{"Authorization": {"Bearer me"}}}, opts)
		}
	},
}

func connect(t *testing.T, to client.Transport, opts []client.Option) *client.Session {
	t.Helper()
	s, err := client.Connect(t.Context(), to, opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// inShop runs a test in both leading revisions over both ways, with handlers of its own.
func inShop(t *testing.T, f func(t *testing.T, s shop, open func() (*client.Session, *ordersclient.Client)), opts ...client.Option) {
	for _, revision := range withTasks {
		for name, way := range ways {
			t.Run(revision+" "+name, func(t *testing.T) {
				s := shop{building: make(chan struct{}, 1), said: make(chan error, 1)}
				srv, err := orders.New(s)
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = srv.Shutdown(context.Background()) })
				dial := way(t, srv)
				f(t, s, func() (*client.Session, *ordersclient.Client) {
					session := dial(append(opts, client.WithRevision(revision))...)
					return session, ordersclient.New(session)
				})
			})
		}
	}
}

func order(quantity int64) *ordersclient.PlaceOrderInput {
	return &ordersclient.PlaceOrderInput{Symbol: "ACME", Side: ordersclient.PlaceOrderInputSideBuy, Quantity: quantity}
}

func TestTSK27AGeneratedClientCallsAGeneratedServer(t *testing.T) {
	var told []string
	inShop(t, func(t *testing.T, _ shop, open func() (*client.Session, *ordersclient.Client)) {
		_, c := open()
		in := order(1)
		out, err := c.PlaceOrder(t.Context(), in)
		if err != nil || !out.Accepted || out.Note.Or("") != "none" {
			t.Errorf("the default of a property that is left out: %+v, %v", out, err)
		}
		in.Note = check.Some("at the open")
		if out, err = c.PlaceOrder(t.Context(), in); err != nil || out.Note.Or("") != "at the open" {
			t.Errorf("%+v, %v", out, err)
		}
		said, err := c.Say(t.Context(), nil)
		if err != nil || said.Text() != "so: nothing" {
			t.Errorf("%+v, %v", said, err)
		}
		if len(told) > 0 {
			t.Errorf("what both were generated from differs: %q", told)
		}
	}, differences(&told))
}

func TestTSK27EachFailureIsOneTypeOfError(t *testing.T) {
	inShop(t, func(t *testing.T, _ shop, open func() (*client.Session, *ordersclient.Client)) {
		session, c := open()
		_, err := c.PlaceOrder(t.Context(), &ordersclient.PlaceOrderInput{Symbol: "acme", Side: "hold"})
		var wrong *client.ValidationError
		var all check.Violations
		if !errors.As(err, &wrong) || !wrong.Unsent || !errors.As(err, &all) || len(all) != 3 {
			t.Errorf("a wrong input: %v", err)
		}
		if _, err = c.PlaceOrder(t.Context(), order(13)); !isToolError(err, "out of stock") {
			t.Errorf("a tool that fails: %v", err)
		}
		ended, end := context.WithCancel(t.Context())
		end()
		_, err = c.PlaceOrder(ended, order(1))
		var cause *client.Cause
		if !errors.As(err, &cause) || cause.Source != inflight.SourceParent {
			t.Errorf("a context that has ended: %v", err)
		}
		if err := session.Close(); err != nil {
			t.Error(err)
		}
		if _, err = c.PlaceOrder(t.Context(), order(1)); !errors.Is(err, client.ErrClosed) {
			t.Errorf("a session that is closed: %v", err)
		}
	})
}

func isToolError(err error, text string) bool {
	var failed *client.ToolError
	return errors.As(err, &failed) && strings.Contains(failed.Result.Text(), text)
}

func TestTSK27ATypedTaskIsFollowedToItsEnd(t *testing.T) {
	inShop(t, func(t *testing.T, _ shop, open func() (*client.Session, *ordersclient.Client)) {
		_, c := open()
		x, err := c.BuildReport(t.Context(), &ordersclient.BuildReportInput{Title: "March"})
		if err != nil {
			t.Fatal(err)
		}
		var seen []task.Status
		for state, err := range x.Updates(t.Context()) {
			if err != nil {
				t.Error(err)
			}
			seen = append(seen, state.Status)
		}
		if len(seen) == 0 || seen[len(seen)-1] != task.Completed {
			t.Errorf("%q", seen)
		}
		if out, err := x.Result(t.Context()); err != nil || out.Pages != 5 {
			t.Errorf("%+v, %v", out, err)
		}
	})
}

func TestTSK27ATypedTaskIsCancelled(t *testing.T) {
	inShop(t, func(t *testing.T, s shop, open func() (*client.Session, *ordersclient.Client)) {
		_, c := open()
		x, err := c.BuildReport(t.Context(), &ordersclient.BuildReportInput{Title: "endless"})
		if err != nil {
			t.Fatal(err)
		}
		<-s.building
		if err := x.Cancel(t.Context(), "enough"); err != nil {
			t.Fatal(err)
		}
		if why := <-s.said; !errors.Is(why, context.Canceled) {
			t.Errorf("the handler's context ended with %v", why)
		}
		_, err = x.Result(t.Context())
		var cause *client.Cause
		var over *client.TaskError
		if !errors.As(err, &cause) || cause.Source != inflight.SourcePeer || !errors.As(err, &over) || over.State.Status != task.Cancelled {
			t.Errorf("%v", err)
		}
	})
}

// A ref goes through JSON to another session, as to another process.
func TestTSK27ATypedTaskGoesOnInAnotherSession(t *testing.T) {
	inShop(t, func(t *testing.T, s shop, open func() (*client.Session, *ordersclient.Client)) {
		first, c := open()
		x, err := c.BuildReport(t.Context(), &ordersclient.BuildReportInput{Title: "endless"})
		if err != nil {
			t.Fatal(err)
		}
		<-s.building
		ref, ok := x.Ref()
		if !ok {
			t.Fatal("it is no task")
		}
		x.Detach()
		if err := first.Close(); err != nil {
			t.Error(err)
		}
		text, err := json.Marshal(ref)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), "Bearer") || !strings.Contains(string(text), `"schema":"sha256:`) {
			t.Errorf("%s", text)
		}
		var again client.Ref
		if err := json.Unmarshal(text, &again); err != nil {
			t.Fatal(err)
		}
		_, c = open()
		if _, err := c.ResumeImportOrders(t.Context(), again); err == nil {
			t.Error("a task of another tool was taken")
		}
		x, err = c.ResumeBuildReport(t.Context(), again)
		if err != nil {
			t.Fatal(err)
		}
		if err := x.Cancel(t.Context(), "enough"); err != nil {
			t.Fatal(err)
		}
		<-s.said
		var over *client.TaskError
		if _, err = x.Result(t.Context()); !errors.As(err, &over) || over.State.Status != task.Cancelled {
			t.Errorf("%v", err)
		}
	})
}

func TestTSK27AnExpiredTaskIsKnownAsOne(t *testing.T) {
	for _, revision := range withTasks {
		t.Run(revision, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				srv, err := orders.New(shop{})
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = srv.Shutdown(context.Background()) })
				c := ordersclient.New(ways["pipe"](t, srv)(client.WithRevision(revision)))
				x, err := c.BuildReport(t.Context(), &ordersclient.BuildReportInput{Title: "March"})
				if err != nil {
					t.Fatal(err)
				}
				ref, _ := x.Ref()
				if _, err := x.Result(t.Context()); err != nil {
					t.Fatal(err)
				}
				time.Sleep(2 * time.Hour)
				if x, err = c.ResumeBuildReport(t.Context(), ref); err != nil {
					t.Fatal(err)
				}
				_, err = x.Result(t.Context())
				var expired *client.ExpiredError
				if !errors.As(err, &expired) || expired.Task != ref.ID {
					t.Errorf("%T: %v", err, err)
				}
			})
		})
	}
}

// What a tool asks is answered by the session's handlers, whether it runs as a task or not.
func TestTSK27ATypedCallIsAsked(t *testing.T) {
	yes := elicits(func(context.Context, *client.Question) (*client.Answer, error) {
		return &client.Answer{Action: client.Accepted, Content: json.RawMessage(`{"overwrite":true}`)}, nil
	})
	inShop(t, func(t *testing.T, _ shop, open func() (*client.Session, *ordersclient.Client)) {
		_, c := open()
		for _, opts := range [][]client.CallOption{nil, {client.Inline()}} {
			x, err := c.ImportOrders(t.Context(), &ordersclient.ImportOrdersInput{Source: "file"}, opts...)
			if err != nil {
				t.Fatal(err)
			}
			if out, err := x.Result(t.Context()); err != nil || out.Imported != 4 {
				t.Errorf("%+v, %v", out, err)
			}
		}
	}, yes)
}

// A server that is not the one that the client was generated for.
func TestTSK27AnotherServerThanThatOfTheClient(t *testing.T) {
	for _, revision := range withTasks {
		for name, dial := range transports {
			t.Run(revision+" "+name, func(t *testing.T) {
				wrong := func(context.Context, *server.Call, *input) (*output, error) { return &output{"yes"}, nil }
				lax := tool("place_order", wrong)
				lax.Handler = server.Bind(func(d *check.Decoder, _ *input) { d.Skip() }, wrong, server.Structured(appendOutput, decodeOutput))
				var told []string
				c := ordersclient.New(dial(t, newServer(t, []server.Tool{lax}), client.WithRevision(revision), differences(&told)))
				_, err := c.PlaceOrder(t.Context(), order(1))
				var unsound *client.ValidationError
				if !errors.As(err, &unsound) || unsound.Unsent || unsound.Tool != "place_order" {
					t.Errorf("an output that breaks its schema: %v", err)
				}
				_, err = c.Say(t.Context(), nil)
				var refused *client.Error
				if !errors.As(err, &refused) || refused.Code != rpc.CodeInvalidParams {
					t.Errorf("a tool that the server does not have: %v", err)
				}
				if len(told) != 5 || !slices.Contains(told, "say: the server has no such tool") || !strings.HasPrefix(told[0], "place_order: inputSchema differs at /properties: ") {
					t.Errorf("%q", told)
				}
			})
		}
	}
}

// A client links no server, and the types of both link runtime/check alone.
func TestTSK27WhatAGeneratedClientLinks(t *testing.T) {
	const project = "github.com/mcpkiln/mcpkiln/"
	check := []string{"runtime/check/lazyregexp", "runtime/check/pattern", "runtime/check/format", "runtime/check", "testdata/orders/ordersclient/schema"}
	for pkg, want := range map[string][]string{
		"testdata/orders/ordersclient/schema": check,
		"testdata/orders/ordersclient": append(check, "runtime/client", "runtime/client/internal/address", "runtime/client/internal/dialects", "runtime/inflight", "runtime/internal/exact", "runtime/internal/heap", "runtime/internal/stack", "runtime/check/keyword", "runtime/check/paramheader", "runtime/internal/rate",
			"runtime/rpc",
			"runtime/task", "runtime/wire", "runtime/wire/edit", "testdata/orders/ordersclient"),
	} {
		out, err := exec.Command("go", "list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}", project+pkg).Output()
		if err != nil {
			t.Fatal(err)
		}
		for dep := range strings.FieldsSeq(string(out)) {
			if !slices.Contains(want, strings.TrimPrefix(dep, project)) {
				t.Errorf("%s links %s", pkg, dep)
			}
		}
	}
}
