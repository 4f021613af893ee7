package server

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/mcpkiln/mcpkiln/runtime/check"
	"github.com/mcpkiln/mcpkiln/runtime/internal/wiretest"
	"github.com/mcpkiln/mcpkiln/runtime/task"
	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

// changedRows is a notification of the server's own.
var changedRows = CustomNotification[echoOutput]{Method: "rows/changed", Append: appendEchoOutput, Decode: decodeEchoOutput}

// knowsRows declares the server's extension, in every revision.
const knowsRows = `{"experimental":{"com.example/rows":{}},"extensions":{"com.example/rows":{}}}`

// extensionsOf is where the revision declares extensions.
func extensionsOf(w *wire.Revision) string {
	if w.Handshake {
		return "experimental/"
	}
	return "extensions/"
}

// customized is a server with a request and a notification of its own, in two revisions.
func customized(t *testing.T, fn func(ctx context.Context, call *Call, in *echoInput) (*echoOutput, error), tools ...Tool) *fixture {
	t.Helper()
	return dual(t, customDefinition(fn, func(context.Context, *Notice, *echoInput) error { return nil }, tools...))
}

// customDefinition is one with requests and notifications that are not the protocol's, of both sides.
func customDefinition(fn func(ctx context.Context, call *Call, in *echoInput) (*echoOutput, error),
	seen func(ctx context.Context, from *Notice, in *echoInput) error, tools ...Tool) Definition {
	var revisions []*wire.Revision
	for _, w := range []*wire.Revision{wiretest.Revision20251125(), wiretest.Revision20260728()} {
		for i := range w.Methods {
			if m := w.Methods[i]; m.Name == "completion/complete" { // whose params the runtime does not read
				w.Methods = append(w.Methods, wire.Method{Name: "rows/read", Op: wire.OpMethod, NoInput: !w.Handshake, Read: m.Read})
			}
		}
		w.Methods = append(w.Methods, wire.Method{Name: "notifications/rows/seen", Op: wire.OpNotice, Notification: true})
		w.Outgoing = append(w.Outgoing, wire.Outgoing{Op: wire.OpCustom, Name: changedRows.Method},
			wire.Outgoing{Op: wire.OpCustomRequest, Name: "rows/choose", Capability: extensionsOf(w) + "com.example~1rows"},
			wire.Outgoing{Op: wire.OpCustomRequest, Name: "rows/hidden", Capability: extensionsOf(w) + "com.example~1hidden"})
		w.Capabilities.Extensions = []string{extensionsOf(w) + "com.example~1rows"}
		revisions = append(revisions, w)
	}
	return Definition{Revisions: revisions, Tools: tools, Notices: []NoticeHandler{BindNotice("notifications/rows/seen", seen, decodeEchoInput)},
		Methods: []MethodHandler{BindMethod("rows/read", fn,
			MethodCodec[echoInput, echoOutput]{Decode: decodeEchoInput, Append: appendEchoOutput, DecodeResult: decodeEchoOutput})}}
}

func TestSRV07ACustomRequestIsServedLikeAny(t *testing.T) {
	f := customized(t, func(ctx context.Context, call *Call, in *echoInput) (*echoOutput, error) {
		switch in.Text {
		case "fail":
			return nil, errors.New("secret")
		case "long":
			return &echoOutput{strings.Repeat("x", 1<<20+1)}, nil
		}
		call.Progress(ctx, 1, 2, "half")
		return &echoOutput{in.Text + call.Meta().Text("example.com/k")}, nil
	})
	c := f.dial(t.Context())
	if m := c.initialize(nothing); m.field("result", "capabilities", "experimental") != `{"com.example/rows":{}}` {
		t.Errorf("not declared: %s", m.raw)
	}
	c.sendf(`{"jsonrpc":"2.0","id":1,"method":"rows/read","params":{"text":"a","_meta":{"example.com/k":"!","progressToken":7}}}`)
	m, before := c.answer("1")
	m.wantResult(t, `{"text":"a!"}`)
	if len(before) != 1 || before[0].Method != "notifications/progress" || before[0].field("params", "progressToken") != "7" {
		t.Errorf("no progress: %v", before)
	}
	c.request("2", "rows/read", `{"text":"","more":1}`).wantError(t, -32602, "invalid params of rows/read")
	c.request("3", "rows/read", `{"text":"fail"}`).wantError(t, -32603, "internal error")
	c.request("4", "rows/read", `{"text":"long"}`).wantError(t, -32603, "breaks its own schema")
	c.request("5", "rows/read", `{"text":"b","\u005fmeta":{}}`).wantResult(t, `{"text":"b"}`)

	m = f.ask(t.Context(), frame(1, "rows/read", nothing, `"text":"a"`))
	if m.str("result", "text") != "a" || m.str("result", "resultType") != "complete" {
		t.Errorf("stateless: %s", m.raw)
	}
	if m = f.ask(t.Context(), frame(1, "server/discover", nothing, "")); m.field("result", "capabilities", "extensions") != `{"com.example/rows":{}}` {
		t.Errorf("not declared: %s", m.raw)
	}
}

func TestSRV07ACustomRequestIsCancelled(t *testing.T) {
	began, ended := make(chan struct{}), make(chan error, 1)
	f := customized(t, func(ctx context.Context, _ *Call, _ *echoInput) (*echoOutput, error) {
		close(began)
		<-ctx.Done()
		ended <- context.Cause(ctx)
		return nil, ctx.Err()
	})
	c := f.dial(t.Context())
	c.initialize(nothing)
	c.sendf(`{"jsonrpc":"2.0","id":1,"method":"rows/read","params":{"text":"a"}}`)
	<-began
	c.cancel("1")
	if err := <-ended; err == nil {
		t.Error("not cancelled")
	}
	if left := c.fence(); len(left) != 0 {
		t.Errorf("answered (CAN02): %v", left)
	}
}

func TestSRV07ACustomNotificationIsSent(t *testing.T) {
	f := customized(t, func(context.Context, *Call, *echoInput) (*echoOutput, error) { return nil, nil },
		tool("tells", plain(func(ctx context.Context, call *Call) (*echoOutput, error) {
			return &echoOutput{"out"}, Notify(ctx, call, &changedRows, &echoOutput{"of a call"})
		}), withTask(TaskOptional)))
	c := f.dial(t.Context())
	t.Cleanup(func() { _ = f.srv.Shutdown(context.Background()) })
	c.initialize(knowsRows)
	c.call("1", "tells", `{}`)
	if m := c.next(); m.Method != "rows/changed" || string(m.Params) != `{"text":"of a call"}` {
		t.Error(m.raw)
	}
	c.answer("1")
	frames, _ := f.exchange(t.Context(), frame(1, "tools/call", knowsRows, callParams("tells", `{}`)))
	if len(frames) != 2 || frames[0].Method != "rows/changed" {
		t.Errorf("stateless: %v", frames)
	}
	c.sendf(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"tells","arguments":{},"task":{}}}`)
	for m := c.next(); ; m = c.next() { // of a task, with its name (LET08)
		if m.Method == "rows/changed" {
			if m.field("params", "_meta", "io.modelcontextprotocol/related-task", "taskId") == "" || m.str("params", "text") != "of a call" {
				t.Error(m.raw)
			}
			return
		}
	}
}

func TestLET09SRV07NoCustomNotificationIsSentBeforeInitialized(t *testing.T) {
	f := customized(t, func(context.Context, *Call, *echoInput) (*echoOutput, error) { return nil, nil },
		tool("tells", plain(func(ctx context.Context, call *Call) (*echoOutput, error) {
			return &echoOutput{"out"}, Notify(ctx, call, &changedRows, &echoOutput{"of a call"})
		})))
	c := f.dial(t.Context())
	c.request(`"init"`, "initialize", handshakeOf(knowsRows))
	c.call("1", "tells", `{}`)
	if m, before := c.answer("1"); m.str("result", "structuredContent", "text") != "out" || len(before) > 0 {
		t.Error(m.raw, before)
	}
	c.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	c.call("2", "tells", `{}`)
	if _, before := c.answer("2"); len(before) != 1 || before[0].Method != "rows/changed" {
		t.Error(before)
	}
}

func TestSRV07ASessionIsToldACustomNotification(t *testing.T) {
	f := customized(t, func(context.Context, *Call, *echoInput) (*echoOutput, error) { return nil, nil })
	c := f.dial(t.Context())
	c.initialize(knowsRows)
	c.fence()
	session := sessionsOf(f.srv)[0]
	if err := Notify(t.Context(), session, &changedRows, &echoOutput{"x"}); err != nil {
		t.Error(err)
	}
	if m := c.next(); m.Method != "rows/changed" || string(m.Params) != `{"text":"x"}` {
		t.Error(m.raw)
	}
	for _, wrong := range []*echoOutput{nil, {strings.Repeat("x", 1<<20+1)}} {
		if err := Notify(t.Context(), session, &changedRows, wrong); err == nil {
			t.Error("sent, and is invalid (LET01)")
		}
	}
	l, _ := f.listen(t.Context(), nothing, `{}`)
	for s := range f.srv.Sessions() {
		if s.Revision() == "2026-07-28" && !errors.Is(Notify(t.Context(), s, &changedRows, &echoOutput{"x"}), ErrUnsupported) {
			t.Error("a client that only listens was told")
		}
	}
	l.cancel()
	c.close()
	if err := Notify(t.Context(), session, &changedRows, &echoOutput{"x"}); err == nil {
		t.Error("told after its end")
	}
}

// TestLET01KeysOfACustomNotificationAreTheRuntimes: what its params say under the protocol's keys is left out, what they say under others stays.
func TestLET01KeysOfACustomNotificationAreTheRuntimes(t *testing.T) {
	forged := changedRows
	forged.Append = func(b []byte, in *echoOutput) []byte {
		return append(b, `{"text":"x","_meta":{"io.modelcontextprotocol/related-task":{"taskId":"of another"},"com.example/row":7}}`...)
	}
	forged.Decode = func(d *check.Decoder, _ *echoOutput) { d.Skip() }
	f := customized(t, func(context.Context, *Call, *echoInput) (*echoOutput, error) { return nil, nil },
		tool("tells", plain(func(ctx context.Context, call *Call) (*echoOutput, error) {
			return &echoOutput{"out"}, Notify(ctx, call, &forged, &echoOutput{"x"})
		})))
	c := f.dial(t.Context())
	c.initialize(knowsRows)
	c.fence()
	if err := Notify(t.Context(), sessionsOf(f.srv)[0], &forged, &echoOutput{"x"}); err != nil {
		t.Fatal(err)
	}
	told := []message{c.next()}
	c.call("1", "tells", `{}`)
	told = append(told, c.next())
	c.answer("1")
	frames, _ := f.exchange(t.Context(), frame(1, "tools/call", knowsRows, callParams("tells", `{}`)))
	for _, m := range append(told, frames[0]) {
		if m.Method != "rows/changed" || strings.Contains(m.raw, "of another") || m.field("params", "_meta", "com.example/row") != "7" {
			t.Error(m.raw)
		}
	}
}

// TestSRV08ANotificationOfAnExtensionGoesToClientsThatDeclareIt: to others nothing is sent, and the handler is not told, in a call, a task and a session.
func TestSRV08ANotificationOfAnExtensionGoesToClientsThatDeclareIt(t *testing.T) {
	f := customized(t, func(ctx context.Context, call *Call, in *echoInput) (*echoOutput, error) {
		return &echoOutput{in.Text}, Notify(ctx, call, &changedRows, &echoOutput{"of a request"})
	}, tool("tells", plain(func(ctx context.Context, call *Call) (*echoOutput, error) {
		return &echoOutput{"out"}, Notify(ctx, call, &changedRows, &echoOutput{"of a call"})
	}), withTask(TaskOptional)))
	t.Cleanup(func() { _ = f.srv.Shutdown(context.Background()) })
	for caps, told := range map[string]bool{
		nothing: false, `{"experimental":{"other":{}},"extensions":{"other":{}}}`: false,
		`{"experimental":{"com.example/rows":null},"extensions":{"com.example/rows":null}}`: false,
		`{"experimental":{"com.example/rows":true},"extensions":{"com.example/rows":true}}`: false,
		knowsRows: true,
	} {
		want := 0
		if told {
			want = 1
		}
		c := f.dial(t.Context())
		c.initialize(caps)
		count := func(what string, messages []message) {
			n := 0
			for _, m := range messages {
				if m.Method == changedRows.Method {
					n++
				}
			}
			if n != want {
				t.Errorf("%s, %s: told %d times: %v", caps, what, n, messages)
			}
		}
		c.call("1", "tells", `{}`)
		m, before := c.answer("1")
		m.wantResult(t, `{"content":[{"type":"text","text":"{\"text\":\"out\"}"}],"structuredContent":{"text":"out"}}`)
		count("call", before)
		c.sendf(`{"jsonrpc":"2.0","id":2,"method":"rows/read","params":{"text":"a"}}`)
		_, before = c.answer("2")
		count("request", before)
		c.sendf(`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"tells","arguments":{},"task":{}}}`)
		m, before = c.answer("3")
		c.sendf(`{"jsonrpc":"2.0","id":4,"method":"tasks/result","params":{"taskId":%q}}`, m.str("result", "task", "taskId"))
		_, more := c.answer("4")
		count("task", append(before, more...))
		if err := Notify(t.Context(), sessionsOf(f.srv)[0], &changedRows, &echoOutput{"x"}); err != nil {
			t.Errorf("%s: %v", caps, err)
		}
		count("session", c.fence())
		c.close()
		frames, _ := f.exchange(t.Context(), frame(1, "rows/read", caps, `"text":"a"`))
		count("stateless", frames)
	}
}

// TestSRV08WithoutAnExtensionEveryClientIsNotified: there is nothing that a client could declare.
func TestSRV08WithoutAnExtensionEveryClientIsNotified(t *testing.T) {
	d := customDefinition(func(context.Context, *Call, *echoInput) (*echoOutput, error) { return nil, nil }, func(context.Context, *Notice, *echoInput) error { return nil })
	for _, w := range d.Revisions {
		w.Capabilities.Extensions = nil
	}
	f := dual(t, d)
	c := f.dial(t.Context())
	c.initialize(nothing)
	c.fence()
	if err := Notify(t.Context(), sessionsOf(f.srv)[0], &changedRows, &echoOutput{"x"}); err != nil {
		t.Error(err)
	}
	if m := c.next(); m.Method != changedRows.Method {
		t.Error(m.raw)
	}
}

// TestLET05WhyAClientIsNotNotifiedIsSaid: no capability would help, and no user was to be asked.
func TestLET05WhyAClientIsNotNotifiedIsSaid(t *testing.T) {
	f := customized(t, func(context.Context, *Call, *echoInput) (*echoOutput, error) { return nil, nil },
		tool("tells", plain(func(ctx context.Context, call *Call) (*echoOutput, error) {
			return nil, Notify(ctx, call, &changedRows, &echoOutput{"of a task"})
		}), withTask(TaskOptional)))
	t.Cleanup(func() { _ = f.srv.Shutdown(context.Background()) })
	m := f.await(t.Context(), f.create(t.Context(), "tells", `{}`, choosesRows), task.Completed)
	if !strings.Contains(m.raw, `"the client can not be notified: a task of protocol revision 2026-07-28 has no stream to it; set the task's status message instead"`) {
		t.Error(m.raw)
	}
	l, _ := f.listen(t.Context(), knowsRows, `{}`)
	defer l.cancel()
	for s := range f.srv.Sessions() {
		for what, err := range map[string]error{
			"notified": Notify(t.Context(), s, &changedRows, &echoOutput{"x"}), "sent log messages": s.Log(t.Context(), LevelError, "", "x"),
		} {
			want := "the client can not be " + what + ": it has no session, and gets only what it subscribed to"
			if !errors.Is(err, ErrUnsupported) || err.Error() != want {
				t.Errorf("want %q, got %v", want, err)
			}
		}
	}
}
