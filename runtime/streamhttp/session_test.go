package streamhttp

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/inflight"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
)

func (f *fixture) want(resp *http.Response, status int, parts ...string) string {
	f.t.Helper()
	b := body(resp)
	if resp.StatusCode != status {
		f.t.Fatalf("status %d, want %d: %s", resp.StatusCode, status, b)
	}
	for _, p := range parts {
		if !strings.Contains(b, p) {
			f.t.Errorf("%q is not in %s", p, b)
		}
	}
	return b
}

func TestREV02BothRevisionsOnOneEndpoint(t *testing.T) {
	f := newFixture(t)
	session := f.initialize()
	b := f.want(f.post(callBody("1", "echo", "old"), session), 200, `"old"`)
	if strings.Contains(b, "resultType") {
		t.Errorf("2025-11-25 was answered as another revision: %s", b)
	}
	f.want(f.call2026("1", "echo", "new"), 200, `"new"`, `"resultType":"complete"`)
	f.want(f.post(callBody("2", "echo", "old again"), session, "MCP-Protocol-Version: 2025-11-25"), 200, `"old again"`)
}

// A header that names no revision is told which it may name: that of the session is among them.
func TestREV06TheSessionsRevisionIsAmongTheSupportedOnes(t *testing.T) {
	f := newFixture(t)
	b := f.want(f.post(`{"jsonrpc":"2.0","id":1,"method":"ping"}`, f.initialize(), "MCP-Protocol-Version: x"), 400, "-32022")
	if got := field(b, "error", "data", "supported"); got != `["2026-07-28","2025-11-25","2025-03-26"]` {
		t.Error(got)
	}
}

func TestSessionAnswersAloneAreJSON(t *testing.T) {
	f := newFixture(t)
	resp := f.post(callBody("1", "echo", "x"), f.initialize())
	if got := resp.Header.Get("Content-Type"); got != "application/json" {
		t.Errorf("content type %q", got)
	}
	if b := f.want(resp, 200); field(b, "id") != "1" || field(b, "result", "structuredContent", "text") != `"x"` {
		t.Errorf("answer %s", b)
	}
}

func TestSessionIDsAreUnguessable(t *testing.T) {
	f := newFixture(t)
	seen := map[string]bool{}
	for range 20 {
		id := f.initialize()
		if seen[id] || len(id) < len("Mcp-Session-Id: ")+26 {
			t.Fatalf("id %q", id)
		}
		seen[id] = true
	}
}

func TestSessionLifecycle(t *testing.T) {
	f := newFixture(t)
	session := f.initialize()
	ping := `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	f.want(f.post(ping), 400, "Mcp-Session-Id")
	f.want(f.post(ping, "Mcp-Session-Id: unknown"), 404)
	f.want(f.do(f.request(http.MethodGet, "")), 400)
	f.want(f.do(f.request(http.MethodGet, "", "Mcp-Session-Id: unknown")), 404)
	f.want(f.do(f.request(http.MethodDelete, "")), 400)
	f.want(f.do(f.request(http.MethodDelete, "", "Mcp-Session-Id: unknown")), 404)
	f.want(f.post(ping, session), 200, `"result":{}`)
	f.want(f.do(f.request(http.MethodDelete, "", session)), 204)
	f.want(f.post(ping, session), 404)
	f.want(f.do(f.request(http.MethodGet, "", session)), 404)
	f.want(f.do(f.request(http.MethodDelete, "", session)), 404)
}

func TestSessionVersionHeader(t *testing.T) {
	f := newFixture(t)
	session := f.initialize("MCP-Protocol-Version: 2025-11-25")
	ping := `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	f.want(f.post(ping, session, "MCP-Protocol-Version: 2025-11-25"), 200)
	f.want(f.post(ping, session, "MCP-Protocol-Version: 1900-01-01"), 400)
	f.want(f.post(ping, session, "MCP-Protocol-Version: not-a-version"), 400)
	f.want(f.do(f.request(http.MethodGet, "", session, "MCP-Protocol-Version: 1900-01-01")), 400)
	f.want(f.do(f.request(http.MethodDelete, "", session, "MCP-Protocol-Version: 1900-01-01")), 400)
	f.want(f.post(ping, session), 200)
}

func TestSessionDeleteEndsWhatRuns(t *testing.T) {
	f := newFixture(t, WithPriming(0))
	session := f.initialize()
	s := f.events(f.post(callBody("1", "hang", ""), session))
	<-f.began
	listener := f.listen(session)
	f.want(f.do(f.request(http.MethodDelete, "", session)), 204)
	if cause := <-f.causes; sourceOf(cause) != inflight.SourceDisconnect {
		t.Errorf("cause %v", cause)
	}
	s.end()
	listener.end()
}

func sourceOf(err error) inflight.Source {
	var c *inflight.Cause
	if errors.As(err, &c) {
		return c.Source
	}
	return 0
}

func TestSessionStreamsWhatPrecedesTheAnswer(t *testing.T) {
	f := newFixture(t)
	resp := f.post(callBody("1", "steps", "done"), f.initialize())
	<-f.began
	s := f.events(resp)
	for name, want := range map[string]string{"Cache-Control": "no-cache, no-transform", "X-Accel-Buffering": "no"} {
		if got := resp.Header.Get(name); got != want {
			t.Errorf("%s: %q", name, got)
		}
	}
	first, _ := s.next()
	if first.id == "" || first.data != "" || first.retry != "1000" {
		t.Errorf("priming event %+v", first)
	}
	if e := s.message(); field(e.data, "method") != `"notifications/progress"` || e.id == "" || e.id == first.id {
		t.Errorf("progress %+v", e)
	}
	f.release <- struct{}{}
	if e := s.message(); field(e.data, "result", "structuredContent", "text") != `"done"` {
		t.Errorf("answer %+v", e)
	}
	s.end()
}

func TestSessionAsksOnTheStreamOfTheCall(t *testing.T) {
	f := newFixture(t)
	session := f.initialize()
	s := f.events(f.post(callBody("1", "ask", ""), session))
	q := s.message()
	if field(q.data, "method") != `"elicitation/create"` {
		t.Fatalf("question %+v", q)
	}
	id := field(q.data, "id")
	f.want(f.post(`{"jsonrpc":"2.0","id":`+id+`,"result":{"action":"accept","content":{"text":"yes"}}}`, session), 202)
	if e := s.message(); field(e.data, "result", "structuredContent", "text") != `"accept yes"` {
		t.Errorf("answer %+v", e)
	}
	s.end()
}

func TestSessionIgnoresNotificationsAboutNothing(t *testing.T) {
	f := newFixture(t)
	session := f.initialize()
	f.want(f.post(`{"jsonrpc":"2.0","method":"notifications/unheard/of"}`, session), 202)
	f.want(f.post(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":99}}`, session), 202)
	f.want(f.post(callBody("1", "echo", "still here"), session), 200, "still here")
}

func TestCAN02CancelledCallsEndTheirStreamSilently(t *testing.T) {
	f := newFixture(t)
	session := f.initialize()
	answered := make(chan *http.Response)
	go func() { answered <- f.post(callBody("1", "hang", ""), session) }()
	<-f.began
	f.want(f.post(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`, session), 202)
	f.events(<-answered).end()
	if cause := <-f.causes; sourceOf(cause) != inflight.SourcePeer {
		t.Errorf("cause %v", cause)
	}
}

func TestCAN06OtherSessionsCanNotCancel(t *testing.T) {
	f := newFixture(t, WithPriming(0))
	session, other := f.initialize(), f.initialize()
	s := f.events(f.post(callBody("1", "gate", "mine"), session))
	<-f.began
	f.want(f.post(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`, other), 202)
	f.release <- struct{}{}
	if e := s.message(); field(e.data, "result", "structuredContent", "text") != `"mine"` {
		t.Errorf("answer %+v", e)
	}
}

func TestCAN08SecondRequestOfAnIDInFlightIsRefused(t *testing.T) {
	f := newFixture(t, WithPriming(0))
	session := f.initialize()
	s := f.events(f.post(callBody("1", "gate", "first"), session))
	<-f.began
	b := f.want(f.post(callBody("1", "echo", "second"), session), 400, "-32600")
	if field(b, "id") != "1" {
		t.Errorf("refusal %s", b)
	}
	f.want(f.post(callBody(`"1"`, "echo", "a string"), session), 200, "a string")
	f.release <- struct{}{}
	if e := s.message(); field(e.data, "result", "structuredContent", "text") != `"first"` {
		t.Errorf("answer %+v", e)
	}
}

func TestCAN18LostStreamsAreResumed(t *testing.T) {
	f := newFixture(t)
	session := f.initialize()
	ctx, hangUp := context.WithCancel(context.Background())
	resp := f.do(f.request(http.MethodPost, callBody("1", "steps", "kept"), session).WithContext(ctx))
	s := f.events(resp)
	prime, _ := s.next()
	progress := s.message()
	<-f.began
	hangUp()
	f.release <- struct{}{}

	// From the priming event: everything; from the progress: the answer.
	for _, from := range []string{prime.id, progress.id} {
		again := f.listen(session, "Last-Event-ID: "+from)
		if from == prime.id {
			if e := again.message(); e != progress {
				t.Errorf("got %+v, want %+v", e, progress)
			}
		}
		e := again.message()
		if field(e.data, "result", "structuredContent", "text") != `"kept"` {
			t.Errorf("from %s: %+v", from, e)
		}
		again.end()
		f.listen(session, "Last-Event-ID: "+e.id) // nothing is left: a listener (LET13)
	}
	select {
	case cause := <-f.causes:
		t.Errorf("the call was cancelled: %v", cause)
	default:
	}
}

func TestCAN18ClosedStreamsArePolled(t *testing.T) {
	f := newFixture(t, WithRetry(250*time.Millisecond))
	session := f.initialize()
	s := f.events(f.post(callBody("1", "poll", "later"), session))
	prime, _ := s.next()
	if prime.id == "" || prime.data != "" || prime.retry != "250" {
		t.Errorf("priming event %+v", prime)
	}
	s.end() // closed while the call runs
	<-f.began
	again := f.listen(session, "Last-Event-ID: "+prime.id)
	f.release <- struct{}{}
	if e := again.message(); field(e.data, "result", "structuredContent", "text") != `"later"` {
		t.Errorf("answer %+v", e)
	}
	again.end()
}

func TestClosePollingNeedsASession(t *testing.T) {
	f := newFixture(t)
	f.want(f.call2026("1", "poll", ""), 200, "no stream to close")
}

// A client of a revision without priming knows no event of a stream that has sent none: it could not come back for the answer.
func TestSRV04ClosePollingNeedsAnEventToResumeFrom(t *testing.T) {
	f := newFixture(t)
	f.want(f.post(callBody("1", "poll", "later"), f.march()), 200, "no stream to close")
}

// An id that was freed with the answer of one request is that of a later one.
func TestCAN03AnEndedRequestFreesNoIDOfALaterOne(t *testing.T) {
	f := newFixture(t)
	f.initialize()
	s, id := f.only(), rpc.StringID("1")
	first := s.stream(id)
	_ = s.Write(id, true, []byte(`{"jsonrpc":"2.0","id":"1","result":{}}`))
	second := s.stream(id)
	s.freeUnanswered(first) // late
	if err := s.Write(id, true, []byte(`{"jsonrpc":"2.0","id":"1","result":{}}`)); second == nil || err != nil {
		t.Error(second, err)
	}
}

func TestSessionResumesOnlyItsOwnStreams(t *testing.T) {
	f := newFixture(t)
	session, other := f.initialize(), f.initialize()
	s := f.events(f.post(callBody("1", "steps", "mine"), session))
	prime, _ := s.next()
	<-f.began
	forgotten := f.listen(other, "Last-Event-ID: "+prime.id)
	if e := forgotten.message(); field(e.data, "id") != "1" || field(e.data, "error", "code") != "-32603" || e.id != "" {
		t.Errorf("got %+v", e)
	}
	forgotten.end()
	for _, id := range []string{strings.Join(strings.Split(prime.id, ".")[:2], "."), "r99.1", "x", "r1", "r1.x", "r1.-1", "r99999999999999999999.1", "l1.1.1"} {
		l := f.listen(other, "Last-Event-ID: "+id) // a new listener, whatever it asked for
		own := f.h.use(strings.TrimPrefix(other, "Mcp-Session-Id: "), "")
		if err := own.sendToListener([]byte(`{"id":"` + id + `"}`)); err != nil {
			t.Fatal(err)
		}
		own.unuse()
		if e := l.message(); !strings.HasPrefix(e.id, "l") || field(e.data, "id") != `"`+id+`"` {
			t.Errorf("%s: got %+v", id, e)
		}
	}
	f.release <- struct{}{}
	s.message()
}

func TestSessionMessagesWaitForAListener(t *testing.T) {
	f := newFixture(t)
	session := f.initialize()
	s := f.only()
	for _, m := range []string{`{"n":1}`, `{"n":2}`} {
		if err := s.sendToListener([]byte(m)); err != nil {
			t.Fatal(err)
		}
	}
	l := f.listen(session)
	first := l.message()
	if second := l.message(); first.data != `{"n":1}` || second.data != `{"n":2}` {
		t.Errorf("got %+v and %+v", first, second)
	}
	again := f.listen(session, "Last-Event-ID: "+first.id) // takes the stream over
	l.end()
	if e := again.message(); e.data != `{"n":2}` {
		t.Errorf("resumed with %+v", e)
	}
	newest := f.listen(session)
	if err := s.sendToListener([]byte(`{"n":3}`)); err != nil {
		t.Fatal(err)
	}
	if e := newest.message(); e.data != `{"n":3}` {
		t.Errorf("the newest listener got %+v", e)
	}
	// A listener that is forgotten is like a new one.
	f.listen(session, "Last-Event-ID: l77.3")
}

// only is the one session there is.
func (f *fixture) only() *session {
	f.t.Helper()
	f.h.mu.Lock()
	defer f.h.mu.Unlock()
	if len(f.h.roster.sessions) != 1 {
		f.t.Fatalf("%d sessions", len(f.h.roster.sessions))
	}
	for _, s := range f.h.roster.sessions {
		return s
	}
	return nil
}

func TestSessionsAreBounded(t *testing.T) {
	f := newFixture(t, WithMaxSessions(2))
	// Without sockets, a request is over when its response is there.
	open := func() string {
		return recorded(f.h, http.MethodPost, initializeBody, "").Header().Get("Mcp-Session-Id")
	}
	ping := func(session string) int {
		return recorded(f.h, http.MethodPost, `{"jsonrpc":"2.0","id":1,"method":"ping"}`, session).Code
	}
	first, second := open(), open()
	if code := ping(first); code != 200 {
		t.Errorf("first: %d", code)
	}
	third := open() // the second one was unused for longer
	if ping(second) != 404 || ping(first) != 200 || ping(third) != 200 {
		t.Error("not the session that was unused for the longest time made room")
	}
	f.listen("Mcp-Session-Id: " + first)
	f.listen("Mcp-Session-Id: " + third)
	resp := f.post(initializeBody)
	if f.want(resp, 503, "sessions", `"id":"init"`); resp.Header.Get("Retry-After") == "" { // a refusal is the answer of its request
		t.Error("no Retry-After")
	}
}

func TestFailedHandshakesLeaveNoSession(t *testing.T) {
	f := newFixture(t)
	resp := f.post(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}`)
	if f.want(resp, 400, "-32602"); resp.Header.Get("Mcp-Session-Id") != "" {
		t.Error("a session was opened")
	}
	f.h.mu.Lock()
	defer f.h.mu.Unlock()
	if n := len(f.h.roster.sessions); n != 0 {
		t.Errorf("%d sessions", n)
	}
}
