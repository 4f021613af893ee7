package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"unicode/utf8"

	"github.com/mcpkiln/mcpkiln/runtime/check"
	"github.com/mcpkiln/mcpkiln/runtime/inflight"
	"github.com/mcpkiln/mcpkiln/runtime/task"
)

// A cancellation whose id can be read works, whatever stands beside the id.
func TestCAN27TheIDOfACancellationCounts(t *testing.T) {
	const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`
	h := newHold()
	f := dual(t, Definition{Tools: []Tool{tool("hang", h.handler())}})
	c := f.dial(t.Context())
	c.initialize(`{}`)
	for _, rest := range []string{
		``, `,"reason":null`, `,"reason":7`, `,"reason":{}`, `,"reason":["a"]`, `,"reason":""`, `,"_meta":null`, `,"_meta":5`, `,"_meta":{}`, `,"other":{"a":1}`,
		`,"reason":7,` + meta, `,` + meta,
	} {
		for _, params := range []string{`"requestId":1` + rest, strings.TrimPrefix(rest+`,"requestId":1`, ",")} {
			c.call("1", "hang", `{}`)
			<-h.began
			c.sendf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{%s}}`, params)
			if got := c.fence(); len(got) != 0 || len(c.inFlight("hang")) != 0 {
				t.Errorf("%s: %d in flight, %v", params, len(c.inFlight("hang")), got)
				c.cancel("1")
			}
			if cause := <-h.ended; cause.Source != inflight.SourcePeer {
				t.Error(params, cause)
			}
		}
	}
	c.call("1", "hang", `{}`)
	<-h.began
	for _, params := range []string{`{}`, `{"requestId":null}`, `{"requestId":1.5}`, `{"requestId":{"a":1}}`, `[1]`, `null`, `1`, `{"requestid":1}`} { // no id
		c.sendf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":%s}`, params)
	}
	if c.fence(); len(c.inFlight("hang")) != 1 {
		t.Error("cancelled by a notification without a readable id")
	}
	c.cancel("1")
	<-h.ended
}

func TestArgumentsThatAreNullAreAbsent(t *testing.T) {
	f := dual(t, Definition{Tools: jobs(newHold())})
	c := f.dial(t.Context())
	c.initialize(`{}`)
	ids := 10
	for _, args := range []string{``, `,"arguments":{}`, `,"arguments":null`} {
		ids += 3
		c.sendf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"fails"%s}}`, ids, args)
		if m, _ := c.answer(fmt.Sprint(ids)); !strings.Contains(m.raw, "no disk") {
			t.Errorf("inline, %s: %s", args, m.raw)
		}
		c.sendf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"fails","task":{}%s}}`, ids+1, args)
		if m, _ := c.answer(fmt.Sprint(ids + 1)); m.str("result", "task", "taskId") == "" {
			t.Errorf("as a task, %s: %s", args, m.raw)
		}
		if m := f.ask(t.Context(), frame(ids+2, "tools/call", nothing, `"name":"fails"`+args)); !strings.Contains(m.raw, "no disk") {
			t.Errorf("stateless, %s: %s", args, m.raw)
		}
	}
	for _, wrong := range []string{`5`, `"{}"`, `[]`, `false`} {
		if m := c.request("1", "tools/call", `{"name":"fails","arguments":`+wrong+`}`); strings.Contains(m.raw, "no disk") {
			t.Errorf("%s: %s", wrong, m.raw)
		}
	}
	_ = f.srv.Shutdown(t.Context())
}

// An error is small, whatever it refuses.
func TestNamesInErrorsAreCut(t *testing.T) {
	long := strings.Repeat("ä", 100_000)
	f := dual(t, Definition{Tools: []Tool{tool("echo", structured(echo))}})
	c := f.dial(t.Context())
	c.sendf(`{"jsonrpc":"2.0","id":"a","method":%q}`, long)
	early := c.next()
	c.initialize(`{}`)
	answers := map[string]message{
		"before the handshake": early,
		"method":               c.request("1", long, `{}`),
		"tool":                 c.request("2", "tools/call", `{"name":"`+long+`"}`),
		"level":                c.request("3", "logging/setLevel", `{"level":"`+long+`"}`),
		"task":                 c.request("4", "tasks/get", `{"taskId":"`+long+`"}`),
		"cursor":               c.request("5", "tools/list", `{"cursor":"`+long+`"}`),
		"argument":             c.request("6", "tools/call", `{"name":"echo","arguments":{"text":"x","`+long+`":1}}`),
		"value":                c.request("7", "tools/call", `{"name":"echo","arguments":{"text":"x","count":"`+long+`"}}`),
		"revision":             f.ask(t.Context(), strings.Replace(frame(8, "tools/list", nothing, ""), "2026-07-28", long, 1)),
		"stateless method":     f.ask(t.Context(), frame(9, long, nothing, "")),
	}
	for what, m := range answers {
		if len(m.raw) > 6000 || !utf8.ValidString(m.raw) {
			t.Errorf("%s: %d bytes: %.300s", what, len(m.raw), m.raw)
		}
	}
	for _, what := range []string{"before the handshake", "method", "tool", "level", "revision", "stateless method"} {
		if !strings.Contains(answers[what].raw, "ä…") {
			t.Errorf("%s: %.500s", what, answers[what].raw)
		}
	}
}

func TestVAL01ALargeOutputIsNotABrokenOne(t *testing.T) {
	long := strings.Repeat("x", 3000)
	var log syncBuffer
	c := newFixture(t, []Tool{
		tool("structured", plain(func(context.Context, *Call) (*echoOutput, error) { return &echoOutput{Text: long}, nil }), withTask(TaskOptional)),
		tool("whole", Bind(decodeNoInput, func(context.Context, *Call, *noInput) (*rawResult, error) {
			return &rawResult{`{"content":[{"type":"text","text":"` + long + `"}]}`}, nil
		}, Unstructured(appendRawResult))),
	}, WithLimits(check.Limits{Bytes: 2000}), WithLogger(slog.New(slog.NewTextHandler(&log, nil)))).dialTasks("")
	const remedy = "server.WithLimits"
	for _, name := range []string{"structured", "whole"} {
		m := c.request(`"`+name+`"`, "tools/call", `{"name":"`+name+`","arguments":{}}`)
		m.wantError(t, -32603, "the tool's output can not be sent: it is longer than the limit of 2000 bytes")
		c.srv.records.Flush(t.Context())
		if logged := log.take(); strings.Contains(m.raw, remedy) || !strings.Contains(logged, "output refused") || !strings.Contains(logged, remedy) {
			t.Errorf("%s: logged %s", name, logged)
		}
	}
	c.sendf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"structured","arguments":{},"task":{}}}`)
	m, _ := c.answer("1")
	c.request("2", "tasks/result", taskID(m.str("result", "task", "taskId"))).wantError(t, -32603, "longer than the limit")
}

// When everything else is refused, a client can still end what it began.
func TestTheLimitOfRequestsLeavesRoomToEndThem(t *testing.T) {
	h := newHold()
	f := dual(t, Definition{Tools: jobs(h)}, WithMaxInFlight(5))
	c := f.dial(t.Context())
	c.initialize(`{"elicitation":{}}`)
	id := c.start("100", "hang", "")
	<-h.began // its run counts, too
	for i := range 4 {
		c.call(fmt.Sprint(i), "hang", `{}`)
		<-h.began
	}
	c.request("5", "tools/call", `{"name":"quick","arguments":{"text":"x"}}`).wantError(t, -32600, "limit")
	c.request("6", "ping", `{}`).wantResult(t, `{}`)
	if m := c.request("7", "tasks/cancel", taskID(id)); m.str("result", "status") != "cancelled" {
		t.Error(m.raw)
	}
	c.cancel("0")
	for len(c.inFlight("hang")) != 3 {
		runtime.Gosched()
	}
	for c.srv.calls.Used() > 3 { // until its handler has returned
		runtime.Gosched()
	}
	if m := c.request("8", "tools/call", `{"name":"quick","arguments":{"text":"x"}}`); m.Error != nil {
		t.Error(m.raw)
	}
	h.free()

	// the same for exchanges
	for f.srv.calls.Used() > 0 {
		runtime.Gosched()
	}
	var others atomic.Int64
	f.srv.calls.TakeReserved(&others, 5, 0)
	f.ask(t.Context(), frame(1, "tools/list", withTasks, "")).wantError(t, -32600, "limit")
	f.ask(t.Context(), frame(1, "tasks/cancel", withTasks, byID("none"))).wantError(t, -32602, "unknown task")
	f.srv.calls.TakeReserved(&others, reserve, reserve)
	f.ask(t.Context(), frame(1, "tasks/cancel", withTasks, byID("none"))).wantError(t, -32600, "limit")
}

func TestNoOutputIsAnEmptyResultWithoutASchema(t *testing.T) {
	f := dual(t, Definition{Tools: []Tool{
		tool("silent", Bind(decodeNoInput, func(context.Context, *Call, *noInput) (*rawResult, error) { return nil, nil }, Unstructured(appendRawResult)), withTask(TaskOptional)),
		tool("forgetful", plain(func(context.Context, *Call) (*echoOutput, error) { return nil, nil })),
	}})
	c := f.dial(t.Context())
	c.initialize(`{}`)
	c.request("1", "tools/call", `{"name":"silent","arguments":{}}`).wantResult(t, `{"content":[]}`)
	c.sendf(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"silent","arguments":{},"task":{}}}`)
	m, _ := c.answer("2")
	if m = c.request("3", "tasks/result", taskID(m.str("result", "task", "taskId"))); m.field("result", "content") != "[]" {
		t.Error(m.raw)
	}
	if m := f.ask(t.Context(), frame(4, "tools/call", nothing, callParams("silent", `{}`))); m.field("result", "content") != "[]" || m.str("result", "resultType") != "complete" {
		t.Error(m.raw)
	}
	c.request("5", "tools/call", `{"name":"forgetful","arguments":{}}`).wantError(t, -32603)
}

func TestTSK25TheLogNamesTheToolThatBroke(t *testing.T) {
	var log syncBuffer
	c := newFixture(t, []Tool{
		tool("panics", plain(func(context.Context, *Call) (*echoOutput, error) { panic("oh") }), withTask(TaskOptional)),
		tool("leaves", plain(func(context.Context, *Call) (*echoOutput, error) {
			runtime.Goexit()
			return nil, errors.New("unreachable")
		}), withTask(TaskOptional)),
	}, WithLogger(slog.New(slog.NewTextHandler(&log, nil)))).dialTasks("")
	for i, name := range []string{"panics", "leaves"} {
		c.request(fmt.Sprint(i), "tools/call", `{"name":"`+name+`","arguments":{}}`).wantError(t, -32603)
		id := c.start(fmt.Sprint(10+i), name, "")
		c.request(fmt.Sprint(20+i), "tasks/result", taskID(id)).wantError(t, -32603)
		if m := c.request(fmt.Sprint(30+i), "tasks/get", taskID(id)); m.str("result", "status") != string(task.Failed) {
			t.Error(m.raw)
		}
		logged := 0
		c.srv.records.Flush(t.Context())
		for line := range strings.Lines(log.String()) {
			if strings.Contains(line, "level=ERROR") && strings.Contains(line, "tool="+name) {
				logged++
			}
		}
		if logged != 2 {
			t.Errorf("%s: %d records name it: %s", name, logged, log.String())
		}
	}
}
