package streamhttp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/inflight"
	"github.com/mcpkiln/mcpkiln/runtime/internal/wiretest"
	"github.com/mcpkiln/mcpkiln/runtime/server"
	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

func TestExchangeAnswersAloneAreJSON(t *testing.T) {
	f := newFixture(t)
	resp := f.call2026("1", "echo", "x")
	if got := resp.Header.Get("Content-Type"); got != "application/json" {
		t.Errorf("content type %q", got)
	}
	if got := resp.Header.Get("Mcp-Session-Id"); got != "" {
		t.Errorf("session %q", got)
	}
	if b := f.want(resp, 200); field(b, "id") != "1" || field(b, "result", "structuredContent", "text") != `"x"` {
		t.Errorf("answer %s", b)
	}
}

func TestExchangeStreamsWhatPrecedesTheAnswer(t *testing.T) {
	f := newFixture(t)
	resp := f.call2026("1", "steps", "done")
	<-f.began
	s := f.events(resp)
	if got := resp.Header.Get("X-Accel-Buffering"); got != "no" {
		t.Errorf("X-Accel-Buffering: %q", got)
	}
	if e := s.message(); field(e.data, "method") != `"notifications/progress"` || e.id != "" {
		t.Errorf("progress %+v", e)
	}
	f.release <- struct{}{}
	if e := s.message(); field(e.data, "result", "structuredContent", "text") != `"done"` {
		t.Errorf("answer %+v", e)
	}
	s.end()
}

func TestExchangeHasNoSessions(t *testing.T) {
	f := newFixture(t)
	for _, method := range []string{http.MethodGet, http.MethodDelete} {
		resp := f.do(f.request(method, "", "MCP-Protocol-Version: 2026-07-28"))
		if f.want(resp, 405); resp.Header.Get("Allow") != "POST" {
			t.Errorf("%s: Allow %q", method, resp.Header.Get("Allow"))
		}
	}
}

func TestEndpointWithoutSessions(t *testing.T) {
	srv, err := server.New(server.Definition{
		Name: "test", Version: "1", Runtime: server.Generation1, Revisions: []*wire.Revision{wiretest.Revision20260728()},
		Tools: []server.Tool{tool("echo", (&fixture{}).echo)},
	})
	if err != nil {
		t.Fatal(err)
	}
	h := Handler(srv)
	for _, method := range []string{http.MethodGet, http.MethodDelete, http.MethodPut} {
		if resp := recorded(h, method, "", "x"); resp.Code != 405 || resp.Header().Get("Allow") != "POST" {
			t.Errorf("%s: %d, Allow %q", method, resp.Code, resp.Header().Get("Allow"))
		}
	}
	if resp := recorded(h, http.MethodPost, initializeBody, ""); resp.Code < 400 || resp.Header().Get("Mcp-Session-Id") != "" {
		t.Errorf("initialize: %d %s", resp.Code, resp.Body)
	}
	r := httptest.NewRequest(http.MethodPost, "http://localhost/", strings.NewReader(callBody2026("1", "echo", "x")))
	for _, line := range append(headers2026("tools/call", "echo"), "Content-Type: application/json") {
		name, value, _ := strings.Cut(line, ": ")
		r.Header.Set(name, value)
	}
	w := httptest.NewRecorder()
	if h.ServeHTTP(w, r); w.Code != 200 {
		t.Errorf("call: %d %s", w.Code, w.Body)
	}
	_ = h.Close()
	_ = srv.Shutdown(context.Background())
}

func TestExchangeTakesNotifications(t *testing.T) {
	f := newFixture(t)
	f.want(f.post(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,`+meta2026+`}}`,
		headers2026("notifications/cancelled", "")...), 202)
}

// A stateless revision asks nothing, so a response from a client is refused for what it is, not for a header that it can not have.
func TestEXT14ResponsesFromClientsAreRefusedForWhatTheyAre(t *testing.T) {
	f := newFixture(t)
	for _, response := range []string{`{"jsonrpc":"2.0","id":1,"result":{}}`, `{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"m"}}`} {
		f.want(f.post(response, "MCP-Protocol-Version: 2026-07-28"), 400, "revision 2026-07-28 has no responses from clients", "inputResponses")
	}
}

func TestEXT14NotificationsMayLeaveTheMethodHeaderOut(t *testing.T) {
	f := newFixture(t)
	cancelled := `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,` + meta2026 + `}}`
	f.want(f.post(cancelled, "MCP-Protocol-Version: 2026-07-28"), 202)
	f.want(f.post(cancelled, "MCP-Protocol-Version: 2026-07-28", "Mcp-Method: tools/call"), 400, "-32020")
	f.want(f.post(cancelled), 400)
}

// message2026 is a message with given _meta.
func message2026(method, params, meta string) string {
	if params != "" {
		params += ","
	}
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":{%s"_meta":{%s}}}`, method, params, meta)
}

const (
	metaVersion      = `"io.modelcontextprotocol/protocolVersion":"2026-07-28"`
	metaCapabilities = `"io.modelcontextprotocol/clientCapabilities":{}`
)

func TestEXT19RequestsSayVersionAndCapabilities(t *testing.T) {
	f := newFixture(t)
	list := headers2026("tools/list", "")
	f.want(f.post(message2026("tools/list", "", metaVersion+","+metaCapabilities), list...), 200)
	f.want(f.post(message2026("tools/list", "", metaVersion), list...), 400, "-32602")
	f.want(f.post(message2026("tools/list", "", metaCapabilities), list...), 400, "-32602")
	f.want(f.post(message2026("tools/list", "", ""), list...), 400, "-32602")
	f.want(f.post(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, list...), 400, "-32602")
	f.want(f.post(`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}`, list...), 400, "-32602")
	unknown := strings.ReplaceAll(message2026("tools/list", "", metaVersion+","+metaCapabilities), "2026-07-28", "1900-01-01")
	b := f.want(f.post(unknown, "MCP-Protocol-Version: 1900-01-01", "Mcp-Method: tools/list"), 400, "-32022")
	if field(b, "error", "data", "requested") != `"1900-01-01"` || !strings.Contains(field(b, "error", "data", "supported"), "2026-07-28") {
		t.Errorf("data of %s", b)
	}
}

func TestExchangeUnknownMethodsAre404(t *testing.T) {
	f := newFixture(t)
	for _, method := range []string{"initialize", "ping", "logging/setLevel", "resources/subscribe", "tasks/list", "no/such"} {
		f.want(f.post(message2026(method, "", metaVersion+","+metaCapabilities), headers2026(method, "")...), 404, "-32601", `"id":1`)
	}
}

func TestEXT14HeadersRepeatTheBody(t *testing.T) {
	f := newFixture(t)
	call := callBody2026("1", "echo", "x")
	list := message2026("tools/list", "", metaVersion+","+metaCapabilities)
	version, method, name := "MCP-Protocol-Version: 2026-07-28", "Mcp-Method: tools/call", "Mcp-Name: echo"
	for _, c := range []struct {
		body    string
		headers []string
		status  int
	}{
		{call, []string{version, method, name}, 200},
		{call, []string{version, method, "Mcp-Name: =?base64?ZWNobw==?="}, 200},
		{call, []string{"mcp-protocol-version: 2026-07-28", "MCP-METHOD: tools/call", "mcp-name: echo"}, 200},
		{call, nil, 400},
		{call, []string{version}, 400},
		{call, []string{version, method}, 400},
		{call, []string{version, name}, 400},
		{call, []string{method, name}, 400},
		{call, []string{"MCP-Protocol-Version: 2025-11-25", method, name}, 400},
		{call, []string{version, version, method, name}, 400},
		{call, []string{version, "Mcp-Method: tools/list", name}, 400},
		{call, []string{version, "Mcp-Method: TOOLS/CALL", name}, 400},
		{call, []string{version, method, method, name}, 400},
		{call, []string{version, method, "Mcp-Name: Echo"}, 400},
		{call, []string{version, method, "Mcp-Name: gate"}, 400},
		{call, []string{version, method, name, "Mcp-Name: gate"}, 400},
		{call, []string{version, method, "Mcp-Name: =?base64?ZWNobw?="}, 400},
		{call, []string{version, method, "Mcp-Name: =?base64?ZWNob-==?="}, 400},
		{call, []string{version, method, "Mcp-Name: =?BASE64?ZWNobw==?="}, 400},
		{list, []string{version, "Mcp-Method: tools/list"}, 200},
		{list, []string{version, method}, 400},
		{list, []string{"Mcp-Method: tools/list"}, 400},
	} {
		b := f.want(f.post(c.body, c.headers...), c.status)
		if c.status == 400 && (field(b, "error", "code") != "-32020" || field(b, "id") != "1") {
			t.Errorf("%q: %s", c.headers, b)
		}
	}
}

func TestEXT14HeadersRepeatArguments(t *testing.T) {
	f := newFixture(t)
	call := func(args string, headers ...string) *http.Response {
		return f.post(message2026("tools/call", `"name":"params","arguments":`+args, metaVersion+","+metaCapabilities),
			append(headers2026("tools/call", "params"), headers...)...)
	}
	f.want(call(`{"text":"x","region":"eu","level":3}`, "Mcp-Param-Region: eu", "mcp-param-level: 3"), 200)
	f.want(call(`{"text":"x","region":"Zürich"}`, "Mcp-Param-Region: =?base64?WsO8cmljaA==?="), 200)
	f.want(call(`{"text":"x"}`), 200)
	f.want(call(`{"text":"x","region":"eu"}`), 400, "-32020")
	f.want(call(`{"text":"x","region":"eu"}`, "Mcp-Param-Region: us"), 400, "-32020")
	f.want(call(`{"text":"x","region":"eu"}`, "Mcp-Param-Region: =?base64?ZXU?="), 400, "-32020")
	f.want(call(`{"text":"x"}`, "Mcp-Param-Region: eu"), 400, "-32020")
}

func TestCAN18DisconnectCancelsAnExchange(t *testing.T) {
	f := newFixture(t)
	ctx, hangUp := context.WithCancel(context.Background())
	failed := make(chan error)
	r := f.request(http.MethodPost, callBody2026("1", "hang", ""), headers2026("tools/call", "hang")...)
	go func() {
		resp, err := f.ts.Client().Do(r.WithContext(ctx))
		if err == nil {
			resp.Body.Close()
		}
		failed <- err
	}()
	<-f.began
	hangUp()
	if cause := <-f.causes; sourceOf(cause) != inflight.SourceDisconnect {
		t.Errorf("cause %v", cause)
	}
	if err := <-failed; err == nil {
		t.Error("there was an answer")
	}
}

// TestCAN18PipelinedClientsAreFoundOutByWriting: while a second request waits on the connection, net/http does not see its end.
func TestCAN18PipelinedClientsAreFoundOutByWriting(t *testing.T) {
	f := newFixture(t, WithKeepAlive(10*time.Millisecond))
	conn, err := net.Dial("tcp", f.ts.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	call := rawRequest("1.1", callBody2026("1", "hang", ""), headers2026("tools/call", "hang")...)
	if _, err := io.WriteString(conn, call+call); err != nil {
		t.Fatal(err)
	}
	<-f.began
	conn.Close()
	if cause := <-f.causes; sourceOf(cause) != inflight.SourceDisconnect {
		t.Errorf("cause %v", cause)
	}
}

func TestExchangesAreBounded(t *testing.T) {
	f := newFixture(t, WithMaxExchanges(1))
	answer := make(chan string)
	go func() { answer <- body(f.call2026("1", "gate", "first")) }()
	<-f.began
	f.want(f.call2026("2", "echo", ""), 503, "limit")
	f.release <- struct{}{}
	if a := <-answer; !strings.Contains(a, "first") {
		t.Errorf("answer %s", a)
	}
}

// TestCAN18ThousandDroppedStreams: the clients of a thousand calls hang up in mid-call. Without sessions every handler ends for it, with
// sessions none does.
func TestCAN18ThousandDroppedStreams(t *testing.T) {
	const calls = 1000
	drop := func(f *fixture, body func(i int) string, headers []string) {
		ctx, hangUp := context.WithCancel(context.Background())
		var clients sync.WaitGroup
		for i := range calls {
			r := f.request(http.MethodPost, body(i), headers...).WithContext(ctx)
			clients.Go(func() {
				if resp, err := f.ts.Client().Do(r); err == nil {
					resp.Body.Close()
				}
			})
		}
		for range calls {
			<-f.began
		}
		hangUp()
		clients.Wait()
	}
	t.Run("2026-07-28", func(t *testing.T) {
		f := newFixture(t)
		drop(f, func(i int) string { return callBody2026(fmt.Sprint(i), "hang", "") }, headers2026("tools/call", "hang"))
		for range calls {
			if cause := <-f.causes; sourceOf(cause) != inflight.SourceDisconnect {
				t.Fatalf("cause %v", cause)
			}
		}
	})
	t.Run("2025-11-25", func(t *testing.T) {
		f := newFixture(t)
		session := f.initialize()
		drop(f, func(i int) string { return callBody(fmt.Sprint(i), "gate", "") }, []string{session})
		for range calls {
			select {
			case f.release <- struct{}{}:
			case cause := <-f.causes:
				t.Fatalf("a call was cancelled: %v", cause)
			}
		}
		f.want(f.post(callBody(`"after"`, "echo", "still here"), session), 200, "still here")
	})
}

func TestExchangeSubscriptions(t *testing.T) {
	f := newFixture(t, WithKeepAlive(20*time.Millisecond))
	resp := f.post(message2026("subscriptions/listen", `"notifications":{"toolsListChanged":true}`, metaVersion+","+metaCapabilities),
		headers2026("subscriptions/listen", "")...)
	s := f.events(resp)
	if e := s.message(); field(e.data, "method") != `"notifications/subscriptions/acknowledged"` {
		t.Fatalf("first %+v", e)
	}
	for e, ok := s.next(); !e.comment; e, ok = s.next() {
		if !ok {
			t.Fatal("the stream ended before a comment came")
		}
	}
	f.srv.ToolsChanged()
	if e := s.message(); field(e.data, "method") != `"notifications/tools/list_changed"` {
		t.Errorf("second %+v", e)
	}
	done := make(chan error)
	go func() { done <- f.h.Shutdown(context.Background()) }()
	if e := s.message(); field(e.data, "result", "resultType") != `"complete"` || field(e.data, "id") != "1" {
		t.Errorf("last %+v", e)
	}
	s.end()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestExchangeKeepAliveTurnsALongAnswerIntoAStream(t *testing.T) {
	f := newFixture(t, WithKeepAlive(10*time.Millisecond))
	s := f.events(f.call2026("1", "gate", "long"))
	if e, _ := s.next(); !e.comment {
		t.Errorf("first %+v", e)
	}
	f.release <- struct{}{}
	if e := s.message(); field(e.data, "result", "structuredContent", "text") != `"long"` {
		t.Errorf("answer %+v", e)
	}
	s.end()
}

// Shutdown cancels what is in flight. What can not be cancelled is answered if it ends in time, in every revision, whether or not its
// stream has begun.
func TestCAN21ShutdownLetsUncancellableCallsEnd(t *testing.T) {
	for _, priming := range []time.Duration{0, time.Hour} {
		f := newFixture(t, WithPriming(priming))
		session := f.initialize()
		answers := make(chan string, 2)
		go func() { answers <- body(f.call2026("1", "keep", "in time")) }()
		<-f.began
		go func() { answers <- body(f.post(callBody("1", "keep", "in time"), session)) }()
		<-f.began
		cancelled := make(chan *http.Response, 2)
		go func() { cancelled <- f.call2026("2", "hang", "") }()
		<-f.began
		go func() { cancelled <- f.post(callBody("2", "hang", ""), session) }()
		<-f.began
		done := make(chan error)
		go func() { done <- f.h.Shutdown(context.Background()) }()
		for range 2 {
			if cause := <-f.causes; sourceOf(cause) != inflight.SourceShutdown {
				t.Errorf("cause %v", cause)
			}
			if b := body(<-cancelled); strings.Contains(b, "result") {
				t.Errorf("a cancelled call was answered %s", b)
			}
		}
		f.want(f.call2026("3", "echo", ""), 503)
		for range 2 {
			f.release <- struct{}{}
		}
		for range 2 {
			if a := <-answers; !strings.Contains(a, "in time") {
				t.Errorf("priming %v: the call that can not be cancelled was answered %s", priming, a)
			}
		}
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

func TestCAN21ShutdownEndsWhatIsLate(t *testing.T) {
	f := newFixture(t)
	answer := make(chan string, 1)
	go func() { answer <- body(f.call2026("1", "keep", "")) }()
	<-f.began
	ctx, enough := context.WithCancel(context.Background())
	done := make(chan error)
	go func() { done <- f.h.Shutdown(ctx) }()
	<-f.h.draining
	enough()
	if cause := <-f.causes; sourceOf(cause) != inflight.SourceShutdown {
		t.Errorf("cause %v", cause)
	}
	if err := <-done; err == nil {
		t.Error("Shutdown does not tell that it had to end a call")
	}
	<-answer
}

// A handler that does not listen holds up nobody for longer than Shutdown's context allows.
func TestCAN21ShutdownKeepsToItsContext(t *testing.T) {
	f := newFixture(t)
	answer := make(chan string, 1)
	go func() { answer <- body(f.call2026("1", "stubborn", "")) }()
	<-f.began
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
	defer cancel()
	if err := f.h.Shutdown(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	f.release <- struct{}{}
	<-answer
}

func TestCAN21ShutdownEndsSessions(t *testing.T) {
	f := newFixture(t, WithPriming(0))
	session := f.initialize()
	s := f.events(f.post(callBody("1", "hang", ""), session))
	l := f.listen(session)
	<-f.began
	if err := f.h.Shutdown(context.Background()); err != nil {
		t.Error(err)
	}
	if cause := <-f.causes; sourceOf(cause) != inflight.SourceShutdown {
		t.Errorf("cause %v", cause)
	}
	s.end()
	l.end()
	f.want(f.post(initializeBody), 503)
}

func TestSessionsEndWithTheServer(t *testing.T) {
	f := newFixture(t)
	session := f.initialize()
	l := f.listen(session)
	if err := f.srv.Shutdown(context.Background()); err != nil {
		t.Error(err)
	}
	l.end()
	f.want(f.post(`{"jsonrpc":"2.0","id":1,"method":"ping"}`, session), 503)
}

func TestSessionsExpire(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := newServer(t, []server.Tool{tool("echo", func(_ context.Context, _ *server.Call, in *input) (*output, error) {
			return &output{text: in.text}, nil
		})})
		h := Handler(srv, WithIdleTimeout(time.Minute))
		session := recorded(h, http.MethodPost, initializeBody, "").Header().Get("Mcp-Session-Id")
		ping := `{"jsonrpc":"2.0","id":1,"method":"ping"}`
		for range 3 {
			time.Sleep(59 * time.Second)
			if resp := recorded(h, http.MethodPost, ping, session); resp.Code != 200 {
				t.Fatalf("in use: %d %s", resp.Code, resp.Body)
			}
		}
		time.Sleep(61 * time.Second)
		if resp := recorded(h, http.MethodPost, ping, session); resp.Code != 404 {
			t.Errorf("after a minute: %d %s", resp.Code, resp.Body)
		}
		_ = h.Shutdown(context.Background())
		_ = srv.Shutdown(context.Background())
	})
}

// recorded serves one request without a socket.
func recorded(h http.Handler, method, body, session string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, "http://localhost/", strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	if session != "" {
		r.Header.Set("Mcp-Session-Id", session)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// Who asks too often is told by HTTP, too.
func TestLET03TooManyRequestsIsAStatusOfHTTP(t *testing.T) {
	f := newFixture(t)
	srv := newServer(t, f.tools(), server.WithRates(server.Rates{Calls: 1}))
	h := Handler(srv)
	defer h.Close()
	call := func() *httptest.ResponseRecorder {
		r := f.request(http.MethodPost, callBody2026("7", "echo", "x"), headers2026("tools/call", "echo")...)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r.WithContext(server.WithPrincipal(t.Context(), "ada")))
		return w
	}
	w := call()
	for w.Code == http.StatusOK { // ten at once, and what a slow machine has time for
		w = call()
	}
	if w.Code != http.StatusTooManyRequests || w.Header().Get("Retry-After") != "1" || field(w.Body.String(), "id") != "7" ||
		field(w.Body.String(), "error", "code") != "-32600" || field(w.Body.String(), "error", "data", "retryAfterMs") == "" {
		t.Errorf("%d, %v: %s", w.Code, w.Header(), w.Body)
	}
}

// refusedAtAnyTime calls a tool that takes a capability and says something first. What it says comes with an answer to clients that lack it, and
// to others at once; the refusal is HTTP 400 however long the call took.
func (f *fixture) refusedAtAnyTime(tool, capability string) {
	f.t.Helper()
	for text, declared := range map[string]string{"ask": `{}`, "done": `{}`, "streamed": `{"` + capability + `":{}}`} {
		call := strings.Replace(callBody2026("1", tool, text), `Capabilities":{}`, `Capabilities":`+declared, 1)
		answered := make(chan *http.Response, 1)
		go func() { answered <- f.post(call, headers2026("tools/call", tool)...) }()
		<-f.began
		time.Sleep(10 * time.Second)
		if begun := len(answered) == 1; begun != (text == "streamed") {
			f.t.Errorf("%s: the response began: %v", text, begun)
		}
		f.release <- struct{}{}
		resp := <-answered
		if text == "ask" {
			f.want(resp, 400, "-32021", `{"requiredCapabilities":{"`+capability+`":{}}}`)
			continue
		}
		s := f.events(resp)
		if e := s.message(); field(e.data, "method") != `"notifications/progress"` {
			f.t.Errorf("%s: %+v", text, e)
		}
		if e := s.message(); field(e.data, "result", "structuredContent", "text") != `"`+text+`"` {
			f.t.Errorf("%s: %+v", text, e)
		}
		s.end()
	}
}

// The error for a missing capability is HTTP 400 however long the call took, and whatever it said. What it says comes with an answer.
func TestLET20AMissingCapabilityIs400AtAnyTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		newBubble(t, WithKeepAlive(time.Second)).refusedAtAnyTime("strict", "elicitation")
	})
}

// A tool whose manifest lists what its requests take of the client is refused with that status however late it asks. A client that has it hears of
// progress at once, and so does every client in a session, which has no such status.
func TestLET20WhatTheManifestListsIs400AtAnyTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newBubble(t, WithKeepAlive(time.Second))
		f.refusedAtAnyTime("sampler", "sampling")
		session := f.initialize()
		answered := make(chan *http.Response, 1)
		go func() {
			answered <- f.post(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"sampler","arguments":{"text":"ask"},"_meta":{"progressToken":"p"}}}`, session)
		}()
		<-f.began
		s := f.events(<-answered)
		if e := s.message(); field(e.data, "method") != `"notifications/progress"` {
			t.Errorf("in a session: %+v", e)
		}
		f.release <- struct{}{}
		if e := s.message(); field(e.data, "result", "isError") != "true" || !strings.Contains(e.data, "sampling") {
			t.Errorf("in a session: %+v", e)
		}
		s.end()
	})
}

// The error for a missing capability is HTTP 400 or it is not sent (https://modelcontextprotocol.io/specification/2026-07-28/basic#_meta): a
// response that has begun, with progress or to show that the server is there, ends with a result that says why the tool failed.
func TestLET20ARefusalThatComesTooLateIsAResult(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newBubble(t, WithKeepAlive(time.Second))
		for _, text := range []string{"at once", "said", "waited"} {
			call := callBody2026("1", "loose", text)
			answered := make(chan *http.Response, 1)
			go func() { answered <- f.post(call, headers2026("tools/call", "loose")...) }()
			if text == "waited" {
				<-f.began
				time.Sleep(10 * time.Second)
				f.release <- struct{}{}
			}
			resp := <-answered
			if text == "at once" {
				f.want(resp, 400, "-32021", `{"requiredCapabilities":{"sampling":{}}}`)
				continue
			}
			if resp.StatusCode != http.StatusOK {
				t.Errorf("%s: status %d", text, resp.StatusCode)
			}
			s := f.events(resp)
			e := s.message()
			if text == "said" {
				if field(e.data, "method") != `"notifications/progress"` {
					t.Errorf("%s: %+v", text, e)
				}
				e = s.message()
			}
			if field(e.data, "error") != "" || field(e.data, "result", "isError") != "true" || !strings.Contains(e.data, "sampling") {
				t.Errorf("%s: %+v", text, e)
			}
			s.end()
		}
	})
}

// TestTSK28ATickThatFindsTheExchangeLockedComesAgain: a tick may come as soon as the timer is set, and whoever sets it holds the lock.
func TestTSK28ATickThatFindsTheExchangeLockedComesAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := new(pools).exchange()
		x.phase = over
		x.mu.Lock()
		x.tick()
		x.mu.Unlock()
		time.Sleep(time.Second) // it comes again, and finds that the exchange is over
		synctest.Wait()
		if x.timer.Stop() {
			t.Error("the tick did not come again")
		}
	})
}
