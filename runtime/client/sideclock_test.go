package client_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/client"
)

// guarded is a server of 2025-11-25 that ends its first session. Before the first request with the method ask, after its first handshake, a person is asked
// for three minutes. renew answers later handshakes; nil: as the first.
type guarded struct {
	ask   string
	renew func(w http.ResponseWriter, m message)

	inits, asked, calls atomic.Int32
	ended               atomic.Bool
}

func (g *guarded) serve(r *http.Request, m message) (*http.Response, error) {
	w := httptest.NewRecorder()
	if m.Method == g.ask && g.inits.Load() > 0 && g.asked.Add(1) == 1 {
		asking, done, _ := client.Asking(r.Context())
		sleep(asking, 3*time.Minute)
		err := context.Cause(asking)
		if done(); err != nil {
			return nil, err
		}
	}
	session := r.Header.Get("Mcp-Session-Id")
	switch {
	case m.Method == "initialize":
		n := g.inits.Add(1)
		if n > 1 && g.renew != nil {
			g.renew(w, m)
			break
		}
		w.Header().Set("Mcp-Session-Id", fmt.Sprint("s", n))
		answer(w, m, `{"protocolVersion":"2025-11-25","capabilities":`+taskOffers+`,"serverInfo":{"name":"guarded","version":"1"}}`)
	case r.Method == http.MethodGet:
		return status(http.StatusMethodNotAllowed), nil
	case session == "s1" && g.ended.Load() && m.Method != "":
		return status(http.StatusNotFound), nil
	case m.Method == "tools/list":
		answer(w, m, `{"tools":[{"name":"x","inputSchema":{"type":"object"},"execution":{"taskSupport":"required"}}]}`)
	case m.Method == "tools/call" && strings.Contains(string(m.Params), `"name":"x"`) && !strings.Contains(string(m.Params), `"task"`):
		refuseWith(w, m, -32601, "only as a task")
	case m.Method == "tools/call" && strings.Contains(string(m.Params), `"task"`):
		answer(w, m, `{"task":{"taskId":"t1",`+moments+`,"ttl":null,"pollInterval":1000,"status":"working"}}`)
	case m.Method == "tools/call":
		g.calls.Add(1)
		answer(w, m, `{"content":[{"type":"text","text":"here"}]}`)
	case m.Method == "tasks/get":
		answer(w, m, `{"taskId":"t1",`+moments+`,"ttl":null,"pollInterval":1000,"status":"completed"}`)
	case m.Method == "tasks/result":
		answer(w, m, `{"content":[{"type":"text","text":"here"}]}`)
	default:
		return status(http.StatusAccepted), nil
	}
	return w.Result(), nil
}

func refuseWith(w http.ResponseWriter, m message, code int, text string) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":%q}}`, m.ID, code, text)
}

func (g *guarded) dial(t *testing.T, opts ...client.Option) *client.Session {
	endpoint := client.HTTP("http://server.example/mcp")
	endpoint.Client = &http.Client{Transport: roundTrip(g.serve)}
	return connect(t, endpoint, append(opts, client.WithRevision("2025-11-25")))
}

// A person who is asked before a request that a call makes on the side can be sent takes nothing of the time of the call, nor of another call that waits for
// the same (CAN16, CAN28).
func TestCAN28APersonWhoIsAskedOnTheSideStopsTheClock(t *testing.T) {
	limits := client.Timeout(time.Minute, 90*time.Second)
	call := func(tool string) func(t *testing.T, s *client.Session) error {
		return func(t *testing.T, s *client.Session) error {
			_, err := s.CallTool(t.Context(), tool, nil, limits)
			return err
		}
	}
	for name, c := range map[string]struct {
		ask   string
		ended bool
		calls []func(t *testing.T, s *client.Session) error
	}{
		"the list for a retry": {ask: "tools/list", calls: []func(t *testing.T, s *client.Session) error{call("x")}},
		"the list for a start": {ask: "tools/list", calls: []func(t *testing.T, s *client.Session) error{func(t *testing.T, s *client.Session) error {
			x, err := s.Start(t.Context(), "x", nil, limits)
			if err == nil {
				_, err = x.Result(t.Context())
			}
			return err
		}}},
		"a new session":                     {ask: "initialize", ended: true, calls: []func(t *testing.T, s *client.Session) error{call("y")}},
		"a new session, which two wait for": {ask: "initialize", ended: true, calls: []func(t *testing.T, s *client.Session) error{call("y"), call("z")}},
		"a new session for a list": {ask: "initialize", ended: true, calls: []func(t *testing.T, s *client.Session) error{call("z"), func(t *testing.T, s *client.Session) error {
			_, err := s.Start(t.Context(), "x", nil, limits)
			return err
		}}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := &guarded{ask: c.ask}
				s := g.dial(t, client.WithTimeout(time.Minute, 90*time.Second))
				g.ended.Store(c.ended)
				var all sync.WaitGroup
				for _, f := range c.calls {
					all.Go(func() {
						if err := f(t, s); err != nil {
							t.Error(err)
						}
					})
				}
				began := time.Now()
				all.Wait()
				if took := time.Since(began); took < 3*time.Minute || g.asked.Load() != 1 && c.ask == "initialize" {
					t.Errorf("after %v; a person was asked %d times", took, g.asked.Load())
				}
			})
		})
	}
}

// The time without a person counts: the call ends with its limits, whoever else waits.
func TestCAN16ANewSessionHasTheTimeOfARequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hang := make(chan struct{})
		g := &guarded{renew: func(http.ResponseWriter, message) { <-hang }}
		s := g.dial(t)
		defer close(hang)
		g.ended.Store(true)
		var all sync.WaitGroup
		for _, each := range []time.Duration{20 * time.Second, 2 * time.Second} {
			all.Go(func() {
				began := time.Now()
				_, err := s.CallTool(t.Context(), "y", nil, client.Timeout(each, 25*time.Second))
				if took := time.Since(began); !errors.Is(err, context.DeadlineExceeded) || took != each {
					t.Errorf("%v: %v after %v", each, err, took)
				}
			})
			synctest.Wait()
		}
		all.Wait()
	})
}

// A call that is not served because there is no new session says that. It is not told what the server has said to the handshake as if that were the answer to
// the call (REV02).
func TestREV02ACallWithoutASessionSaysThatItWasNotServed(t *testing.T) {
	var status *client.StatusError
	var version *client.VersionError
	var bad *client.ProtocolError
	for name, c := range map[string]struct {
		renew func(w http.ResponseWriter, m message)
		as    any // nil: no more is known
	}{
		"500": {func(w http.ResponseWriter, _ message) { w.WriteHeader(500) }, &status},
		"401": {func(w http.ResponseWriter, _ message) { w.WriteHeader(401) }, &status},
		"404": {func(w http.ResponseWriter, _ message) { w.WriteHeader(404) }, &status},
		"page": {func(w http.ResponseWriter, _ message) {
			w.Header().Set("Content-Type", "text/html")
			_, _ = w.Write([]byte("<html>"))
		}, &bad},
		"full": {func(w http.ResponseWriter, m message) { refuseWith(w, m, -32000, "full") }, nil},
		"tool": {func(w http.ResponseWriter, m message) { refuseWith(w, m, -32601, "no such method") }, nil},
		"version": {func(w http.ResponseWriter, m message) {
			answer(w, m, `{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"old","version":"1"}}`)
		}, &version},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := &guarded{renew: c.renew}
				s := g.dial(t)
				g.ended.Store(true)
				_, err := s.CallTool(t.Context(), "y", nil)
				var lost *client.TransportError
				var said *client.Error
				if !errors.As(err, &lost) || errors.As(err, &said) || c.as != nil && !errors.As(err, c.as) {
					t.Errorf("%T %v", err, err)
				}
				has(t, fmt.Sprint(err), "the server has ended the session, and the call was not served: a new session could not be begun")
				if s.Err() != nil || g.calls.Load() != 0 {
					t.Errorf("%v, served %d times", s.Err(), g.calls.Load())
				}
				g.renew = nil
				if _, err := s.CallTool(t.Context(), "y", nil); err != nil {
					t.Errorf("the next call: %v", err)
				}
			})
		})
	}
}
