package client_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/client"
	"github.com/mcpkiln/mcpkiln/runtime/inflight"
)

// holding is a server of 2025-11-25 over HTTP that answers no call of a tool.
type holding struct {
	session string // its id; "": there are no sessions
	deletes int    // the status of a DELETE
	how     string // a call is held: "answer", "stream", or "poll", where each stream ends at once, and is to be resumed
	heard   *told
	cancels chan message
}

func (h *holding) serve(r *http.Request, m message) (*http.Response, error) {
	h.heard.hear(r, m)
	w := httptest.NewRecorder()
	resumes := r.Method == http.MethodGet && r.Header.Get("Last-Event-ID") != ""
	switch {
	case r.Method == http.MethodDelete:
		w.WriteHeader(h.deletes)
	case (resumes || m.Method == "tools/call") && h.how == "poll":
		return &http.Response{
			StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"text/event-stream"}},
			Body: io.NopCloser(strings.NewReader("id: e\nretry: 50\ndata:\n\n")), Request: r,
		}, nil
	case m.Method == "tools/call" && h.how == "stream":
		resp, _ := eventStream(r)
		return resp, nil
	case m.Method == "tools/call":
		<-r.Context().Done()
		return nil, r.Context().Err()
	case m.Method == "notifications/cancelled":
		h.cancels <- m
		w.WriteHeader(http.StatusAccepted)
	default:
		session(w, r, m, h.session)
		if h.session == "" {
			w.Header().Del("Mcp-Session-Id")
		}
	}
	return w.Result(), nil
}

// Close cancels the calls in flight before it ends the session: some servers have no sessions, some do not end them, and none takes the end of a stream for a
// cancellation (CAN18). Abort tells the server nothing, and the session goes on.
func TestCAN17CloseCancelsWhatIsInFlightOverHTTP(t *testing.T) {
	for name, h := range map[string]holding{
		"no session": {}, "a session": {session: "s1", deletes: http.StatusOK}, "a session that DELETE does not end": {session: "s1", deletes: http.StatusMethodNotAllowed},
	} {
		for _, how := range []string{"answer", "stream", "poll"} {
			t.Run(name+", "+how, func(t *testing.T) {
				h.how = how
				end := "POST notifications/cancelled"
				if h.session != "" {
					end += ", DELETE"
				}
				h.close(t, (*client.Session).Close, 1, end)
				h.close(t, (*client.Session).Abort, 0, "")
			})
		}
	}
}

// close ends a session with a call in flight. The server is to hear so many cancellations, and end is the end of all that it hears, if not "".
func (h holding) close(t *testing.T, how func(*client.Session) error, cancels int, end string) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		h.heard, h.cancels = &told{}, make(chan message, 5)
		endpoint := client.HTTP("http://server.example/mcp")
		endpoint.Client = &http.Client{Transport: roundTrip(h.serve)}
		s := connect(t, endpoint, []client.Option{client.WithRevision("2025-11-25")})
		done := start(t.Context(), s, "x")
		sleep(t.Context(), 120*time.Millisecond)
		id := s.Requests()[0].ID.String()
		began := time.Now()
		if err := how(s); err != nil || time.Since(began) > 2*time.Second {
			t.Errorf("%v after %v", err, time.Since(began))
		}
		var cause *client.Cause
		if r := <-done; !errors.As(r.err, &cause) || cause.Source != inflight.SourceShutdown {
			t.Errorf("the call ended with %v", r.err)
		}
		if len(h.cancels) != cancels || !strings.HasSuffix(h.heard.String(), end) || cancels == 0 && strings.Contains(h.heard.String(), "DELETE") {
			t.Fatalf("%d cancellations, want %d, among %s", len(h.cancels), cancels, h.heard)
		}
		if cancels > 0 {
			has(t, string((<-h.cancels).Params), `"requestId":`+id, "the session is closed")
		}
	})
}

// A server may go on with what it has read when its input ends (CAN26), so it is told there, too.
func TestCAN17CloseCancelsWhatIsInFlightOverAPipe(t *testing.T) {
	each(t, func(t *testing.T, revision string) {
		for name, end := range map[string]func(*client.Session) error{"Close": (*client.Session).Close, "Abort": (*client.Session).Abort} {
			s, p := meet(t, revision)
			done := start(t.Context(), s, "x")
			call := p.expect("tools/call")
			ended := make(chan error, 1)
			go func() { ended <- end(s) }()
			if name == "Close" {
				has(t, string(p.expect("notifications/cancelled").Params), `"requestId":`+string(call.ID))
			}
			if frame, err := p.conn.ReadFrame(nil); err == nil {
				t.Errorf("%s: the client sent %s", name, frame)
			}
			if err := <-ended; err != nil {
				t.Errorf("%s: %v", name, err)
			}
			<-done
		}
	})
}

// haltingLog is a log that takes no more once a request has ended, until it is released.
type haltingLog struct {
	slog.Handler
	halted, release chan struct{}
}

// Handle implements slog.Handler.
func (h *haltingLog) Handle(_ context.Context, r slog.Record) error {
	if r.Message == "request ended" {
		close(h.halted)
		<-h.release
	}
	return nil
}

// Enabled implements slog.Handler.
func (h *haltingLog) Enabled(context.Context, slog.Level) bool { return true }

// What has ended a call may not have told the server yet when Close begins, and what waits for the call may not have seen the end.
func TestCAN17CloseTellsOfACallThatIsBeingGivenUp(t *testing.T) {
	h := &haltingLog{halted: make(chan struct{}), release: make(chan struct{})}
	s, p := meet(t, "2025-11-25", client.WithLogger(slog.New(h)))
	reported := make(chan struct{})
	done := start(t.Context(), s, "x", client.OnProgress(func(client.Progress) {
		close(reported)
		<-h.release
	}))
	call := p.expect("tools/call")
	p.send(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":1}}`, call.ID)
	<-reported
	cancelled := make(chan error, 1)
	go func() { cancelled <- s.CancelRequest(s.Requests()[0].ID, "enough") }()
	<-h.halted
	ended := make(chan error, 1)
	go func() { ended <- s.Close() }()
	has(t, string(p.expect("notifications/cancelled").Params), `"requestId":`+string(call.ID), "enough")
	close(h.release)
	for what, err := range map[string]error{"Close": <-ended, "CancelRequest": <-cancelled} {
		if err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	var cause *client.Cause
	if r := <-done; !errors.As(r.err, &cause) || cause.Source != inflight.SourceCaller {
		t.Errorf("the call ended with %v", r.err)
	}
}
