package server

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/mcpkiln/mcpkiln/runtime/check"
	"github.com/mcpkiln/mcpkiln/runtime/inflight"
	"github.com/mcpkiln/mcpkiln/runtime/internal/wiretest"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

// dual is a server of both revisions.
func dual(t *testing.T, d Definition, opts ...Option) *fixture {
	t.Helper()
	d.Name, d.Version, d.Runtime = "test", "1", Generation1
	if d.Revisions == nil {
		d.Revisions = []*wire.Revision{wiretest.Revision20251125(), wiretest.Revision20260728()}
	}
	srv, err := New(d, opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = srv.Shutdown(context.Background()) })
	return &fixture{t: t, srv: srv}
}

const (
	nothing   = `{}`
	forms     = `{"elicitation":{}}`
	withTasks = `{"extensions":{"io.modelcontextprotocol/tasks":{}}}`
	tasksAsks = `{"elicitation":{},"extensions":{"io.modelcontextprotocol/tasks":{}}}`
	everyAsk  = `{"elicitation":{},"sampling":{},"roots":{}}`
)

// frame is a request of 2026-07-28; params are members, "" for none.
func frame(id int, method, caps, params string) string {
	return frameWith(id, method, caps, params, "")
}

// frameWith is frame with more members in _meta.
func frameWith(id int, method, caps, params, meta string) string {
	if params != "" {
		params = "," + params
	}
	if meta != "" {
		meta = "," + meta
	}
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",`+
		`"io.modelcontextprotocol/clientCapabilities":%s%s}%s}}`, id, method, caps, meta, params)
}

func callParams(tool, args string) string { return fmt.Sprintf(`"name":%q,"arguments":%s`, tool, args) }

// inbox is an Outlet that keeps what was written.
type inbox struct {
	t      *testing.T
	mu     sync.Mutex
	frames []message
	wrote  chan struct{} // one for each frame
	status []int
	last   int
}

func newInbox(t *testing.T) *inbox { return &inbox{t: t, wrote: make(chan struct{}, 1<<16)} }

func (in *inbox) Write(about rpc.ID, last bool, frame []byte) error {
	in.mu.Lock()
	defer in.mu.Unlock()
	if last {
		in.last++
	}
	if len(frame) > 0 {
		m := message{raw: string(frame), about: about}
		if err := json.Unmarshal(frame, &m); err != nil {
			in.t.Errorf("the server wrote %q: %v", frame, err)
		}
		in.frames = append(in.frames, m)
		in.wrote <- struct{}{}
	}
	return nil
}

func (in *inbox) Refuse(_ rpc.ID, _ *rpc.Error, status int) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.status = append(in.status, status)
}

// take is the next frame.
func (in *inbox) take() message {
	<-in.wrote
	in.mu.Lock()
	defer in.mu.Unlock()
	m := in.frames[0]
	in.frames = in.frames[1:]
	return m
}

// exchange serves one frame and returns all that was written.
func (f *fixture) exchange(ctx context.Context, frame string) ([]message, Result) {
	f.t.Helper()
	j, err := f.srv.Route([]byte(frame), told(frame))
	if err != nil {
		raw := rpc.AppendError(nil, j.ID, err)
		m := message{raw: string(raw)}
		_ = json.Unmarshal(raw, &m)
		return []message{m}, Result{Err: err, Status: j.Status}
	}
	in := newInbox(f.t)
	result := f.srv.Exchange(ctx, &j, in)
	return in.frames, result
}

// ask is exchange for what gives one frame.
func (f *fixture) ask(ctx context.Context, frame string) message {
	f.t.Helper()
	frames, _ := f.exchange(ctx, frame)
	if len(frames) != 1 {
		f.t.Fatalf("want one frame, got %v", frames)
	}
	return frames[0]
}

func as(t *testing.T, principal string) context.Context {
	return WithPrincipal(t.Context(), principal)
}

func TestREV02EachMessageIsJudgedByItself(t *testing.T) {
	f := dual(t, Definition{Tools: []Tool{tool("echo", structured(echo))}})
	c := f.dial(t.Context())
	both := func(id int) (old, current message) {
		c.call(fmt.Sprint(id), "echo", `{"text":"hi"}`)
		old, _ = c.answer(fmt.Sprint(id))
		c.send(frame(id+1, "tools/call", nothing, callParams("echo", `{"text":"hi"}`)))
		current, _ = c.answer(fmt.Sprint(id + 1))
		return old, current
	}
	if _, current := both(1); current.str("result", "resultType") != "complete" {
		t.Errorf("before the handshake: %s", current.raw)
	}
	c.initialize(`{}`)
	old, current := both(3)
	if old.field("result", "resultType") != "" || old.str("result", "structuredContent", "text") != "hi" {
		t.Errorf("2025-11-25: %s", old.raw)
	}
	if current.str("result", "resultType") != "complete" || current.str("result", "structuredContent", "text") != "hi" {
		t.Errorf("2026-07-28: %s", current.raw)
	}
	c.request("5", "server/discover", `{}`).wantError(t, -32601)
	c.send(frame(6, "ping", nothing, ""))
	m, _ := c.answer("6")
	m.wantError(t, -32601)
	c.request("7", "ping", `{}`).wantResult(t, `{}`)
	// One stream, one space of ids (CAN08).
	c.send(frame(8, "initialize", nothing, `"capabilities":{}`))
	m, _ = c.answer("8")
	m.wantError(t, -32601)
}

// TestLET19InitializeIsToldWhatIsSpoken: basic/versioning#backward-compatibility-with-initialization-based-versions.
func TestLET19InitializeIsToldWhatIsSpoken(t *testing.T) {
	srv, err := New(Definition{Runtime: Generation1, Revisions: []*wire.Revision{wiretest.Revision20260728()}})
	if err != nil {
		t.Fatal(err)
	}
	c := (&fixture{t: t, srv: srv}).dial(t.Context())
	m := c.request("1", "initialize", `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{}}`)
	m.wantError(t, -32601)
	if got := m.field("error", "data", "supported"); got != `["2026-07-28"]` {
		t.Errorf("initialize is answered %s", m.raw)
	}
}

func TestREV02AServerOfOneStatelessRevision(t *testing.T) {
	srv, err := New(Definition{Runtime: Generation1, Tools: []Tool{tool("echo", structured(echo))}, Revisions: []*wire.Revision{wiretest.Revision20260728()}})
	if err != nil {
		t.Fatal(err)
	}
	c := (&fixture{t: t, srv: srv}).dial(t.Context())
	c.request("1", "initialize", `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{}}`).wantError(t, -32601)
	c.request("2", "tools/list", `{}`).wantError(t, -32602, "protocol version")
	c.send(frame(3, "tools/list", nothing, ""))
	if m, _ := c.answer("3"); m.str("result", "resultType") != "complete" {
		t.Error(m.raw)
	}
}

// told is what a faithful client puts into the version header beside the frame.
func told(frame string) string {
	if _, rest, ok := strings.Cut(frame, `"io.modelcontextprotocol/protocolVersion":"`); ok {
		version, _, _ := strings.Cut(rest, `"`)
		return version
	}
	return "2026-07-28"
}

func TestEXT14TransportAndMessageNameOneRevision(t *testing.T) {
	f := dual(t, Definition{Tools: []Tool{tool("echo", structured(echo))}})
	for _, row := range [][2]string{
		{"2026-07-28", "2031-01-01"}, {"2026-07-28", "2025-11-25"}, {"2031-01-01", "2026-07-28"}, {"2025-11-25", "2026-07-28"},
	} {
		hint, version := row[0], row[1]
		frame := `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"` + version + `","io.modelcontextprotocol/clientCapabilities":{}}}}`
		if j, err := f.srv.Route([]byte(frame), hint); err == nil || err.Code != -32020 || j.Status != 400 {
			t.Errorf("told %s, message says %s: %v with status %d, want -32020 with 400", hint, version, err, j.Status)
		}
	}
}

func TestEXT19EveryRequestSaysRevisionAndCapabilities(t *testing.T) {
	f := dual(t, Definition{Tools: []Tool{tool("echo", structured(echo))}})
	const version, caps = `"io.modelcontextprotocol/protocolVersion":"2026-07-28"`, `"io.modelcontextprotocol/clientCapabilities":{}`
	for params, want := range map[string]struct {
		code, status int
		part         string
	}{
		`{}`:                          {-32602, 400, "protocol version"},
		`{"_meta":{}}`:                {-32602, 400, "protocol version"},
		`{"_meta":{` + caps + `}}`:    {-32602, 400, "protocol version"},
		`{"_meta":{` + version + `}}`: {-32602, 400, "capabilities"},
		`{"_meta":{` + version + `,` + `"io.modelcontextprotocol/clientCapabilities":[]}}`: {-32602, 400, "capabilities"},
		`{"_meta":{` + version + `,` + `"io.modelcontextprotocol/clientCapabilities":7}}`:  {-32602, 400, "capabilities"},
		`{"_meta":{"io.modelcontextprotocol/protocolVersion":"2031-01-01",` + caps + `}}`:  {-32022, 400, "2031-01-01"},
		`{"_meta":{"io.modelcontextprotocol/protocolVersion":"2031-01-01"}}`:               {-32022, 400, "2031-01-01"},
	} {
		frames, result := f.exchange(t.Context(), `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":`+params+`}`)
		frames[0].wantError(t, want.code, want.part)
		if result.Status != want.status {
			t.Errorf("%s: status %d", params, result.Status)
		}
		data := frames[0].field("error", "data")
		if want.code == -32022 && data != `{"requested":"2031-01-01","supported":["2026-07-28","2025-11-25"]}` { // what server/discover lists
			t.Errorf("%s: data %s", params, data)
		}
	}
	f.ask(t.Context(), frame(1, "tools/list", nothing, "")).wantNoError(t)
	c := f.dial(t.Context()) // who names a revision that begins with initialize is not told to choose it again
	m := c.request("1", "tools/list", `{"_meta":{"io.modelcontextprotocol/protocolVersion":"2025-11-25",`+caps+`}}`)
	m.wantError(t, -32022, "begins with initialize")
	if data := m.field("error", "data"); data != `{"requested":"2025-11-25","supported":["2026-07-28"]}` {
		t.Error(m.raw)
	}
}

func (m message) wantNoError(t *testing.T) {
	t.Helper()
	if m.Error != nil || m.Result == nil {
		t.Errorf("want a result, got %s", m.raw)
	}
}

func TestEXT01DiscoverAdvertisesTheExtension(t *testing.T) {
	f := dual(t, Definition{Tools: []Tool{tool("job", structured(echo), withTask(TaskOptional))}}, WithCacheHint(60e9, true))
	m := f.ask(t.Context(), frame(1, "server/discover", nothing, ""))
	want := `{"extensions":{"io.modelcontextprotocol/tasks":{}},"logging":{},"tools":{"listChanged":true}}`
	if got := m.field("result", "capabilities"); got != want {
		t.Errorf("want %s, got %s", want, got)
	}
	if m.field("result", "supportedVersions") != `["2026-07-28","2025-11-25"]` || m.field("result", "ttlMs") != "60000" || m.str("result", "cacheScope") != "public" {
		t.Error(m.raw)
	}
	f = dual(t, Definition{Tools: []Tool{tool("echo", structured(echo))}})
	if m := f.ask(t.Context(), frame(1, "server/discover", nothing, "")); strings.Contains(m.raw, "extensions") {
		t.Errorf("no tool runs as a task: %s", m.raw)
	}
	// The session of the other revision declares its own, and only that.
	c := f.dial(t.Context())
	if m := c.initialize(`{}`); strings.Contains(m.raw, "extensions") {
		t.Error(m.raw)
	}
}

func TestEXT20ResultsSayWhatTheyAreAndWhoAnswered(t *testing.T) {
	f := dual(t, Definition{Tools: []Tool{tool("echo", structured(echo)), tool("more", structured(echo))}, Methods: prompts()}, WithPageSize(1))
	const info = `{"io.modelcontextprotocol/serverInfo":{"name":"test","version":"1"}}`
	for method, params := range map[string]string{
		"server/discover": "", "tools/list": "", "prompts/list": "", "tools/call": callParams("echo", `{"text":"x"}`), "prompts/get": `"name":"p"`,
	} {
		m := f.ask(t.Context(), frame(1, method, nothing, params))
		if m.str("result", "resultType") != "complete" || m.field("result", "_meta") != info {
			t.Errorf("%s: %s", method, m.raw)
		}
		if list := strings.HasSuffix(method, "list"); list && (m.field("result", "ttlMs") != "0" || m.str("result", "cacheScope") != "private") {
			t.Errorf("%s: %s", method, m.raw)
		}
	}
	first := f.ask(t.Context(), frame(1, "tools/list", nothing, ""))
	second := f.ask(t.Context(), frame(1, "tools/list", nothing, `"cursor":`+first.field("result", "nextCursor")))
	if !strings.Contains(first.raw, `"echo"`) || !strings.Contains(second.raw, `"more"`) || second.field("result", "nextCursor") != "" {
		t.Error(first.raw, second.raw)
	}
}

func TestEXT02TheTaskParameterIsIgnored(t *testing.T) {
	f := dual(t, Definition{Tools: []Tool{tool("echo", structured(echo)), tool("job", structured(echo), withTask(TaskOptional))}})
	for _, name := range []string{"echo", "job"} {
		m := f.ask(t.Context(), frame(1, "tools/call", nothing, callParams(name, `{"text":"x"}`)+`,"task":{"ttl":-5}`))
		if m.str("result", "structuredContent", "text") != "x" {
			t.Error(m.raw)
		}
	}
}

func TestEXT12RemovedMethodsAreUnknown(t *testing.T) {
	f := dual(t, Definition{Tools: []Tool{tool("job", structured(echo), withTask(TaskOptional))}})
	for _, method := range []string{
		"initialize", "ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe", "tasks/result", "tasks/list", "no/such",
		"prompts/get", "notifications/cancelled",
	} {
		frames, result := f.exchange(t.Context(), frame(1, method, withTasks, `"taskId":"x","uri":"u","level":"info","name":"x"`))
		frames[0].wantError(t, -32601, method)
		if result.Status != 404 || frames[0].str("id") != "" {
			t.Errorf("%s: %+v", method, result)
		}
	}
}

func TestCAN17ANotificationCancelsOnOneStream(t *testing.T) {
	h := newHold()
	f := dual(t, Definition{Tools: []Tool{tool("hang", h.handler())}})
	c := f.dial(t.Context())
	c.send(frame(1, "tools/call", nothing, callParams("hang", `{}`)))
	<-h.began
	c.cancel("1")
	if cause := <-h.ended; cause == nil || cause.Source != inflight.SourcePeer {
		t.Errorf("cause %v", cause)
	}
	c.send(frame(2, "tools/list", nothing, ""))
	if _, before := c.answer("2"); len(before) != 0 {
		t.Errorf("written for a cancelled request: %v", before)
	}
}

func TestCAN18TheClientsDisconnectCancels(t *testing.T) {
	h := newHold()
	f := dual(t, Definition{Tools: []Tool{tool("hang", h.handler())}})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan Result, 1)
	go func() {
		frames, result := f.exchange(ctx, frame(1, "tools/call", nothing, callParams("hang", `{}`)))
		if len(frames) != 0 {
			t.Errorf("written for a client that is gone: %v", frames)
		}
		done <- result
	}()
	<-h.began
	cancel()
	if cause := <-h.ended; cause == nil || cause.Source != inflight.SourceDisconnect {
		t.Errorf("cause %v", cause)
	}
	if result := <-done; !result.Silent {
		t.Errorf("%+v", result)
	}
	if n := len(f.srv.InFlight()); n != 0 {
		t.Errorf("%d in flight", n)
	}
}

// The session's own disconnect ends what is in flight; its transport decides when that is.
func TestCAN18SessionsEndWhenTheTransportSays(t *testing.T) {
	h := newHold()
	f := dual(t, Definition{Tools: []Tool{tool("hang", h.handler())}})
	in := newInbox(t)
	ss := f.srv.NewSession(t.Context(), in)
	got := ss.Receive(t.Context(), []byte(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`))
	if !got.Answered || got.Method != "initialize" || ss.Version() != "2025-11-25" || in.take().str("result", "protocolVersion") != "2025-11-25" {
		t.Errorf("%+v", got)
	}
	ss.Receive(t.Context(), []byte(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"hang"}}`))
	<-h.began
	ss.Receive(t.Context(), []byte(`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"hang"}}`))
	<-h.began
	ss.Receive(t.Context(), []byte(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}`))
	<-h.ended
	if in.mu.Lock(); in.last != 2 || len(in.frames) != 0 { // the handshake and the stream of 2, which ends without an answer
		t.Errorf("%d last frames, %v", in.last, in.frames)
	}
	in.mu.Unlock()
	if err := ss.Close(&inflight.Cause{Source: inflight.SourceDisconnect}); err != nil {
		t.Error(err)
	}
	if cause := <-h.ended; cause.Source != inflight.SourceDisconnect {
		t.Errorf("cause %v", cause)
	}
}

// resources is the handler of a method, which finds nothing.
func resources() MethodHandler {
	return BindMethod("resources/read", func(context.Context, *Call, *noInput) (*rawResult, error) {
		return nil, &ResourceError{URI: "test://x"}
	},
		MethodCodec[noInput, rawResult]{Decode: decodeNoInput, Append: appendRawResult})
}

// prompts are handlers of two methods, one of which asks.
func prompts() []MethodHandler {
	codec := MethodCodec[noInput, rawResult]{Decode: decodeNoInput, Append: appendRawResult}
	return []MethodHandler{
		BindMethod("prompts/list", func(context.Context, *Call, *noInput) (*rawResult, error) { return &rawResult{`{"prompts":[]}`}, nil }, codec),
		BindMethod("prompts/get", func(ctx context.Context, call *Call, _ *noInput) (*rawResult, error) {
			return &rawResult{`{"messages":[]}`}, nil
		}, codec),
	}
}

func TestMethodsAreServedAndDeclared(t *testing.T) {
	broken := MethodCodec[noInput, rawResult]{Decode: decodeNoInput, Append: appendRawResult}
	f := dual(t, Definition{Methods: append(prompts(),
		BindMethod("resources/read", func(context.Context, *Call, *noInput) (*rawResult, error) {
			return nil, &ResourceError{URI: "test://x"}
		}, broken))})
	m := f.ask(t.Context(), frame(1, "resources/read", nothing, `"uri":"test://x"`))
	m.wantError(t, -32602, "test://x")
	if m.field("error", "data") != `{"uri":"test://x"}` {
		t.Error(m.raw)
	}
	c := f.dial(t.Context())
	if got := c.initialize(`{}`).field("result", "capabilities"); got != `{"logging":{},"prompts":{"listChanged":true},"resources":{"listChanged":true,"subscribe":true}}` {
		t.Error(got)
	}
	c.request("1", "prompts/list", `{}`).wantResult(t, `{"prompts":[]}`)
	c.request("2", "resources/read", `{"uri":"test://x"}`).wantError(t, -32002, "test://x")
	c.request("3", "resources/subscribe", `{"uri":"test://x"}`).wantError(t, -32601)
	c.request("4", "tools/list", `{}`).wantError(t, -32601)
}

func TestRouteTellsWhatHeadersRepeat(t *testing.T) {
	f := dual(t, Definition{Tools: []Tool{tool("echo", structured(echo), withTask(TaskOptional))}, Methods: prompts()})
	for _, row := range []struct{ method, params, name string }{
		{"tools/call", callParams("echo", `{"text":"\u00e9"}`), "echo"},
		{"tasks/get", `"taskId":"t1"`, "t1"},
		{"prompts/get", `"name":"p"`, "p"},
	} {
		j, err := f.srv.Route([]byte(frame(1, row.method, withTasks, row.params)), "")
		if err != nil || !j.Named || j.Name != row.name || j.Method != row.method || j.Revision == nil || j.Revision.Version != "2026-07-28" {
			t.Errorf("%s: %+v %v", row.method, j, err)
		}
		if (j.Tool != nil) != (row.method == "tools/call") {
			t.Errorf("%s: tool %v", row.method, j.Tool)
		}
	}
	if j, err := f.srv.Route([]byte(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`), ""); err != nil || j.Revision != nil {
		t.Errorf("a session's message: %+v %v", j, err)
	}
	if _, err := f.srv.Route([]byte(`{`), "2026-07-28"); err == nil || err.Code != -32700 {
		t.Errorf("%v", err)
	}
}

// sampling asks the client's model, and roots its roots.
var (
	sampling = ClientRequest[noInput, noInput]{Op: wire.OpCreateMessage, Codecs: rawCodec(`{"messages":[],"maxTokens":5}`)}
	roots    = ClientRequest[noInput, noInput]{Op: wire.OpListRoots, Codecs: rawCodec(`{}`)}
)

func rawCodec(params string) []ClientCodec[noInput, noInput] {
	return []ClientCodec[noInput, noInput]{{
		Append: func(b []byte, _ *noInput) []byte { return append(b, params...) },
		Decode: func(d *check.Decoder, _ *noInput) { decodeNoInput(d, nil) },
	}}
}

func keysOf(t *testing.T, raw string) (keys []string) {
	t.Helper()
	var members map[string]json.RawMessage
	if err := json.Unmarshal([]byte(raw), &members); err != nil {
		t.Fatalf("%q: %v", raw, err)
	}
	for key := range members {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}
