package client_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/client"
	"github.com/mcpkiln/mcpkiln/runtime/inflight"
)

// forgetful is a server of 2025-11-25 that forgets its session, as after a restart, and begins its ids anew. Task t1 always asks.
type forgetful struct {
	mu      sync.Mutex
	session int
	busy    bool           // it takes no answers
	opening chan struct{}  // it takes its time to begin a session, until this is closed; nil: it does not
	calls   int            // of tools, in a session that it knows
	begins  int            // how often it refuses to begin a session before it does
	results []http.Header  // what it says to requests for the result in place of a stream, from the first; the last again and again
	asked   int            // how many of these there were
	hang    chan struct{}  // it takes its time to say so, until this is closed; nil: it does not
	events  *io.PipeWriter // of the newest call or request for the result
	resumed []string       // sessions in which a stream was resumed
	answers []string       // to its questions: the session in which they came, and what they say
}

func dialForgetful(t *testing.T, opts ...client.Option) (*client.Session, *forgetful) {
	t.Helper()
	f := &forgetful{session: 1}
	endpoint := client.HTTP("http://server.example/mcp")
	endpoint.Client = &http.Client{Transport: roundTrip(func(r *http.Request, m message) (*http.Response, error) {
		f.mu.Lock()
		defer f.mu.Unlock()
		w := httptest.NewRecorder()
		own := f.id()
		in := r.Header.Get("Mcp-Session-Id")
		switch {
		case m.Method == "initialize" && f.opening != nil:
			opening := f.opening
			f.mu.Unlock()
			select {
			case <-opening:
			case <-r.Context().Done():
			}
			f.mu.Lock()
			f.begin(w, m)
		case m.Method == "initialize" && f.begins > 0:
			f.begins--
			return status(http.StatusServiceUnavailable), nil
		case r.Method == http.MethodGet && in == own && r.Header.Get("Last-Event-ID") != "":
			f.resumed = append(f.resumed, own)
			return status(http.StatusMethodNotAllowed), nil
		case r.Method != http.MethodPost:
			return status(http.StatusMethodNotAllowed), nil
		case m.Method == "initialize":
			f.begin(w, m)
		case m.Method == "":
			f.answers = append(f.answers, in+" "+string(m.Result))
			if hang := f.hang; hang != nil {
				f.mu.Unlock()
				<-hang
				f.mu.Lock()
				f.hang = nil
			}
			if f.busy {
				return status(http.StatusServiceUnavailable), nil
			}
			return status(http.StatusAccepted), nil
		case in != own:
			return status(http.StatusNotFound), nil
		case m.Method == "tools/call" && f.count() && !strings.Contains(string(m.Params), "slow"):
			answer(w, m, `{"content":[]}`)
		case m.Method == "tasks/result" && f.results != nil:
			resp := status(http.StatusServiceUnavailable)
			resp.Header = f.results[min(f.asked, len(f.results)-1)]
			f.asked++
			return resp, nil
		case m.Method == "tasks/get":
			answer(w, m, `{"taskId":"t1",`+moments+`,"ttl":null,"pollInterval":1000,"status":"input_required"}`)
		case m.Method == "tasks/result" || m.Method == "tools/call":
			var resp *http.Response
			resp, f.events = eventStream(r)
			return resp, nil
		default:
			return status(http.StatusAccepted), nil
		}
		return w.Result(), nil
	})}
	return connect(t, endpoint, append(opts, client.WithRevision("2025-11-25"))), f
}

func (f *forgetful) id() string { return fmt.Sprint("s", f.session) }

// begin answers the request that begins a session.
func (f *forgetful) begin(w *httptest.ResponseRecorder, m message) {
	w.Header().Set("Mcp-Session-Id", f.id())
	answer(w, m, `{"protocolVersion":"2025-11-25","capabilities":`+taskOffers+`,"serverInfo":{"name":"forgetful","version":"1"}}`)
}

// count counts a call.
func (f *forgetful) count() bool {
	f.calls++
	return true
}

// asks has the server ask its first question of a session.
func (f *forgetful) asks() {
	f.mu.Lock()
	defer f.mu.Unlock()
	_, _ = fmt.Fprintf(f.events, "data: %s\n\n", strings.Replace(ofTask(goodForm), `"id":"q"`, `"id":1`, 1))
}

// forget ends the session, and its streams.
func (f *forgetful) forget() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.session++
	_ = f.events.Close()
}

// A question of an HTTP session that the server has ended is gone, and nothing that answers it goes to the next session: there its id is another
// question's.
func TestCAN31WhatAnEndedSessionAskedIsNotAnsweredInTheNext(t *testing.T) {
	for _, state := range []string{"open", "answered, and not delivered", "its answer is under way"} { // when the session ends
		open := state == "open"
		synctest.Test(t, func(t *testing.T) {
			gone, asked := make(chan error, 10), 0
			s, f := dialForgetful(t, client.WithHandlers(client.Handlers{
				Elicit: func(ctx context.Context, q *client.Question) (*client.Answer, error) {
					if asked++; asked == 1 && open {
						<-ctx.Done()
					}
					return accept(ctx, q) // though it may be gone
				},
				QuestionGone: func(_ *client.Question, cause error) { gone <- cause },
			}))
			f.busy = !open
			hang := make(chan struct{})
			if state == "its answer is under way" {
				f.hang = hang
			}
			resume(t, s)
			sleep(t.Context(), 2*time.Second)
			f.asks()
			synctest.Wait()
			f.forget()
			sleep(t.Context(), 5*time.Second)
			close(hang)
			synctest.Wait()
			f.mu.Lock()
			before := len(f.answers)
			f.busy = false
			f.mu.Unlock()
			f.asks()
			sleep(t.Context(), 30*time.Second)
			f.mu.Lock()
			defer f.mu.Unlock()
			if asked != 2 || open != (len(gone) == 1) {
				t.Errorf("%s: asked %d times, gone: %d", state, asked, len(gone))
			}
			if got := f.answers[before:]; len(got) != 1 || !strings.HasPrefix(got[0], "s2 ") || !strings.Contains(got[0], "accept") {
				t.Errorf("%s: the next session gets %q", state, got)
			}
			if slices.ContainsFunc(f.answers[:before], func(a string) bool { return !strings.HasPrefix(a, "s1 ") }) {
				t.Errorf("%s: of the ended session, %q", state, f.answers)
			}
		})
	}
}

// A session that could not be replaced at once is replaced by a later request.
func TestLET13ASessionIsRenewedAsSoonAsTheServerDoes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, f := dialForgetful(t)
		if _, err := s.CallTool(t.Context(), "x", nil); err != nil {
			t.Fatal(err)
		}
		f.mu.Lock()
		f.session, f.begins = 2, 1
		f.mu.Unlock()
		if _, err := s.CallTool(t.Context(), "x", nil); err == nil {
			t.Error("the server did not begin a session")
		}
		if _, err := s.CallTool(t.Context(), "x", nil); err != nil {
			t.Errorf("it does now: %v", err)
		}
	})
}

// The stream of an ended session is not resumed in the next, where its events are others.
func TestLET13AStreamIsNotResumedInAnotherSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, f := dialForgetful(t)
		slow := start(t.Context(), s, "slow")
		synctest.Wait()
		f.mu.Lock()
		_, _ = fmt.Fprint(f.events, "id: 5\nretry: 3000\ndata: \n\n")
		f.mu.Unlock()
		f.forget()
		if _, err := s.CallTool(t.Context(), "x", nil); err != nil { // renews it
			t.Fatal(err)
		}
		if r := <-slow; r.err == nil || !strings.Contains(r.err.Error(), "may have run") {
			t.Errorf("%v", r.err)
		}
		f.mu.Lock()
		defer f.mu.Unlock()
		if len(f.resumed) != 0 {
			t.Errorf("resumed in %q", f.resumed)
		}
	})
}

// A request for a task's result is sent again when the server wants that, later each time, and not for ever (TSK27).
func TestTSK27ARequestForAResultThatFailsIsSentLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, f := dialForgetful(t)
		f.results = []http.Header{{"Retry-After": {"60"}}, {}}
		began := time.Now()
		x := resume(t, s)
		sleep(t.Context(), 50*time.Second)
		f.mu.Lock()
		if f.asked != 1 {
			t.Errorf("sent %d times within 50 s, Retry-After: 60", f.asked)
		}
		f.mu.Unlock()
		_, err := x.Result(t.Context())
		f.mu.Lock()
		defer f.mu.Unlock()
		if err == nil || f.asked > 20 || time.Since(began) > time.Hour {
			t.Errorf("%v after %d requests, %v", err, f.asked, time.Since(began))
		}
	})
}

// A call that waits for the next session can be given up, and then is not sent; its time passes (CAN15, CAN16, CAN17).
func TestCAN17ACallThatWaitsForASessionIsGivenUp(t *testing.T) {
	for _, cancelled := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			s, f := dialForgetful(t)
			f.mu.Lock()
			f.session, f.opening = 2, make(chan struct{})
			f.mu.Unlock()
			began := time.Now()
			done := make(chan error, 1)
			go func() {
				_, err := s.CallTool(t.Context(), "x", nil, client.Timeout(2*time.Second, 3*time.Second))
				done <- err
			}()
			synctest.Wait()
			if cancelled {
				all := s.Requests()
				if len(all) == 0 {
					t.Fatal("the call is not listed")
				}
				for _, r := range all {
					if r.Method == "tools/call" {
						if err := s.CancelRequest(r.ID, "changed my mind"); err != nil {
							t.Error(err)
						}
					}
				}
			}
			err, took := <-done, time.Since(began)
			want := 2 * time.Second
			if cancelled {
				want = 0
			}
			var cause *client.Cause
			if !errors.As(err, &cause) || took != want {
				t.Errorf("cancelled %v: %v after %v", cancelled, err, took)
			}
			f.mu.Lock()
			close(f.opening)
			f.mu.Unlock()
			sleep(t.Context(), time.Minute)
			f.mu.Lock()
			defer f.mu.Unlock()
			if f.calls != 0 {
				t.Errorf("cancelled %v: sent %d times", cancelled, f.calls)
			}
		})
	}
}

// What an HTTP session has asked as a task is gone with it: the next does not list it, and does not get its result (TSK21).
func TestTSK26WhatAnEndedSessionAskedAsATaskIsNotInTheNext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gone := make(chan error, 10)
		s, f := dialForgetful(t, client.WithHandlers(client.Handlers{
			Elicit: func(ctx context.Context, _ *client.Question) (*client.Answer, error) {
				<-ctx.Done()
				return nil, context.Cause(ctx)
			},
			QuestionGone: func(_ *client.Question, cause error) { gone <- cause },
		}))
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		say := func(message string) string {
			f.mu.Lock()
			_, _ = fmt.Fprintf(f.events, "data: %s\n\n", message)
			f.mu.Unlock()
			synctest.Wait()
			f.mu.Lock()
			defer f.mu.Unlock()
			return f.answers[len(f.answers)-1]
		}
		first := startSlow(ctx, s)
		created := say(`{"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{"task":{},"message":"sure?","requestedSchema":{"type":"object","properties":{}}}}`)
		_, rest, _ := strings.Cut(created, `"taskId":"`)
		id, _, ok := strings.Cut(rest, `"`)
		if !ok || !strings.Contains(say(`{"jsonrpc":"2.0","id":2,"method":"tasks/list"}`), id) {
			t.Fatalf("answered %q", f.answers)
		}
		f.forget()
		<-first
		second := startSlow(ctx, s)
		var cause *client.Cause
		if len(gone) != 1 || !errors.As(<-gone, &cause) || cause.Source != inflight.SourceDisconnect {
			t.Errorf("%d are gone: %v", len(gone), cause)
		}
		if got := say(`{"jsonrpc":"2.0","id":1,"method":"tasks/list"}`); got != `s2 {"tasks":[]}` {
			t.Errorf("listed %s", got)
		}
		if got := say(`{"jsonrpc":"2.0","id":2,"method":"tasks/get","params":{"taskId":"` + id + `"}}`); got != "s2 " {
			t.Errorf("told %s", got)
		}
		cancel()
		<-second
	})
}

// startSlow calls a tool whose answer does not come.
func startSlow(ctx context.Context, s *client.Session) <-chan result {
	done := make(chan result, 1)
	go func() {
		r, err := s.CallTool(ctx, "x", map[string]string{"how": "slow"}, client.Inline())
		done <- result{r, err}
	}()
	synctest.Wait()
	return done
}
