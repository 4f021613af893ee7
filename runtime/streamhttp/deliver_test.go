package streamhttp

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/internal/wiretest"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/server"
	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

// newAsking is an endpoint with a tool that asks as a task. Everybody is the same principal.
func newAsking(t *testing.T) *fixture { return newAskingOn(t, httptest.NewUnstartedServer) }

// newAskingBubble is newAsking within a bubble of package synctest.
func newAskingBubble(t *testing.T, opts ...server.Option) *fixture {
	l := newPipes()
	f := newAskingOn(t, l.server, opts...)
	f.ts.Client().Transport.(*http.Transport).DialContext = l.dial
	return f
}

func newAskingOn(t *testing.T, unstarted func(http.Handler) *httptest.Server, opts ...server.Option) *fixture {
	f := &fixture{t: t}
	ask := tool("ask", f.ask)
	ask.Task.Support = server.TaskOptional
	srv, err := server.New(server.Definition{
		Name: "test", Version: "1", Runtime: server.Generation1, Tools: []server.Tool{ask}, Revisions: []*wire.Revision{wiretest.Revision20251125(), wireMarch()},
	}, opts...)
	if err != nil {
		t.Fatal(err)
	}
	f.srv, f.h = srv, Handler(srv, WithKeepAlive(50*time.Millisecond)) // notices that a client is gone
	f.ts = unstarted(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.h.ServeHTTP(w, r.WithContext(server.WithPrincipal(r.Context(), "me")))
	}))
	f.ts.Start()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		_, _ = f.h.Shutdown(ctx), f.srv.Shutdown(ctx)
		f.ts.Client().CloseIdleConnections()
		f.ts.Close()
	})
	return f
}

// initialize opens a session and returns the header that names it.
func (f *fixture) initialize(headers ...string) string {
	f.t.Helper()
	return f.initializeWith(initializeBody, headers...)
}

// initializeWith is initialize with a handshake of the test's own.
func (f *fixture) initializeWith(handshake string, headers ...string) string {
	f.t.Helper()
	resp := f.post(handshake, headers...)
	id := resp.Header.Get("Mcp-Session-Id")
	if resp.StatusCode != http.StatusOK || id == "" {
		f.t.Fatalf("initialize: %d %s", resp.StatusCode, body(resp))
	}
	session := "Mcp-Session-Id: " + id
	if resp := f.post(`{"jsonrpc":"2.0","method":"notifications/initialized"}`, append(headers, session)...); resp.StatusCode != http.StatusAccepted {
		f.t.Fatalf("initialized: %d %s", resp.StatusCode, body(resp))
	}
	return session
}

// create makes an asking task and returns its id when it waits for the answer.
func (f *fixture) create(session string) string {
	f.t.Helper()
	created := body(f.post(`{"jsonrpc":"2.0","id":"create","method":"tools/call","params":{"name":"ask","arguments":{},"task":{}}}`, session))
	id := strings.Trim(field(created, "result", "task", "taskId"), `"`)
	if id == "" {
		f.t.Fatal(created)
	}
	for status := ""; status != `"input_required"`; {
		resp := f.post(fmt.Sprintf(`{"jsonrpc":"2.0","id":"get","method":"tasks/get","params":{"taskId":%q}}`, id), session)
		if status = field(body(resp), "result", "status"); resp.StatusCode == http.StatusTooManyRequests {
			time.Sleep(time.Second) // as its Retry-After says: in a bubble no time passes otherwise
		}
	}
	return id
}

// stream opens a stream that the test can lose: tasks/result of a task, or without one a listener.
func (f *fixture) stream(session, id, task string) (s *events, lose func()) {
	f.t.Helper()
	method, content := http.MethodGet, ""
	if task != "" {
		method, content = http.MethodPost, fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"tasks/result","params":{"taskId":%q}}`, id, task)
	}
	ctx, cancel := context.WithCancel(f.t.Context())
	return f.events(f.do(f.request(method, content, session).WithContext(ctx))), cancel
}

// question is the next question on the stream.
func (s *events) question() string {
	s.t.Helper()
	for {
		if m := s.message().data; field(m, "method") == `"elicitation/create"` {
			return m
		}
	}
}

// accept answers the question.
func (f *fixture) accept(session, question string) {
	f.t.Helper()
	f.post(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"action":"accept","content":{"text":"yes"}}}`, field(question, "id")), session)
}

// wantResult holds the result of an asking task against the answer that it got.
func (f *fixture) wantResult(session, task string) {
	f.t.Helper()
	if got := body(f.post(fmt.Sprintf(`{"jsonrpc":"2.0","id":5,"method":"tasks/result","params":{"taskId":%q}}`, task), session)); !strings.Contains(got, "accept yes") {
		f.t.Errorf("want the result, got %s", got)
	}
}

// answered answers the question and holds the result that comes on the stream against it. Nothing else comes before it.
func (f *fixture) answered(s *events, session, question string) {
	f.t.Helper()
	f.accept(session, question)
	if m := s.message().data; !strings.Contains(m, "accept yes") {
		f.t.Errorf("want the result, got %s", m)
	}
}

// afterNotice returns when a session that nobody listens to would have been asked: there is nothing to see that tells. In a bubble.
func afterNotice() {
	time.Sleep(150 * time.Millisecond)
	synctest.Wait()
}

func TestTSK19AnOpenResultTakesAQuestionThatNobodyHeard(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newAskingBubble(t)
		session := f.initialize()
		id := f.create(session)
		afterNotice()
		s, _ := f.stream(session, "2", id)
		f.answered(s, session, s.question())
	})
}

func TestTSK19AListenerThatComesLateIsAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newAskingBubble(t)
		session := f.initialize()
		id := f.create(session)
		afterNotice()
		listener, _ := f.stream(session, "", "")
		q := listener.question()
		// It is with a client that listens: nobody is asked twice.
		s, _ := f.stream(session, "2", id)
		f.answered(s, session, q)
	})
}

func TestTSK19AnOpenResultTakesOverFromALostStream(t *testing.T) {
	f := newAsking(t)
	session := f.initialize()
	listener, lose := f.stream(session, "", "")
	id := f.create(session)
	listener.question()
	lose()
	s, _ := f.stream(session, "2", id)
	f.answered(s, session, s.question())
}

func TestTSK19AnOpenResultTakesOverInAnotherSession(t *testing.T) {
	f := newAsking(t)
	first := f.initialize()
	listener, lose := f.stream(first, "", "")
	id := f.create(first)
	listener.question()
	lose()
	second := f.initialize()
	s, _ := f.stream(second, "2", id)
	f.answered(s, second, s.question())
}

func TestTSK19AnOpenResultTakesOverFromACancelledOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newAskingBubble(t)
		session := f.initialize()
		id := f.create(session)
		first, _ := f.stream(session, "2", id)
		first.question()
		f.post(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}`, session)
		afterNotice()
		second, _ := f.stream(session, "3", id)
		f.answered(second, session, second.question())
	})
}

func TestTSK19AnOpenResultTakesOverFromOneThatWasLost(t *testing.T) {
	f := newAsking(t)
	session := f.initialize()
	id := f.create(session)
	first, lose := f.stream(session, "2", id)
	first.question()
	lose() // which cancels nothing
	second, _ := f.stream(session, "3", id)
	f.answered(second, session, second.question())
}

// DUR05: the client may have read the question on the stream that was lost, of a result or of the session. Its answer to that counts, and the question
// that it was asked again is withdrawn.
func TestTSK19DUR05AnAnswerToTheQuestionOfALostStreamCounts(t *testing.T) {
	for _, listens := range []bool{false, true} {
		f := newAsking(t)
		session := f.initialize()
		var first *events
		var lose func()
		if listens {
			first, lose = f.stream(session, "", "")
		}
		id := f.create(session)
		if !listens {
			first, lose = f.stream(session, "2", id)
		}
		old := first.question()
		lose()
		second, _ := f.stream(session, "3", id)
		q := second.question()
		f.post(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"action":"accept","content":{"text":"yes"}}}`, field(old, "id")), session)
		withdraws(t, second.message().data, q)
		if e := second.message(); !strings.Contains(e.data, "accept yes") {
			t.Errorf("want the result, got %s", e.data)
		}
		second.end()
	}
}

// TSK19, CAN30: what the clients of others leave unread keeps no question from a client that reads, of a task or of a call.
func TestTSK19CAN30AQuestionDoesNotWaitForOthersToRead(t *testing.T) {
	for name, ask := range map[string]func(f *fixture, session string) *events{
		"on the stream of a result": func(f *fixture, session string) *events {
			s, _ := f.stream(session, "2", f.create(session))
			return s
		},
		"on the stream of the session": func(f *fixture, session string) *events {
			s, _ := f.stream(session, "", "")
			f.create(session)
			return s
		},
		"of a call": func(f *fixture, session string) *events {
			return f.events(f.post(`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"ask","arguments":{}}}`, session))
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newAskingBubble(t)
				session := f.initialize()
				f.h.unread.Add(new(atomic.Int64), f.h.unread.Max)
				f.accept(session, ask(f, session).question())
			})
		})
	}
}

// A listener gets what a lost result stream had, and a client that comes back to that has it, too.
func TestTSK19ASessionTakesOverFromALostStream(t *testing.T) {
	f := newAsking(t)
	session := f.initialize()
	id := f.create(session)
	first, lose := f.stream(session, "2", id)
	first.question()
	lose()
	listener, _ := f.stream(session, "", "")
	q := listener.question()
	second, _ := f.stream(session, "3", id)
	f.answered(second, session, q)
}

// A stream that is lost and resumed still has its question: the client is asked once.
func TestTSK19AResumedStreamKeepsItsQuestion(t *testing.T) {
	f := newAsking(t)
	session := f.initialize()
	id := f.create(session)
	first, lose := f.stream(session, "2", id)
	primed, _ := first.next()
	q := first.question()
	lose()
	again := f.events(f.do(f.request(http.MethodGet, "", session, "Last-Event-ID: "+primed.id)))
	if q2 := again.question(); q2 != q {
		t.Errorf("asked again: %s, then %s", q, q2)
	}
	f.answered(again, session, q)
}

// A listener that is lost takes its question along; another one that is open, or opens later, is asked instead.
func TestTSK19AnotherListenerIsAskedInsteadOfALostOne(t *testing.T) {
	f := newAsking(t)
	session := f.initialize()
	first, _ := f.stream(session, "", "")
	second, lose := f.stream(session, "", "")
	id := f.create(session)
	old := second.question()
	lose()
	q := first.question()
	if field(q, "id") == field(old, "id") {
		t.Errorf("sent again under its id: %s", q)
	}
	f.accept(session, q)
	f.wantResult(session, id)
}

func TestTSK19AListenerThatComesAfterALostOneIsAsked(t *testing.T) {
	f := newAsking(t)
	session := f.initialize()
	first, lose := f.stream(session, "", "")
	f.create(session)
	first.question()
	lose()
	second, _ := f.stream(session, "", "")
	second.question()
}

func TestTSK19AnOpenResultTakesOverFromALostListenerThoughAnotherListens(t *testing.T) {
	f := newAsking(t)
	session := f.initialize()
	f.stream(session, "", "")
	second, lose := f.stream(session, "", "")
	id := f.create(session)
	second.question()
	s, _ := f.stream(session, "2", id)
	lose()
	f.answered(s, session, s.question())
}

// What a lost listener did not take goes to one that reads, at once; who asked knows where it went.
func TestTSK19WhatALostListenerDidNotTakeGoesToAnother(t *testing.T) {
	f := newFixture(t)
	f.initialize()
	s := f.only()
	first, second := s.listen(), s.listen()
	readers := []uint64{first.attach(-1), second.attach(-1)}
	s.addReader(first)
	s.addReader(second)
	question, err := s.Ask(rpc.ID{}, []byte(`{"n":1}`), func(err error) { t.Error(err) })
	if err != nil {
		t.Fatal(err)
	}
	s.release(second, readers[1])
	if read, _ := question.Attended(); !read {
		t.Error("another listener has it, and nobody reads it")
	}
	if b := first.take(readers[0]); len(b.events) != 1 || string(b.events[0]) != `{"n":1}` {
		t.Errorf("the other listener got %q", b.events)
	}
	s.release(first, readers[0])
	if read, _ := question.Attended(); read {
		t.Error("nobody listens, and it is read")
	}
	question.Close()
	if len(s.backlog) != 0 {
		t.Errorf("%d events are left", len(s.backlog))
	}
}

// A result that is open for a client that can not be asked keeps no question from the session that created the task.
func TestTSK19AnOpenResultOfAClientThatCanNotBeAskedKeepsNoQuestion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newAskingBubble(t)
		session, other := f.initialize(), f.initializeWith(strings.Replace(initializeBody, `"elicitation"`, `"roots"`, 1))
		id := f.create(session)
		s, _ := f.stream(other, "2", id)
		listener, _ := f.stream(session, "", "")
		f.accept(session, listener.question())
		if m := s.message().data; !strings.Contains(m, "accept yes") {
			t.Errorf("want the result, got %s", m)
		}
	})
}
