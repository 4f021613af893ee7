package streamhttp

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/rpc"
)

// states counts the connections of a server by their state.
type states struct {
	mu sync.Mutex
	of map[net.Conn]http.ConnState
}

func (s *states) note(c net.Conn, state http.ConnState) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.of[c] = state
}

func (s *states) closed() (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, state := range s.of {
		if state == http.StateClosed {
			n++
		}
	}
	return n
}

// A connection that its client closes is let go at once, whatever its request waits for, also where the call goes on (2025-11-25).
func TestCAN18AClosedConnectionIsLetGoAtOnce(t *testing.T) {
	const calls = 20
	for name, c := range map[string]struct {
		tool, revision string
		after          time.Duration // the call began
		cancels        bool
	}{
		"2025-11-25":                 {"hang", "2025-11-25", 0, false},
		"2025-11-25, a stream":       {"hang", "2025-11-25", 2 * time.Second, false},
		"2025-11-25, with progress":  {"steps", "2025-11-25", 0, false},
		"2025-11-25, asks":           {"ask", "2025-11-25", 0, false},
		"2025-11-25, listens":        {"", "2025-11-25", 0, false},
		"2026-07-28":                 {"hang", "2026-07-28", 10 * time.Millisecond, true},
		"2026-07-28, after a second": {"hang", "2026-07-28", 2 * time.Second, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l, s := newPipes(), states{of: map[net.Conn]http.ConnState{}}
				f := newFixtureOn(t, func(h http.Handler) *httptest.Server {
					ts := l.server(h)
					ts.Config.ConnState = s.note
					return ts
				})
				f.ts.Client().Transport.(*http.Transport).DialContext = l.dial
				f.ts.Client().Transport.(*http.Transport).DisableKeepAlives = true
				var conns []net.Conn
				for range calls {
					var request string
					switch session := f.initialize(); {
					case c.tool == "":
						request = "GET / HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n" + session + "\r\n\r\n"
					case c.revision == "2025-11-25":
						request = rawRequest("1.1", callBody("1", c.tool, "x"), session, accept)
					default:
						request = rawRequest("1.1", callBody2026("1", c.tool, "x"), append(headers2026("tools/call", c.tool), accept)...)
					}
					conn, err := l.dial(t.Context(), "", "")
					if err != nil {
						t.Fatal(err)
					}
					if _, err := io.WriteString(conn, request); err != nil {
						t.Fatal(err)
					}
					go io.Copy(io.Discard, conn)
					conns = append(conns, conn)
				}
				time.Sleep(c.after)
				synctest.Wait()
				before, start := s.closed(), time.Now()
				for _, conn := range conns {
					conn.Close()
				}
				synctest.Wait()
				if n := s.closed() - before; n != calls || time.Since(start) != 0 {
					t.Errorf("%d of %d connections are closed", n, calls)
				}
				if n := len(f.causes); c.cancels != (n > 0) {
					t.Errorf("%d calls were cancelled", n)
				}
			})
		})
	}
}

// Of a call that its client gives up before it has an event to resume from, nothing is left once the call is over (TSK28).
func TestCAN18NothingIsLeftOfCallsThatAreGivenUp(t *testing.T) {
	f := newFixture(t)
	s := f.session(f.opened("ada"))
	streams, about, active := s.streams.size(), s.about.size(), s.active.size()
	for i := range 10 {
		id := rpc.IntID(int64(i))
		st := s.stream(id)
		reader := st.attach(-1)
		st.received = true
		s.release(st, reader)
		if i%2 == 0 {
			s.Cancelled(id)
		}
		_ = s.Write(id, true, []byte("answer")[:6*(i%2)])
	}
	if s.streams.size() != streams || s.about.size() != about || s.active.size() != active {
		t.Errorf("%d streams are left, %d by their requests, %d active", s.streams.size()-streams, s.about.size()-about, s.active.size()-active)
	}
}
