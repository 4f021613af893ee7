package streamhttp

import (
	"context"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"

	"github.com/mcpkiln/mcpkiln/runtime/inflight"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/server"
	"github.com/mcpkiln/mcpkiln/runtime/task"
)

// TestREV06CallsWorkWithoutASession in the revisions with a handshake, beside the one without.
func TestREV06CallsWorkWithoutASession(t *testing.T) {
	f := newFixture(t, WithoutSessions())
	resp := f.post(initializeBody)
	if id := resp.Header.Get("Mcp-Session-Id"); id != "" {
		t.Errorf("session %q", id)
	}
	f.want(resp, 200, `"protocolVersion":"2025-11-25"`, `"tools":{}`)
	f.want(f.post(`{"jsonrpc":"2.0","method":"notifications/initialized"}`, "MCP-Protocol-Version: 2025-11-25"), 202)
	f.want(f.post(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, "MCP-Protocol-Version: 2025-11-25"), 200, `"echo"`)
	f.want(f.post(callBody("2", "echo", "x"), "MCP-Protocol-Version: 2025-11-25"), 200, `"x"`)
	f.want(f.post(callBody("3", "echo", "x")), 200, `"x"`)
	f.want(f.post(callBody("4", "echo", "x"), "Mcp-Session-Id: of another time"), 200, `"x"`)
	f.want(f.post(callBody("5", "echo", "x"), "MCP-Protocol-Version: 2019-01-01"), 400)
	f.want(f.post(`{"jsonrpc":"2.0","id":6,"method":"no/such"}`), 200, `-32601`)
	f.want(f.call2026("7", "echo", "x"), 200, `"resultType"`)
	if b := f.want(f.post(`[{"jsonrpc":"2.0","id":8,"method":"ping"},{"jsonrpc":"2.0","id":9,"method":"ping"}]`), 200); !strings.HasPrefix(b, "[") {
		t.Errorf("answers %s", b)
	}
	f.want(f.post(`[{"jsonrpc":"2.0","id":8,"method":"ping"}]`, "MCP-Protocol-Version: 2025-11-25"), 400)
	f.h.mu.Lock()
	defer f.h.mu.Unlock()
	if n := len(f.h.roster.sessions); n != 0 {
		t.Errorf("%d sessions", n)
	}
}

// TestREV06ProgressWithoutASession comes before the answer, in a stream that claims nothing about coming back.
func TestREV06ProgressWithoutASession(t *testing.T) {
	f := newFixture(t, WithoutSessions(), WithPriming(0))
	s := f.events(f.post(callBody("1", "steps", "x")))
	<-f.began
	progress, _ := s.next()
	f.release <- struct{}{}
	answer, _ := s.next()
	if !strings.Contains(progress.data, "notifications/progress") || !strings.Contains(answer.data, `"x"`) {
		t.Errorf("%+v, %+v", progress, answer)
	}
	if progress.id+answer.id+progress.retry != "" {
		t.Errorf("ids: %+v, %+v", progress, answer)
	}
	s.end()
}

// TestREV06WhatNeedsASessionSaysSo, and is not declared.
func TestREV06WhatNeedsASessionSaysSo(t *testing.T) {
	f := newFixture(t, WithoutSessions())
	f.want(f.do(f.request(http.MethodGet, "")), 405, "GET", "needs a session", "HTTP+SSE")
	f.want(f.do(f.request(http.MethodGet, "", "Mcp-Session-Id: x")), 405)
	f.want(f.do(f.request(http.MethodDelete, "", "Mcp-Session-Id: x")), 405)
	if allow := f.do(f.request(http.MethodPut, "")).Header.Get("Allow"); allow != "POST" {
		t.Errorf("Allow: %s", allow)
	}
	f.want(f.post(callBody("1", "ask", "")), 200, "needs a session")
	f.want(f.post(`{"jsonrpc":"2.0","id":7,"result":{}}`), 400, "need a session")
	f.want(f.post(`{"jsonrpc":"2.0","id":2,"method":"logging/setLevel","params":{"level":"debug"}}`), 200, "-32601")
	if b := f.want(f.post(initializeBody), 200); strings.Contains(field(b, "result", "capabilities"), "listChanged") || strings.Contains(b, "logging") {
		t.Errorf("declared: %s", b)
	}
}

// TestREV06TasksWithoutASession belong to the caller's identity, or to whoever has their ids.
func TestREV06TasksWithoutASession(t *testing.T) {
	for name, user := range map[string][]string{"with an identity": {"X-User: ada"}, "without one": nil} {
		t.Run(name, func(t *testing.T) {
			store := task.NewMemory()
			a, b := newReplica(t, store, sealKey, WithoutSessions()), newReplica(t, store, sealKey, WithoutSessions())
			headers := append(user, "MCP-Protocol-Version: 2025-11-25")
			created := a.want(a.post(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"later","arguments":{"text":"done"},"task":{}}}`, headers...), 200, `"taskId"`)
			<-a.began
			about := func(method string) string {
				return `{"jsonrpc":"2.0","id":3,"method":"` + method + `","params":{"taskId":` + field(created, "result", "task", "taskId") + `}}`
			}
			b.want(b.post(about("tasks/get"), headers...), 200, `"working"`)
			b.want(b.post(about("tasks/get"), "MCP-Protocol-Version: 2025-11-25", "X-User: eve"), 200, "-32602")
			a.release <- struct{}{}
			b.want(b.post(about("tasks/result"), headers...), 200, `"done"`)
		})
	}
}

// TestSRV03WhoCallsWithoutASession is not known, and there is no session to name.
func TestSRV03WhoCallsWithoutASession(t *testing.T) {
	f := newReplica(t, task.NewMemory(), sealKey, WithoutSessions())
	f.want(f.post(callBody("1", "who", ""), "MCP-Protocol-Version: 2025-11-25"), 200, `"text":"  [] 2025-11-25 \"\""`)
}

// TestREV06ACallWithoutASessionEndsWithItsClient: nothing else could end it.
func TestREV06ACallWithoutASessionEndsWithItsClient(t *testing.T) {
	f := newFixture(t, WithoutSessions())
	ctx, leave := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		resp, err := f.ts.Client().Do(f.request(http.MethodPost, callBody("1", "hang", "")).WithContext(ctx))
		if err == nil {
			resp.Body.Close()
		}
	}()
	<-f.began
	leave()
	if cause, ok := (<-f.causes).(*inflight.Cause); !ok || cause.Source != inflight.SourceDisconnect {
		t.Errorf("cause %v", cause)
	}
	<-done
}

// TestCAN21ShutdownEndsCallsWithoutASession, and waits for them.
func TestCAN21ShutdownEndsCallsWithoutASession(t *testing.T) {
	f := newFixture(t, WithoutSessions())
	done := make(chan *http.Response, 1)
	go func() { done <- f.post(callBody("1", "hang", "")) }()
	<-f.began
	if err := f.h.Shutdown(context.Background()); err != nil {
		t.Error(err)
	}
	if cause, ok := (<-f.causes).(*inflight.Cause); !ok || cause.Source != inflight.SourceShutdown {
		t.Errorf("cause %v", cause)
	}
	f.want(<-done, 503)
	if n := len(f.h.sessionless); n != 0 {
		t.Errorf("%d are left", n)
	}
}

// TestREV06LimitOfCallsWithoutASession: more are refused, and none is left.
func TestREV06LimitOfCallsWithoutASession(t *testing.T) {
	f := newFixture(t, WithoutSessions(), WithMaxExchanges(1))
	done := make(chan *http.Response, 1)
	go func() { done <- f.post(callBody("1", "gate", "x")) }()
	<-f.began
	f.want(f.post(callBody("2", "echo", "x")), 503, "limit")
	f.release <- struct{}{}
	f.want(<-done, 200)
}

// TestREV06ATaskCanBeCancelledAtTheLimit: requests to cancel one, and pings, have a reserve.
func TestREV06ATaskCanBeCancelledAtTheLimit(t *testing.T) {
	f := newReplica(t, task.NewMemory(), sealKey, WithoutSessions(), WithMaxExchanges(1))
	const header = "MCP-Protocol-Version: 2025-11-25"
	created := f.want(f.post(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"later","arguments":{"text":"x"},"task":{}}}`, header), 200, `"taskId"`)
	<-f.began
	for left := 1; left > 0; runtime.Gosched() { // until that message is over
		f.h.mu.Lock()
		left = len(f.h.sessionless)
		f.h.mu.Unlock()
	}
	done := make(chan *http.Response, 1)
	go func() { done <- f.post(callBody("1", "gate", "x"), header) }()
	<-f.began
	about := func(method string) string {
		return `{"jsonrpc":"2.0","id":3,"method":"` + method + `","params":{"taskId":` + field(created, "result", "task", "taskId") + `}}`
	}
	f.want(f.post(about("tasks/get"), header), 503, "limit")
	f.want(f.post(`{"jsonrpc":"2.0","id":4,"method":"ping"}`, header), 200)
	f.want(f.post(about("tasks/cancel"), header), 200, `"cancelled"`)
	close(f.release) // for the task, too, which may not have seen its end yet
	f.want(<-done, 200)
}

// TestREV06TheAssumedRevision of a message without a header is the newest that had none.
func TestREV06TheAssumedRevision(t *testing.T) {
	f := newFixture(t)
	if got := assumedVersion(f.srv); got != "2025-03-26" {
		t.Errorf("assumed %s", got)
	}
	srv, err := server.New(server.Definition{Name: "n", Version: "1", Runtime: server.Generation1, Revisions: f.srv.Definition().Revisions[:2]})
	if err != nil {
		t.Fatal(err)
	}
	if got := assumedVersion(srv); got != "2025-11-25" {
		t.Errorf("assumed %s", got)
	}
}

// TestTSK28WhatIsUnreadWithoutASessionIsBounded over all messages, as it is in sessions, and nothing is kept for a client that can not
// come back.
func TestTSK28WhatIsUnreadWithoutASessionIsBounded(t *testing.T) {
	f := newFixture(t, WithoutSessions(), WithReplayTotal(1<<20))
	frame := make([]byte, 32<<10)
	call := func(who string) (*session, *stream) {
		r := httptest.NewRequest(http.MethodPost, "/", nil)
		s, refused := f.h.openSessionless(r.WithContext(server.WithPrincipal(r.Context(), who)), "2025-11-25", false)
		if refused != nil {
			t.Fatal(refused)
		}
		t.Cleanup(s.endSessionless)
		st := s.stream(rpc.StringID("1"))
		reader := st.attach(-1)
		t.Cleanup(func() { s.release(st, reader) })
		for range 16 {
			_ = s.Write(rpc.StringID("1"), false, frame)
		}
		return s, st
	}
	unread := 0
	for range 12 {
		_, st := call("greedy")
		unread += st.behind.all
	}
	s, st := call("late")
	if st.behind.all == 0 {
		t.Error("nothing is left for another caller")
	}
	unread += st.behind.all
	if used := int(f.h.unread.Used()); unread != used || used > 1<<20 {
		t.Errorf("%d bytes are unread, %d counted", unread, used)
	}
	for b := st.take(st.reader); b.more; b = st.take(st.reader) {
	}
	st.wrote(st.reader)
	if err := s.Write(rpc.StringID("1"), false, frame); err != nil || len(st.events) != 1 {
		t.Errorf("%d events are kept: %v", len(st.events), err)
	}
}

// TestTSK28NothingIsLeftOfACallerWithoutASession when its message is answered.
func TestTSK28NothingIsLeftOfACallerWithoutASession(t *testing.T) {
	f := newFixture(t, WithoutSessions())
	f.want(f.post(callBody("1", "echo", "x"), "X-User: ada"), 200)
	f.shutDown()
	if n := len(f.h.roster.tenants); n != 0 {
		t.Errorf("%d tenants", n)
	}
}
