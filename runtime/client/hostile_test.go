package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/client"
	"github.com/mcpkiln/mcpkiln/runtime/inflight"
)

// taskIs is what a peer says of the task t1.
func taskIs(kind, status, more string) string {
	return fmt.Sprintf(`{"resultType":%q,"taskId":"t1","status":%q,%s,"ttlMs":null%s}`, kind, status, moments, more)
}

// each has f take every frame of the client, until that has gone.
func (p *peer) each(f func(m message)) {
	for {
		frame, err := p.conn.ReadFrame(nil)
		if err != nil {
			return
		}
		var m message
		_ = json.Unmarshal(frame, &m)
		f(m)
	}
}

// An interval that no clock can hold is neither a tight loop nor a wait for ever.
func TestEXT22AnIntervalOfNonsenseIsBounded(t *testing.T) {
	for _, interval := range []string{"0", "-1", "-1e300", "1e300", "9223372036854"} {
		synctest.Test(t, func(t *testing.T) {
			s, p := meetOffering(t, "2026-07-28", taskOffers)
			done := start(t.Context(), s, "x")
			p.answer(p.expect("tools/call"), taskIs("task", "working", `,"pollIntervalMs":`+interval))
			for range 3 {
				began := time.Now()
				m := p.expect("tasks/get")
				if waited := time.Since(began); waited < time.Second || waited > 2*time.Hour {
					t.Errorf("%s: asked after %v", interval, waited)
				}
				p.answer(m, taskIs("complete", "working", `,"pollIntervalMs":`+interval))
			}
			p.answer(p.expect("tasks/get"), taskIs("complete", "completed", `,"result":{"content":[]}`))
			if r := <-done; r.err != nil {
				t.Error(r.err)
			}
		})
	}
}

// The state of another task, and one that there is not, end the call with an error that says so.
func TestEXT22AStateThatCanNotBeTheTasks(t *testing.T) {
	for _, c := range []struct{ answer, want string }{
		{strings.Replace(taskIs("complete", "completed", `,"result":{"content":[]}`), "t1", "t2", 1), `"t2"`},
		{taskIs("complete", "napping", ""), `"napping"`},
	} {
		synctest.Test(t, func(t *testing.T) {
			s, p := meetOffering(t, "2026-07-28", taskOffers)
			done := start(t.Context(), s, "x")
			p.answer(p.expect("tools/call"), taskIs("task", "working", ""))
			go p.answer(p.expect("tasks/get"), c.answer)
			r := <-done
			var bad *client.ProtocolError
			if !errors.As(r.err, &bad) {
				t.Fatalf("%v", r.err)
			}
			has(t, r.err.Error(), c.want)
		})
	}
}

// A task that is over and never gives its result does not hold the call for ever.
func TestTSK27ATaskThatIsOverAndNeverGivesItsResult(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, p := meetOffering(t, "2025-11-25", taskOffers)
		go p.each(func(m message) {
			state := `"taskId":"t1",` + moments + `,"ttl":null,"status":`
			switch m.Method {
			case "tools/list":
				p.answer(m, `{"tools":[{"name":"x","inputSchema":{"type":"object"},"execution":{"taskSupport":"required"}}]}`)
			case "tools/call":
				p.answer(m, `{"task":{`+state+`"working"}}`)
			case "tasks/get":
				p.answer(m, `{`+state+`"completed"}`)
			}
		})
		for _, err := range s.ListTools(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		_, err := s.CallTool(ctx, "x", nil)
		var bad *client.ProtocolError
		if !errors.As(err, &bad) {
			t.Fatalf("%v", err)
		}
		has(t, err.Error(), "tasks/result", "1m0s")
	})
}

// manyQuestions are more than anybody answers.
func manyQuestions() string {
	var all []string
	for i := range 5000 {
		all = append(all, fmt.Sprintf(`"%d":{"method":"elicitation/create","params":{"message":"?"}}`, i))
	}
	return `"inputRequests":{` + strings.Join(all, ",") + `}`
}

// A result and a task ask no more at once than requests may.
func TestEXT17QuestionsWithoutNumber(t *testing.T) {
	for _, asTask := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			var asked atomic.Int32
			s, p := meetOffering(t, "2026-07-28", taskOffers, elicits(func(ctx context.Context, q *client.Question) (*client.Answer, error) {
				asked.Add(1)
				<-ctx.Done()
				return nil, ctx.Err()
			}), client.WithQuestionTimeout(time.Minute))
			done := start(t.Context(), s, "x")
			m := p.expect("tools/call")
			if asTask {
				p.answer(m, taskIs("task", "working", ""))
				p.answer(p.expect("tasks/get"), taskIs("complete", "input_required", ","+manyQuestions()))
				p.answer(p.expect("tasks/cancel"), `{"resultType":"complete"}`)
			} else {
				p.answer(m, `{"resultType":"input_required",`+manyQuestions()+`}`)
			}
			r := <-done
			var bad *client.ProtocolError
			if !errors.As(r.err, &bad) || asked.Load() > 0 {
				t.Fatalf("%v, %d were asked", r.err, asked.Load())
			}
			has(t, r.err.Error(), "5000")
		})
	}
}

// A server that only wants to be called again can not pass the hard maximum.
func TestCAN16RoundsThatAskNothingPassNoMaximum(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, p := meet(t, "2026-07-28")
		began := time.Now()
		done := start(t.Context(), s, "x", client.Timeout(time.Second, 3*time.Second))
		go p.each(func(m message) {
			if m.Method == "tools/call" {
				p.answer(m, `{"resultType":"input_required","requestState":"s"}`)
			}
		})
		r := <-done
		var cause *client.Cause
		if !errors.As(r.err, &cause) || cause.Source != inflight.SourceTimeout || time.Since(began) > 4*time.Second {
			t.Errorf("%v after %v", r.err, time.Since(began))
		}
	})
}

// Cursors that come again are a list without an end.
func TestVAL07ListsThatNeverEnd(t *testing.T) {
	s, p := meet(t, "2025-11-25")
	ended := make(chan error, 1)
	go func() {
		for _, err := range s.ListPrompts(t.Context()) {
			if err != nil {
				ended <- err
			}
		}
	}()
	for i := range 3 {
		p.answer(p.expect("prompts/list"), fmt.Sprintf(`{"prompts":[],"nextCursor":"%d"}`, i%2))
	}
	err := <-ended
	var bad *client.ProtocolError
	if !errors.As(err, &bad) {
		t.Fatalf("%v", err)
	}
	has(t, err.Error(), "cursor")
}

// What a slow handler has not heard yet is not kept without bound: what says the same is told once.
func TestVAL07AStormOfNotificationsIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var lists, resources, pages atomic.Int32
		hold := make(chan struct{})
		_, p := meet(t, "2025-11-25", client.WithHandlers(client.Handlers{
			ListChanged:     func(client.List) { lists.Add(1); <-hold },
			ResourceUpdated: func(string) { resources.Add(1) },
			PageDone:        func(string) { pages.Add(1) },
		}))
		for i := range 3000 {
			p.send(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
			p.send(`{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"file:///a"}}`)
			p.send(`{"jsonrpc":"2.0","method":"notifications/elicitation/complete","params":{"elicitationId":"%d"}}`, i)
		}
		synctest.Wait()
		close(hold)
		synctest.Wait()
		if lists.Load() != 2 || resources.Load() != 1 || pages.Load() > 1024 {
			t.Errorf("%d lists, %d resources, %d pages", lists.Load(), resources.Load(), pages.Load())
		}
	})
}

// A stream that goes on behind its answer asks nobody, and is closed.
func TestCAN31NothingIsAskedOnAStreamWhoseCallIsOver(t *testing.T) {
	closed := make(chan struct{})
	url := script(t, func(w http.ResponseWriter, r *http.Request, m message) {
		if m.Method != "tools/call" && session(w, r, m, "s") {
			return
		}
		if m.Method == "" { // what the client answers
			w.WriteHeader(http.StatusAccepted)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprintf(w, "data: {\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"content\":[]}}\n\n", m.ID)
		_, _ = io.WriteString(w, `data: {"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":{"message":"?","requestedSchema":{"type":"object","properties":{}}}}`+"\n\n")
		w.(http.Flusher).Flush()
		<-r.Context().Done()
		close(closed)
	})
	s := dialHTTP(t, url, client.WithRevision("2025-11-25"), elicits(func(ctx context.Context, q *client.Question) (*client.Answer, error) {
		t.Error("the user was asked")
		return accept(ctx, q)
	}))
	if _, err := s.CallTool(t.Context(), "x", nil); err != nil {
		t.Fatal(err)
	}
	<-closed
}

// A server that wants its streams asked for at once does not make the client spin.
func TestVAL07AStreamIsNotAskedForWithoutAPause(t *testing.T) {
	var at []time.Time
	var call message
	url := script(t, func(w http.ResponseWriter, r *http.Request, m message) {
		if session(w, r, m, "s") {
			return
		}
		at = append(at, time.Now())
		w.Header().Set("Content-Type", "text/event-stream")
		if r.Method == http.MethodPost {
			call = m
		}
		fmt.Fprintf(w, "id: a%d\nretry: 0\ndata:\n\n", len(at))
		if len(at) == 5 {
			fmt.Fprintf(w, "data: {\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"content\":[]}}\n\n", call.ID)
		}
	})
	s := dialHTTP(t, url, client.WithRevision("2025-11-25"))
	if _, err := s.CallTool(t.Context(), "x", nil); err != nil {
		t.Fatal(err)
	}
	for i := range at[1:] {
		if waited := at[i+1].Sub(at[i]); waited < 50*time.Millisecond {
			t.Errorf("asked again after %v", waited)
		}
	}
}

// roundTrip is a server without a network.
type roundTrip func(r *http.Request, m message) (*http.Response, error)

// RoundTrip implements http.RoundTripper.
func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) {
	var m message
	if r.Body != nil {
		body, _ := io.ReadAll(r.Body)
		_ = json.Unmarshal(body, &m)
	}
	return f(r, m)
}

// Who waits for the session that another call makes anew returns at once when its context ends.
func TestCAN15ACallThatWaitsForANewSessionReturnsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun, refuse := false, make(chan struct{})
		endpoint := client.HTTP("http://server.example/mcp")
		endpoint.Client = &http.Client{Transport: roundTrip(func(r *http.Request, m message) (*http.Response, error) {
			w := httptest.NewRecorder()
			switch {
			case m.Method == "initialize" && begun:
				<-r.Context().Done()
				return nil, r.Context().Err()
			case m.Method == "tools/call":
				<-refuse
				w.WriteHeader(http.StatusNotFound)
			default:
				begun = begun || m.Method == "initialize"
				session(w, r, m, "s")
			}
			return w.Result(), nil
		})}
		s, err := client.Connect(t.Context(), endpoint, client.WithRevision("2025-11-25"))
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		one := start(t.Context(), s, "x")
		synctest.Wait()
		ctx, cancel := context.WithCancel(t.Context())
		two := start(ctx, s, "x")
		synctest.Wait()
		refuse <- struct{}{} // the first one asks for a new session, which never comes
		synctest.Wait()
		refuse <- struct{}{}
		synctest.Wait()
		began := time.Now()
		cancel()
		<-two
		if waited := time.Since(began); waited > 0 {
			t.Errorf("it returned after %v", waited)
		}
		<-one
	})
}
