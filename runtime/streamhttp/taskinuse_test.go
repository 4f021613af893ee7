package streamhttp

import (
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/server"
)

// tasksFixture is an endpoint without a socket, for a bubble, with the tool "later", whose tasks end when one is released.
func tasksFixture(t *testing.T, opts ...Option) *fixture {
	f := &fixture{t: t, began: make(chan struct{}, 100), release: make(chan struct{}), causes: make(chan error, 100)}
	later := tool("later", f.gate)
	later.Task.Support = server.TaskOptional
	f.srv = newServer(t, []server.Tool{later}, server.WithGrace(time.Second))
	f.h = Handler(f.srv, opts...)
	t.Cleanup(func() { _, _ = f.h.Shutdown(t.Context()), f.srv.Shutdown(t.Context()) })
	return f
}

// withTask opens a session of nobody, with an unfinished task.
func (f *fixture) withTask() (session string) {
	f.t.Helper()
	if session = f.opened(""); session == "" {
		return ""
	}
	for _, message := range []string{
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"later","arguments":{},"task":{"ttl":36000000}}}`,
	} {
		r := httptest.NewRequest("POST", "http://localhost/", strings.NewReader(message))
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		r.Header.Set("Mcp-Session-Id", session)
		w := httptest.NewRecorder()
		f.h.ServeHTTP(w, r)
		if strings.Contains(message, "task") && !strings.Contains(w.Body.String(), `"taskId"`) {
			f.t.Fatal(w.Body)
		}
	}
	<-f.began
	return session
}

// TSK14, TSK28: a client without an identity is told a ttl, and its task would end with its session: until the task is finished, the session is in use.
func TestTSK14TSK28AnUnfinishedTaskKeepsItsSession(t *testing.T) {
	for name, makeRoom := range map[string]func(f *fixture){
		"for new ones":     func(f *fixture) { f.flood(100) },
		"beyond the time":  func(*fixture) { time.Sleep(2 * time.Minute) },
		"also much longer": func(*fixture) { time.Sleep(5 * time.Hour) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := tasksFixture(t, WithMaxSessions(8), WithIdleTimeout(time.Minute))
				session := f.withTask()
				makeRoom(f)
				synctest.Wait()
				if !f.holds(session) {
					t.Fatal("the session ended with its task")
				}
				f.release <- struct{}{}
				synctest.Wait()
				makeRoom(f)
				synctest.Wait()
				if f.holds(session) {
					t.Error("the task is finished, and the session is still in use")
				}
			})
		})
	}
}

// flood opens sessions of nobody.
func (f *fixture) flood(n int) {
	for range n {
		f.opened("")
	}
}

// Clients without an identity whose sessions all have tasks are refused more sessions, and nobody else is.
func TestTSK28SessionsWithTasksLeaveRoomForOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := tasksFixture(t, WithMaxSessions(8))
		n := 0
		for f.withTask() != "" {
			n++
		}
		if n != 6 && n != 7 {
			t.Errorf("nobody has %d sessions of 8", n)
		}
		if f.opened("") != "" || f.opened("ada") == "" {
			t.Error("one more of nobody was opened, or one of ada refused")
		}
		for range n {
			f.release <- struct{}{}
		}
		synctest.Wait()
		if f.opened("") == "" {
			t.Error("the tasks are finished, and no session gives way")
		}
	})
}
