package client_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptrace"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/client"
)

// stuck is a server that keeps the calls of one tool open for ever, and answers all else at once.
type stuck struct {
	revision, offers string
	answers          int32         // how many cancellations of a request it answers; those after that it does not
	wait             time.Duration // how long it may seem only slow
	open             atomic.Int32
	mu               sync.Mutex
	told             map[string]int32 // cancellations, by request
}

// answersNotice counts a cancellation.
func (s *stuck) answersNotice(m message) bool {
	var about struct{ RequestID json.RawMessage }
	_ = json.Unmarshal(m.Params, &about)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.told == nil {
		s.told = map[string]int32{}
	}
	s.told[string(about.RequestID)]++
	return s.told[string(about.RequestID)] <= s.answers
}

// wrote reports that a request was sent.
func wrote(r *http.Request) {
	if trace := httptrace.ContextClientTrace(r.Context()); trace != nil && trace.WroteRequest != nil {
		trace.WroteRequest(httptrace.WroteRequestInfo{})
	}
}

func (s *stuck) serve(r *http.Request, m message) (*http.Response, error) {
	wrote(r)
	if strings.Contains(string(m.Params), `"hang`) || m.Method == "notifications/cancelled" && !s.answersNotice(m) {
		s.open.Add(1)
		defer s.open.Add(-1)
		<-r.Context().Done()
		return nil, r.Context().Err()
	}
	result := complete(s.revision, "done")
	switch m.Method {
	case "server/discover":
		result = `{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":` + s.offers + `,"ttlMs":0,"cacheScope":"private"}`
	case "initialize":
		result = `{"protocolVersion":"` + s.revision + `","capabilities":` + s.offers + `,"serverInfo":{"name":"stuck","version":"1"}}`
	case "tools/call":
	default:
		return &http.Response{StatusCode: http.StatusAccepted, Body: http.NoBody}, nil
	}
	text := `{"jsonrpc":"2.0","id":` + string(m.ID) + `,"result":` + result + `}`
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Body: &body{r.Context(), []part{{0, text}}}}, nil
}

// However many calls of a tool were given up, and whatever their server does with them, other calls go on, and what they leave open is bounded.
func TestCAN15CallsThatWereGivenUpStopNoOthers(t *testing.T) {
	for name, srv := range map[string]*stuck{
		"its cancellations are answered":           {revision: "2025-11-25", offers: offers, answers: 2},
		"the first ones of its calls are answered": {revision: "2025-11-25", offers: offers, answers: 1, wait: time.Second},
		"its cancellations are not answered":       {revision: "2025-11-25", offers: offers},
		"it may have made tasks of them":           {revision: "2026-07-28", offers: taskOffers},
	} {
		synctest.Test(t, func(t *testing.T) {
			endpoint := client.HTTP("http://server.test/mcp")
			endpoint.Client = &http.Client{Transport: roundTrip(srv.serve)}
			s, err := client.Connect(t.Context(), endpoint, client.WithRevision(srv.revision))
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			var calls []<-chan result
			for range 3000 {
				calls = append(calls, start(ctx, s, "hang"))
			}
			synctest.Wait()
			cancel()
			for _, done := range calls {
				if r := <-done; r.err == nil {
					t.Errorf("%s: a call has a result", name)
				}
			}
			time.Sleep(50 * time.Millisecond) // of the bubble's clock: what is being sent has been sent
			at := time.Now()
			if _, err := s.CallTool(t.Context(), "other", nil); err != nil || time.Since(at) > srv.wait {
				t.Errorf("%s: %v after %v", name, err, time.Since(at))
			}
			synctest.Wait()
			if n := srv.open.Load(); n > 2*(128+1024) { // each with its cancellation
				t.Errorf("%s: %d HTTP requests are open", name, n)
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// Calls that are answered, on streams that their server does not end, push out no call that was given up: its cancellation goes on, and its task is
// cancelled as soon as the answer names it (CAN15).
func TestCAN11AnsweredCallsPushOutNoneThatWasGivenUp(t *testing.T) {
	for revision, of := range map[string]string{"2026-07-28": taskOffers, "2025-11-25": offers} {
		synctest.Test(t, func(t *testing.T) {
			srv := &stuck{revision: revision, offers: of}
			given, cancelled := make(chan struct{}), make(chan error, 1)
			endpoint := client.HTTP("http://server.test/mcp")
			endpoint.Client = &http.Client{Transport: roundTrip(func(r *http.Request, m message) (*http.Response, error) {
				wrote(r)
				answer, wait := complete(revision, "done"), time.Duration(0)
				switch {
				case m.Method == "tasks/cancel":
					cancelled <- nil
					return status(http.StatusNotFound), nil
				case m.Method == "notifications/cancelled":
					sleep(r.Context(), 200*time.Millisecond)
					cancelled <- context.Cause(r.Context())
					return status(http.StatusAccepted), nil
				case m.Method != "tools/call":
					return srv.serve(r, m)
				case strings.Contains(string(m.Params), `"given up"`):
					answer, wait = taskIs("task", "working", ""), 200*time.Millisecond
					close(given)
				}
				resp, events := eventStream(r)
				go func() {
					sleep(r.Context(), wait)
					_, _ = fmt.Fprintf(events, "data: {\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":%s}\n\n", m.ID, answer)
				}()
				return resp, nil
			})}
			s := connect(t, endpoint, []client.Option{client.WithRevision(revision)})
			ctx, cancel := context.WithCancel(t.Context())
			done := start(ctx, s, "given up")
			<-given
			cancel()
			<-done
			sleep(t.Context(), 50*time.Millisecond) // its cancellation is being sent
			for range 600 {
				if _, err := s.CallTool(t.Context(), "x", nil); err != nil {
					t.Fatal(err)
				}
			}
			sleep(t.Context(), time.Second)
			select {
			case err := <-cancelled:
				if err != nil {
					t.Errorf("%s: its cancellation was ended: %v", revision, err)
				}
			default:
				t.Errorf("%s: it was not cancelled", revision)
			}
		})
	}
}
