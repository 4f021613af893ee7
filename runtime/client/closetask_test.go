package client_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/client"
	"github.com/mcpkiln/mcpkiln/runtime/inflight"
)

// working is a server whose tool x is a task that never ends.
type working struct {
	revision string
	slow     time.Duration // how long it takes to create the task
	called   chan struct{}
	cancels  chan message // of the task
}

// answer is what the server answers, "" for nothing.
func (w *working) answer(m message) string {
	state := `"taskId":"t1","status":"working",` + moments + `,"ttl":null,"ttlMs":null,"pollInterval":1000,"pollIntervalMs":1000`
	switch {
	case m.Method == "server/discover":
		return `{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":` + taskOffers + `,"ttlMs":0,"cacheScope":"private"}`
	case m.Method == "initialize":
		return `{"protocolVersion":"2025-11-25","capabilities":` + taskOffers + `,"serverInfo":{"name":"working","version":"1"}}`
	case m.Method == "tools/list":
		return `{"resultType":"complete","ttlMs":0,"cacheScope":"private","tools":[{"name":"x","inputSchema":{"type":"object"},"execution":{"taskSupport":"required"}}]}`
	case m.Method == "tools/call":
		w.called <- struct{}{}
		time.Sleep(w.slow)
		if w.revision == "2026-07-28" {
			return `{"resultType":"task",` + state + `}`
		}
		return `{"task":{` + state + `}}`
	case m.Method == "tasks/cancel":
		w.cancels <- m
		state = strings.Replace(state, "working", "cancelled", 1)
		fallthrough
	case m.Method == "tasks/get":
		return `{"resultType":"complete",` + state + `}`
	}
	return ""
}

// dial connects a session to the server, over a pipe or HTTP.
func (w *working) dial(t *testing.T, overHTTP bool) *client.Session {
	t.Helper()
	if !overHTTP {
		s, p := meetOffering(t, w.revision, taskOffers)
		go p.each(func(m message) {
			if said := w.answer(m); said != "" {
				p.answer(m, said)
			}
		})
		return s
	}
	endpoint := client.HTTP("http://server.example/mcp")
	endpoint.Client = &http.Client{Transport: roundTrip(func(r *http.Request, m message) (*http.Response, error) {
		said := w.answer(m)
		switch {
		case r.Context().Err() != nil:
			return nil, r.Context().Err()
		case r.Method != http.MethodPost:
			return status(http.StatusMethodNotAllowed), nil
		case said == "":
			return status(http.StatusAccepted), nil
		}
		rec := httptest.NewRecorder()
		answer(rec, m, said)
		return rec.Result(), nil
	})}
	return connect(t, endpoint, []client.Option{client.WithRevision(w.revision)})
}

// Close cancels the tasks of calls, because nobody has their Refs, and Abort does not wait for that. A task of Start goes on.
func TestCAN11CloseCancelsTheTasksOfCalls(t *testing.T) {
	for _, revision := range withTasks {
		for _, overHTTP := range []bool{false, true} {
			for _, how := range []string{"called", "called, created late", "started", "aborted"} {
				t.Run(fmt.Sprint(revision, " HTTP ", overHTTP, " ", how), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) { closeWithTask(t, revision, overHTTP, how) })
				})
			}
		}
	}
}

// Close waits a second for the answer to tasks/cancel. That it waits no longer does not take the cancellation back.
func TestCAN11CloseTakesNoCancellationBack(t *testing.T) {
	for _, revision := range withTasks {
		synctest.Test(t, func(t *testing.T) {
			w := &working{revision: revision, called: make(chan struct{}, 1), cancels: make(chan message, 5)}
			s, p := meetOffering(t, revision, taskOffers)
			var unanswered []string
			gone := make(chan struct{})
			go func() {
				defer close(gone)
				p.each(func(m message) {
					if said := w.answer(m); len(w.cancels) > 0 {
						unanswered = append(unanswered, m.Method)
					} else if said != "" {
						p.answer(m, said)
					}
				})
			}()
			listTools(t, s)
			done := start(t.Context(), s, "x")
			synctest.Wait()
			if err := s.Close(); err != nil {
				t.Error(err)
			}
			<-done
			if <-gone; len(unanswered) == 0 || unanswered[0] != "tasks/cancel" || slices.Contains(unanswered, "notifications/cancelled") {
				t.Errorf("%s: the server has heard %q", revision, unanswered)
			}
		})
	}
}

func closeWithTask(t *testing.T, revision string, overHTTP bool, how string) {
	w := &working{revision: revision, called: make(chan struct{}, 1), cancels: make(chan message, 5)}
	if how == "called, created late" {
		w.slow = 500 * time.Millisecond
		if revision == "2026-07-28" { // there the request itself is cancelled, and its answer only waited for as long as it may be on its way
			w.slow = 200 * time.Millisecond
		}
	}
	s := w.dial(t, overHTTP)
	listTools(t, s)
	ended := make(chan error, 1)
	if how == "started" {
		x, err := s.Start(t.Context(), "x", nil)
		if err != nil {
			t.Fatal(err)
		}
		go func() { _, err := x.Result(t.Context()); ended <- err }()
	} else {
		go func() { _, err := s.CallTool(t.Context(), "x", nil); ended <- err }()
	}
	<-w.called
	if w.slow == 0 {
		synctest.Wait()
	}
	began, want := time.Now(), 1
	if how == "aborted" {
		_ = s.Abort()
	} else if err := s.Close(); err != nil {
		t.Error(err)
	}
	if took := time.Since(began); took > time.Second {
		t.Errorf("closed after %v", took)
	}
	if how == "started" || how == "aborted" {
		want = 0
	}
	var cause *client.Cause
	if err := <-ended; !errors.As(err, &cause) || cause.Source != inflight.SourceShutdown {
		t.Errorf("ended with %v", err)
	}
	if len(w.cancels) != want {
		t.Errorf("%d cancellations, want %d", len(w.cancels), want)
	}
}
