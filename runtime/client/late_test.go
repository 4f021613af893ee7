package client_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/client"
	"github.com/mcpkiln/mcpkiln/runtime/inflight"
)

const created = `{"task":{"taskId":"%s","status":"working","createdAt":"2026-01-01T00:00:00Z","lastUpdatedAt":"2026-01-01T00:00:00Z","ttl":null}}`

const optionalTask = `{"tools":[{"name":"x","inputSchema":{"type":"object"},"execution":{"taskSupport":"optional"}}]}`

// An error that names no request may mean one that was given up: it meets no other call.
func TestCAN15AnErrorWithoutAnIDNeverMeetsAnotherCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, p := meet(t, "2025-11-25")
		ctx, cancel := context.WithCancel(t.Context())
		given := start(ctx, s, "x")
		first := p.expect("tools/call")
		cancel()
		<-given
		p.expect("notifications/cancelled")
		other := start(t.Context(), s, "x")
		second := p.expect("tools/call")
		p.send(`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"what?"}}`)
		synctest.Wait()
		p.answer(second, `{"content":[]}`)
		if r := <-other; r.err != nil {
			t.Errorf("the error of another request: %v", r.err)
		}
		p.answer(first, `{"content":[]}`) // late
		synctest.Wait()
		last := start(t.Context(), s, "x")
		p.expect("tools/call")
		p.send(`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"what?"}}`)
		var refused *client.Error
		if r := <-last; !errors.As(r.err, &refused) { // nothing else can be meant
			t.Errorf("%v", r.err)
		}
	})
}

func listTools(t *testing.T, s *client.Session) (all []string) {
	t.Helper()
	for tool, err := range s.ListTools(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, string(tool))
	}
	return all
}

// giveUpTasks asks for n tasks and gives them all up before they have a name.
func giveUpTasks(t *testing.T, s *client.Session, n int, seen func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var all sync.WaitGroup
	for range n {
		all.Go(func() {
			var cause *client.Cause
			if _, err := s.Start(ctx, "x", nil); !errors.As(err, &cause) || cause.Source != inflight.SourceParent {
				t.Errorf("%v", err)
			}
		})
	}
	seen()
	cancel()
	all.Wait()
}

// What is remembered of tasks without a name is bounded: the oldest gives way, and the log says so.
func TestCAN11TooManyTasksWithoutANameAreLogged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log record
		s, p := meetOffering(t, "2025-11-25", taskOffers, log.option())
		listed := make(chan struct{})
		go func() { defer close(listed); p.answer(p.expect("tools/list"), optionalTask) }()
		listTools(t, s)
		<-listed
		var calls []message
		giveUpTasks(t, s, 1030, func() {
			for range 1030 {
				calls = append(calls, p.expect("tools/call"))
			}
		})
		synctest.Wait()
		if n := strings.Count(log.String(), "a task may go on"); n != 6 {
			t.Errorf("the log tells of %d tasks, want 6", n)
		}
		var cancelled atomic.Int64
		go p.each(func(m message) {
			cancelled.Add(1)
			p.answer(m, `{"taskId":"x","status":"cancelled","createdAt":"2026-01-01T00:00:00Z","lastUpdatedAt":"2026-01-01T00:00:00Z","ttl":null}`)
		})
		for i, m := range calls {
			p.answer(m, fmt.Sprintf(created, fmt.Sprint("t", i)))
		}
		synctest.Wait()
		if n := cancelled.Load(); n != 1024 {
			t.Errorf("%d tasks were cancelled, want 1024", n)
		}
	})
}

// Over HTTP a task without a name holds a stream: no more than that many.
func TestCAN11TooManyTasksWithoutANameHoldNoStreams(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var open running
		endpoint := client.HTTP("http://server.example/mcp")
		endpoint.Client = &http.Client{Transport: roundTrip(func(r *http.Request, m message) (*http.Response, error) {
			w := httptest.NewRecorder()
			switch m.Method {
			case "initialize":
				answer(w, m, `{"protocolVersion":"2025-11-25","capabilities":`+taskOffers+`,"serverInfo":{"name":"s","version":"1"}}`)
			case "tools/list":
				answer(w, m, optionalTask)
			case "tools/call":
				defer open.begin()()
				<-r.Context().Done()
				return nil, r.Context().Err()
			default:
				w.WriteHeader(http.StatusAccepted)
			}
			return w.Result(), nil
		})}
		s, err := client.Connect(t.Context(), endpoint, client.WithRevision("2025-11-25"))
		if err != nil {
			t.Fatal(err)
		}
		listTools(t, s)
		giveUpTasks(t, s, 1030, synctest.Wait)
		time.Sleep(time.Second) // of the bubble's clock
		if n := open.Load(); n != 1024 {
			t.Errorf("%d streams are open, want 1024", n)
		}
		_ = s.Close()
	})
}

// A server may have made a task before it heard that the call was given up: that task is cancelled, and its caller has gone long since.
func TestCAN11ATaskThatALateAnswerNamesIsCancelled(t *testing.T) {
	for name, e := range ends {
		synctest.Test(t, func(t *testing.T) {
			s, p := meetOffering(t, "2026-07-28", taskOffers)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			done := start(ctx, s, "x", e.opts...)
			m := p.expect("tools/call")
			e.do(s, cancel)
			var cause *client.Cause
			if r := <-done; !errors.As(r.err, &cause) || cause.Source != e.source {
				t.Errorf("%s: %v", name, r.err)
			}
			p.expect("notifications/cancelled")
			p.answer(m, taskIs("task", "working", ""))
			cancelled := p.expect("tasks/cancel")
			has(t, cancelled.raw, `"taskId":"t1"`)
			p.answer(cancelled, `{"resultType":"complete"}`)
		})
	}
}

// A session that ends behind a call that was given up has its task cancelled first, in a second at most.
func TestCAN11CloseWaitsForTasksToBeCancelled(t *testing.T) {
	for _, silent := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			s, p := meetOffering(t, "2025-11-25", taskOffers)
			go func() { p.answer(p.expect("tools/list"), optionalTask) }()
			listTools(t, s)
			var call message
			giveUpTasks(t, s, 1, func() { call = p.expect("tools/call") })
			began, closed := time.Now(), make(chan error, 1)
			go func() { closed <- s.Close() }()
			if !silent {
				p.answer(call, fmt.Sprintf(created, "t1"))
				p.answer(p.expect("tasks/cancel"), `{"taskId":"t1","status":"cancelled",`+moments+`,"ttl":null}`)
			}
			if err := <-closed; err != nil {
				t.Error(err)
			}
			if took := time.Since(began); silent != (took == time.Second) || took > time.Second {
				t.Errorf("silent %v: closed after %v", silent, took)
			}
		})
	}
}

// slowLog is a log that takes its time to write that a request has ended. Everything else is written at once.
type slowLog struct {
	slog.Handler
	goOn <-chan struct{}
}

// Enabled implements slog.Handler.
func (l slowLog) Enabled(context.Context, slog.Level) bool { return true }

// Handle implements slog.Handler.
func (l slowLog) Handle(_ context.Context, r slog.Record) error {
	if r.Message == "request ended" {
		<-l.goOn
	}
	return nil
}

// Who gives a call up and who closes the session may be two, and the first not be done when the second begins: the call's task is cancelled
// all the same, also when the answer that names it came in between.
func TestCAN11CloseWaitsForTasksOfCallsThatAreJustBeingGivenUp(t *testing.T) {
	for _, early := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			goOn := make(chan struct{})
			s, p := meetOffering(t, "2025-11-25", taskOffers, client.WithLogger(slog.New(slowLog{slog.DiscardHandler, goOn})))
			go func() { p.answer(p.expect("tools/list"), optionalTask) }()
			listTools(t, s)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			given := make(chan error, 1)
			go func() {
				_, err := s.Start(ctx, "x", nil)
				given <- err
			}()
			call := p.expect("tools/call")
			name := func() { p.answer(call, fmt.Sprintf(created, "t1")) }
			if early {
				cancel() // the caller itself gives it up, and has not returned when the answer comes
				synctest.Wait()
				name()
				synctest.Wait()
			} else {
				go func() { _ = s.CancelRequest(s.Requests()[0].ID, "") }()
				if err := <-given; err == nil {
					t.Error("a call that was given up has a result")
				}
			}
			closed := make(chan error, 1)
			go func() { closed <- s.Close() }()
			synctest.Wait()
			close(goOn)
			if !early {
				name()
			}
			p.answer(p.expect("tasks/cancel"), `{"taskId":"t1","status":"cancelled",`+moments+`,"ttl":null}`)
			if err := <-closed; err != nil {
				t.Error(err)
			}
		})
	}
}
