package client_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/client"
)

// resumed is a session with a server without a network that begins the response to a call with an event that has an id and the retry, and then does with each
// request for the rest of it as again does. told has the cancellations that it gets.
func resumed(t *testing.T, retry string, again func(call message, n int) (*http.Response, error)) (s *client.Session, told chan message) {
	told = make(chan message, 10)
	var call message
	n := 0
	endpoint := client.HTTP("http://server.example/mcp")
	endpoint.Client = &http.Client{Transport: roundTrip(func(r *http.Request, m message) (*http.Response, error) {
		w := httptest.NewRecorder()
		switch {
		case m.Method == "notifications/cancelled":
			told <- m
			w.WriteHeader(http.StatusAccepted)
		case session(w, r, m, "s"):
		case r.Method == http.MethodPost:
			call = m
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprint(w, "id: 1\n"+retry+"data:\n\n")
		default:
			n++
			return again(call, n)
		}
		return w.Result(), nil
	})}
	s, err := client.Connect(t.Context(), endpoint, client.WithRevision("2025-11-25"))
	if err != nil {
		t.Fatal(err)
	}
	return s, told
}

// events is a response with a stream of events.
func events(text string) (*http.Response, error) {
	w := httptest.NewRecorder()
	w.Header().Set("Content-Type", "text/event-stream")
	_, _ = w.WriteString(text)
	return w.Result(), nil
}

// A server may have its client poll: its streams end at once without an event, and it says how long to wait. The client does so, for as long as its call has
// time, and then tells the server that it has given the call up.
func TestCAN16AServerThatHasItsClientPoll(t *testing.T) {
	const ends = time.Minute // that is when the server has the answer
	for _, c := range []struct {
		retry string
		every time.Duration
	}{{"retry: 0\n", 50 * time.Millisecond}, {"retry: 100\n", 100 * time.Millisecond}, {"retry: 5000\n", 5 * time.Second}, {"", time.Second}} {
		for _, late := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				var polls atomic.Int64
				s, told := resumed(t, c.retry, func(call message, n int) (*http.Response, error) {
					polls.Store(int64(n))
					if !late && time.Since(began) >= ends {
						return events(fmt.Sprintf("data: {\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":%s}\n\n", call.ID, complete("2025-11-25", "fine")))
					}
					return events(c.retry + "\n")
				})
				defer s.Close()
				r, err := s.CallTool(t.Context(), "x", nil, client.Timeout(2*ends, 2*ends))
				want := ends
				if late {
					want *= 2
					<-told
				}
				var cause *client.Cause
				if took := time.Since(began); took != want || late != errors.As(err, &cause) || !late && r.Text() != "fine" {
					t.Errorf("%q, late: %v: %v after %v", c.retry, late, err, took)
				}
				if n := int64(want / c.every); polls.Load() < n-1 || polls.Load() > n {
					t.Errorf("%q: asked %d times, not %d", c.retry, polls.Load(), n)
				}
			})
		}
	}
}

// A client that gives up a call because it has lost the stream tells the server, whose handler would run on (CAN17), and says why.
func TestCAN17TheServerIsToldOfACallWhoseStreamIsLost(t *testing.T) {
	for name, again := range map[string]func(message, int) (*http.Response, error){
		"HTTP status 503": func(message, int) (*http.Response, error) { return status(http.StatusServiceUnavailable), nil },
		"HTTP status 410": func(message, int) (*http.Response, error) { return status(http.StatusGone), nil },
		"refused":         func(message, int) (*http.Response, error) { return nil, syscall.ECONNREFUSED },
		"EOF":             func(message, int) (*http.Response, error) { return events("id: \x01\ndata:\n\n") },
	} {
		synctest.Test(t, func(t *testing.T) {
			s, told := resumed(t, "", again)
			_, err := s.CallTool(t.Context(), "x", nil, client.Timeout(time.Hour, time.Hour))
			if err == nil || !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), "may have run") {
				t.Errorf("%s: %v", name, err)
			}
			has(t, string((<-told).Params), `"requestId":`, "stream has ended")
			_ = s.Close()
			if len(told) > 0 {
				t.Errorf("%s: told again", name)
			}
		})
	}
}

// Only a tool may have run when a stream ends without an answer: the error of another request does not say so.
func TestWhatHasNoEffectsHasNotRun(t *testing.T) {
	var calls atomic.Int64
	url := script(t, func(w http.ResponseWriter, r *http.Request, m message) {
		if m.Method == "tools/call" {
			calls.Add(1)
		}
		if !session(w, r, m, "s") {
			w.Header().Set("Content-Type", "text/event-stream")
		}
	})
	s := dialHTTP(t, url, client.WithRevision("2025-11-25"))
	_, err := s.CallTool(t.Context(), "x", nil)
	has(t, fmt.Sprint(err), "without an answer", "; the call may have run")
	for _, err := range s.ListTools(t.Context()) {
		if text := fmt.Sprint(err); !strings.Contains(text, "without an answer") || strings.Contains(text, "run") {
			t.Error(text)
		}
	}
	_, err = client.Connect(t.Context(), client.HTTP(url))
	if text := fmt.Sprint(err); !strings.Contains(text, "without an answer") || strings.Contains(text, "run") {
		t.Error(text)
	}
}

// A stream with what is no message, in place of the answer, breaks the protocol, and the error shows it: also if that was the first answer of the server.
func TestCAN30WhatIsNoMessageInPlaceOfAnAnswer(t *testing.T) {
	for _, broken := range []string{"server/discover", "tools/call"} {
		url := script(t, func(w http.ResponseWriter, r *http.Request, m message) {
			switch {
			case m.Method == broken:
				w.Header().Set("Content-Type", "text/event-stream")
				fmt.Fprint(w, "data: {not json\n\n")
			default:
				answer(w, m, modernAnswers[m.Method])
			}
		})
		s, err := client.Connect(t.Context(), client.HTTP(url))
		if err == nil {
			_, err = s.CallTool(t.Context(), "x", nil)
			_ = s.Close()
		}
		var broke *client.ProtocolError
		if !errors.As(err, &broke) || broke.Method != broken || !strings.Contains(err.Error(), "no message") || !strings.Contains(err.Error(), "{not json") {
			t.Errorf("%s: %v", broken, err)
		}
	}
}
