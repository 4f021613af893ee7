package client_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/client"
)

func TestASessionThatTheServerHasForgottenIsRenewed(t *testing.T) {
	var mu sync.Mutex
	sessions, calls := 0, 0
	url := script(t, func(w http.ResponseWriter, r *http.Request, m message) {
		mu.Lock()
		defer mu.Unlock()
		if m.Method == "initialize" {
			sessions++
			if r.Header.Get("Mcp-Session-Id") != "" {
				t.Error("the handshake carries the id of a session")
			}
		}
		if session(w, r, m, fmt.Sprint("s", sessions)) {
			return
		}
		calls++
		if id := r.Header.Get("Mcp-Session-Id"); id == "s1" && calls > 1 {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		if r.Header.Get("Mcp-Protocol-Version") != "2025-11-25" {
			t.Errorf("%v", r.Header)
		}
		answer(w, m, `{"content":[]}`)
	})
	s := dialHTTP(t, url, client.WithRevision("2025-11-25"))
	for range 3 {
		if _, err := s.CallTool(t.Context(), "x", nil); err != nil {
			t.Fatal(err)
		}
	}
	if sessions != 2 || calls != 4 {
		t.Errorf("%d sessions, %d calls", sessions, calls)
	}
}

// A call that a new session gets a 404 to as well fails with that status, and was not served.
func TestACallThatNoSessionServes(t *testing.T) {
	sessions, calls := 0, 0
	url := script(t, func(w http.ResponseWriter, r *http.Request, m message) {
		if m.Method == "initialize" {
			sessions++
		}
		if !session(w, r, m, fmt.Sprint("s", sessions)) {
			calls++
			http.Error(w, "no replica", http.StatusNotFound)
		}
	})
	_, err := dialHTTP(t, url, client.WithRevision("2025-11-25")).CallTool(t.Context(), "x", nil)
	var refused *client.StatusError
	if !errors.As(err, &refused) || refused.Status != http.StatusNotFound || refused.Body != "no replica" || sessions != 2 || calls != 2 {
		t.Fatalf("%T %v, %d sessions, %d calls", err, err, sessions, calls)
	}
	has(t, err.Error(), "HTTP status 404 Not Found: no replica; the server does not know the session", "was not served, and may be sent again")
}

// Only a 404 to the request itself says that it was not served. If the session ends while the stream of a call is being resumed, the call fails
// without being sent again, since its tool may have run. The next call gets a new session.
func TestACallWhoseStreamCanNotBeResumedIsNotSentAgain(t *testing.T) {
	for status, says := range map[int]string{
		http.StatusOK:           `does not resume it: it answers with Content-Type "text/plain"; the call may have run`,
		http.StatusBadRequest:   "does not resume it: HTTP status 400 Bad Request; the call may have run",
		http.StatusNotFound:     "the server has ended the session; the call may have run",
		http.StatusGone:         "does not resume it: HTTP status 410 Gone; the call may have run",
		http.StatusUnauthorized: "HTTP status 401 Unauthorized; the stream ended without an answer, and the server does not resume it; the call may have run",
	} {
		sessions, calls := 0, 0
		url := script(t, func(w http.ResponseWriter, r *http.Request, m message) {
			if m.Method == "initialize" {
				sessions++
			}
			if session(w, r, m, fmt.Sprint("s", sessions)) {
				return
			}
			switch {
			case r.Method == http.MethodGet:
				w.Header().Set("Content-Type", "text/plain")
				w.WriteHeader(status)
			case r.Header.Get("Mcp-Session-Id") != "s1":
				answer(w, m, `{"content":[]}`)
			case calls == 1:
				w.WriteHeader(http.StatusNotFound)
			default:
				calls++
				w.Header().Set("Content-Type", "text/event-stream")
				fmt.Fprint(w, "id: 1\nretry: 1\ndata:\n\n")
			}
		})
		s := dialHTTP(t, url, client.WithRevision("2025-11-25"))
		_, err := s.CallTool(t.Context(), "x", nil)
		var lost *client.TransportError
		var login *client.StatusError
		if errors.As(err, &lost) == (status == http.StatusUnauthorized) || errors.As(err, &login) != (status == http.StatusUnauthorized) || !strings.Contains(err.Error(), says) || sessions != 1 {
			t.Errorf("%d: %v, %d sessions", status, err, sessions)
		}
		if _, err := s.CallTool(t.Context(), "x", nil); err != nil || sessions != 2 {
			t.Errorf("%d: %v, %d sessions", status, err, sessions)
		}
	}
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

// A session that is renewed has one stream for what belongs to no request, also if the server gives it the id of the one before.
func TestASessionThatIsRenewedListensOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var listening running
		forgotten := false
		endpoint := client.HTTP("http://server.example/mcp")
		endpoint.Client = &http.Client{Transport: roundTrip(func(r *http.Request, m message) (*http.Response, error) {
			w := httptest.NewRecorder()
			switch {
			case r.Method == http.MethodGet:
				w.Header().Set("Content-Type", "text/event-stream")
				resp := w.Result()
				body, stream := io.Pipe()
				end := listening.begin()
				context.AfterFunc(r.Context(), func() { end(); _ = stream.CloseWithError(r.Context().Err()) })
				resp.Body = body
				return resp, nil
			case m.Method == "tools/call" && !forgotten:
				forgotten = true
				w.WriteHeader(http.StatusNotFound)
			case !session(w, r, m, "always the same"):
				answer(w, m, `{"content":[]}`)
			}
			return w.Result(), nil
		})}
		s, err := client.Connect(t.Context(), endpoint, client.WithRevision("2025-11-25"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.CallTool(t.Context(), "x", nil); err != nil {
			t.Error(err)
		}
		time.Sleep(time.Hour) // of the bubble's clock
		if n := listening.Load(); n != 1 {
			t.Errorf("%d streams are open, want 1", n)
		}
		if err := s.Close(); err != nil || listening.Load() != 0 {
			t.Errorf("%v; %d streams are open", err, listening.Load())
		}
	})
}

// A stream for what belongs to no request is asked for again, as the server says, if it only has no time for it.
func TestAServerThatIsBusyIsAskedForItsStreamAgain(t *testing.T) {
	for status, want := range map[int]time.Duration{
		http.StatusRequestTimeout:     90 * time.Second,
		http.StatusTooManyRequests:    90 * time.Second,
		http.StatusServiceUnavailable: 90 * time.Second,
		http.StatusMethodNotAllowed:   0,
		http.StatusNotFound:           0,
	} {
		synctest.Test(t, func(t *testing.T) {
			var asked []time.Time
			endpoint := client.HTTP("http://server.example/mcp")
			endpoint.Client = &http.Client{Transport: roundTrip(func(r *http.Request, m message) (*http.Response, error) {
				w := httptest.NewRecorder()
				if r.Method == http.MethodGet {
					asked = append(asked, time.Now())
					w.Header().Set("Retry-After", "90")
					w.WriteHeader(status)
				} else {
					session(w, r, m, "s")
				}
				return w.Result(), nil
			})}
			s, err := client.Connect(t.Context(), endpoint, client.WithRevision("2025-11-25"))
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Hour) // of the bubble's clock
			_ = s.Close()
			if want == 0 {
				if len(asked) != 1 {
					t.Errorf("%d: asked %d times", status, len(asked))
				}
				return
			}
			if len(asked) != int(time.Hour/want)+1 && len(asked) != int(time.Hour/want) {
				t.Errorf("%d: asked %d times", status, len(asked))
			}
			for i := range asked[1:] {
				if waited := asked[i+1].Sub(asked[i]); waited != want {
					t.Errorf("%d: asked again after %v", status, waited)
				}
			}
		})
	}
}

// Abort ends no session, whatever ends before it.
func TestAbortDeletesNoSession(t *testing.T) {
	for range 20 {
		var heard told
		w := &working{revision: "2025-11-25", called: make(chan struct{}, 1)}
		url := script(t, func(rw http.ResponseWriter, r *http.Request, m message) {
			heard.hear(r, m)
			if said := w.answer(m); said != "" {
				rw.Header().Set("Mcp-Session-Id", "s1")
				answer(rw, m, said)
				return
			}
			session(rw, r, m, "s1")
		})
		s := dialHTTP(t, url, client.WithRevision("2025-11-25"))
		x, err := s.Start(t.Context(), "x", nil)
		if err != nil {
			t.Fatal(err)
		}
		x.Detach()
		if err := s.Abort(); err != nil || strings.Contains(heard.String(), http.MethodDelete) {
			t.Fatalf("%v; the server has heard %s", err, &heard)
		}
	}
}

// A session that is aborted waits for nothing: not for the server to end the session, nor to take the cancellation of a call. Close waits for both together no
// longer than 5 s, and has the session ended in any case.
func TestAbortWaitsForNoServer(t *testing.T) {
	const cancellation = "notifications/cancelled"
	for silent, close := range map[string]time.Duration{
		http.MethodDelete: 5 * time.Second, cancellation: 4 * time.Second, cancellation + " and " + http.MethodDelete: 5 * time.Second,
	} {
		for name, most := range map[string]time.Duration{"Abort": 0, "Close": close} {
			synctest.Test(t, func(t *testing.T) {
				asked, deleted := make(chan struct{}, 10), 0
				endpoint := client.HTTP("http://server.example/mcp")
				endpoint.Client = &http.Client{Transport: roundTrip(func(r *http.Request, m message) (*http.Response, error) {
					w := httptest.NewRecorder()
					if r.Method == http.MethodDelete {
						deleted++
					}
					switch {
					case r.Method == http.MethodDelete && strings.Contains(silent, r.Method), m.Method == cancellation && strings.Contains(silent, m.Method), m.Method == "tools/call":
						asked <- struct{}{}
						<-r.Context().Done()
						return nil, r.Context().Err()
					case !session(w, r, m, "s1"):
						w.WriteHeader(http.StatusAccepted)
					}
					return w.Result(), nil
				})}
				s, err := client.Connect(t.Context(), endpoint, client.WithRevision("2025-11-25"))
				if err != nil {
					t.Fatal(err)
				}
				ctx, cancel := context.WithCancel(t.Context())
				done := start(ctx, s, "x")
				<-asked
				if silent != http.MethodDelete {
					cancel()
					<-done
					<-asked
				}
				began := time.Now()
				end := map[string]func() error{"Abort": s.Abort, "Close": s.Close}[name]
				if err := end(); err != nil || time.Since(began) != most || name == "Close" && deleted != 1 {
					t.Errorf("%s, %s: %v after %v; %d times deleted", name, silent, err, time.Since(began), deleted)
				}
				cancel()
			})
		}
	}
}

// Nor does Close take longer than 5 s if the server names no task that is to be cancelled, either.
func TestCAN11CloseHasOneBoundForAllThatItWaitsFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := make(chan struct{}, 10)
		endpoint := client.HTTP("http://server.example/mcp")
		endpoint.Client = &http.Client{Transport: roundTrip(func(r *http.Request, m message) (*http.Response, error) {
			w := httptest.NewRecorder()
			switch {
			case m.Method == "initialize":
				w.Header().Set("Mcp-Session-Id", "s1")
				answer(w, m, `{"protocolVersion":"2025-11-25","capabilities":`+taskOffers+`,"serverInfo":{"name":"silent","version":"1"}}`)
			case m.Method == "notifications/initialized":
				w.WriteHeader(http.StatusAccepted)
			case r.Method == http.MethodGet:
				w.WriteHeader(http.StatusMethodNotAllowed)
			case m.Method == "tools/list":
				answer(w, m, `{"tools":[{"name":"task","inputSchema":{"type":"object"},"execution":{"taskSupport":"required"}},{"name":"x","inputSchema":{"type":"object"}}]}`)
			default:
				asked <- struct{}{}
				<-r.Context().Done()
				return nil, r.Context().Err()
			}
			return w.Result(), nil
		})}
		s, err := client.Connect(t.Context(), endpoint, client.WithRevision("2025-11-25"))
		if err != nil {
			t.Fatal(err)
		}
		for range s.ListTools(t.Context()) {
		}
		ctx, cancel := context.WithCancel(t.Context())
		for _, done := range []<-chan result{start(ctx, s, "task"), start(ctx, s, "x")} {
			defer func() { <-done }()
			<-asked
		}
		cancel()
		<-asked // the cancellation of x
		began := time.Now()
		if err := s.Close(); err != nil || time.Since(began) != 5*time.Second {
			t.Errorf("%v after %v", err, time.Since(began))
		}
	})
}
