package client_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/client"
)

// An event counts as soon as it has ended, however its lines end: nothing need follow.
func TestEventsEndWithEveryKindOfLine(t *testing.T) {
	for _, end := range []string{"\n", "\r\n", "\r"} {
		release := make(chan struct{})
		url := script(t, func(w http.ResponseWriter, r *http.Request, m message) {
			if session(w, r, m, "s") {
				return
			}
			w.Header().Set("Content-Type", "text/event-stream")
			event := ": a comment\nid: 1\ndata: {\"jsonrpc\":\"2.0\",\ndata: \"id\":%s,\"result\":{\"content\":[]}}\n\n"
			fmt.Fprintf(w, strings.ReplaceAll(event, "\n", end), m.ID)
			w.(http.Flusher).Flush()
			<-release
		})
		s := dialHTTP(t, url, client.WithRevision("2025-11-25"))
		if _, err := s.CallTool(t.Context(), "x", nil); err != nil {
			t.Errorf("%q: %v", end, err)
		}
		close(release)
	}
}

// A byte order mark before the first line of a stream is no part of it.
func TestAStreamMayBeginWithAMark(t *testing.T) {
	url := script(t, func(w http.ResponseWriter, r *http.Request, m message) {
		if session(w, r, m, "s") {
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprintf(w, "\ufeffdata: {\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"content\":[]}}\n\n", m.ID)
	})
	s := dialHTTP(t, url, client.WithRevision("2025-11-25"))
	if _, err := s.CallTool(t.Context(), "x", nil); err != nil {
		t.Error(err)
	}
}

func TestAStreamIsResumed(t *testing.T) {
	var last []string
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
			fmt.Fprintf(w, "id: a1\r\nretry: 30\r\ndata:\r\n\r\n: comment\n\n")
			return
		}
		last = append(last, r.Header.Get("Last-Event-ID"))
		if len(last) == 1 {
			fmt.Fprintf(w, "id: a2\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\ndata: \"params\":{\"progressToken\":%s,\"progress\":1}}\n\n", call.ID)
			return
		}
		fmt.Fprintf(w, "data: {\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"content\":[]}}\n\n", call.ID)
	})
	s := dialHTTP(t, url, client.WithRevision("2025-11-25"))
	progress := 0
	if _, err := s.CallTool(t.Context(), "x", nil, client.OnProgress(func(client.Progress) { progress++ })); err != nil {
		t.Fatal(err)
	}
	if strings.Join(last, " ") != "a1 a2" || progress != 1 {
		t.Errorf("asked with %q, progress %d", last, progress)
	}
	for i := range at[1:] {
		if waited := at[i+1].Sub(at[i]); waited < 30*time.Millisecond {
			t.Errorf("asked again after %v", waited)
		}
	}
}

// A server that has ended has no streams any more: that its address is refused is believed after a few seconds, and what its call has asked
// is over then (CAN31). The error says what was the matter in the end.
func TestCAN31AServerThatHasEndedIsNotWaitedFor(t *testing.T) {
	for name, c := range map[string]struct {
		again  func() (*http.Response, error)
		within time.Duration
		says   string
	}{
		"nobody listens": {func() (*http.Response, error) { return nil, syscall.ECONNREFUSED }, 8 * time.Second, "could not be resumed: "},
		"it is not up yet": {func() (*http.Response, error) {
			w := httptest.NewRecorder()
			w.WriteHeader(http.StatusBadGateway)
			return w.Result(), nil
		}, 32 * time.Second, "could not be resumed: HTTP status 502 Bad Gateway; the call may have run"},
	} {
		synctest.Test(t, func(t *testing.T) {
			endpoint := client.HTTP("http://server.example/mcp")
			endpoint.Client = &http.Client{Transport: roundTrip(func(r *http.Request, m message) (*http.Response, error) {
				w := httptest.NewRecorder()
				switch {
				case r.Method == http.MethodGet && r.Header.Get("Last-Event-ID") != "":
					return c.again()
				case m.Method == "initialize":
					answer(w, m, `{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}`)
				case m.Method == "tools/call":
					w.Header().Set("Content-Type", "text/event-stream")
					fmt.Fprint(w, "id: 1\ndata: {\"jsonrpc\":\"2.0\",\"id\":\"q\",\"method\":\"elicitation/create\",\"params\":{\"message\":\"?\",\"requestedSchema\":{\"type\":\"object\",\"properties\":{}}}}\n\n")
				case r.Method == http.MethodGet:
					w.WriteHeader(http.StatusMethodNotAllowed)
				default:
					w.WriteHeader(http.StatusAccepted)
				}
				return w.Result(), nil
			})}
			gone := make(chan struct{})
			s, err := client.Connect(t.Context(), endpoint, client.WithRevision("2025-11-25"), elicits(func(ctx context.Context, _ *client.Question) (*client.Answer, error) {
				<-ctx.Done()
				close(gone)
				return nil, ctx.Err()
			}))
			if err != nil {
				t.Fatal(err)
			}
			began := time.Now()
			_, err = s.CallTool(t.Context(), "x", nil)
			if err == nil || !strings.Contains(err.Error(), c.says) || time.Since(began) > c.within {
				t.Errorf("%s: %v after %v", name, err, time.Since(began))
			}
			<-gone
			_ = s.Close()
		})
	}
}

// A server that has no time to resume a stream is asked again when it says.
func TestAServerThatIsBusyIsAskedToResumeAgain(t *testing.T) {
	for _, status := range []int{http.StatusRequestTimeout, http.StatusTooManyRequests, http.StatusServiceUnavailable} {
		synctest.Test(t, func(t *testing.T) {
			var call message
			busy := true
			endpoint := client.HTTP("http://server.example/mcp")
			endpoint.Client = &http.Client{Transport: roundTrip(func(r *http.Request, m message) (*http.Response, error) {
				w := httptest.NewRecorder()
				switch {
				case session(w, r, m, "s"):
				case m.Method == "tools/call":
					call = m
					w.Header().Set("Content-Type", "text/event-stream")
					fmt.Fprint(w, "id: 1\ndata:\n\n")
				case busy:
					busy = false
					w.Header().Set("Retry-After", "20")
					w.WriteHeader(status)
				default:
					w.Header().Set("Content-Type", "text/event-stream")
					fmt.Fprintf(w, "data: {\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"content\":[]}}\n\n", call.ID)
				}
				return w.Result(), nil
			})}
			s, err := client.Connect(t.Context(), endpoint, client.WithRevision("2025-11-25"))
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			began := time.Now()
			_, err = s.CallTool(t.Context(), "x", nil)
			if waited := time.Since(began); err != nil || waited < 20*time.Second || waited > 30*time.Second {
				t.Errorf("%d: %v after %v", status, err, waited)
			}
		})
	}
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

// An id that no header can carry is none: the stream can not be asked for again, and the call ends at once.
func TestCAN15AnEventWhoseIDNoHeaderCanCarry(t *testing.T) {
	for _, id := range []string{"a\x1b[2J", "a\x01", "a\x7f"} {
		asked := 0
		url := script(t, func(w http.ResponseWriter, r *http.Request, m message) {
			if session(w, r, m, "s") {
				return
			}
			asked++
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprintf(w, "id: first\nretry: 1\ndata:\n\nid: %s\ndata:\n\n", id)
		})
		s := dialHTTP(t, url, client.WithRevision("2025-11-25"))
		_, err := s.CallTool(t.Context(), "x", nil)
		var lost *client.TransportError
		if !errors.As(err, &lost) || asked != 1 {
			t.Errorf("%q: %v, asked %d times", id, err, asked)
		}
	}
}
