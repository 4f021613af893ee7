package streamhttp

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/mcpkiln/mcpkiln/runtime/inflight"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/server"
)

// opened opens a session of a principal without a socket.
func (f *fixture) opened(principal string) string {
	f.t.Helper()
	r := httptest.NewRequest(http.MethodPost, "http://localhost/", strings.NewReader(initializeBody))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	w := httptest.NewRecorder()
	f.h.ServeHTTP(w, r.WithContext(server.WithPrincipal(r.Context(), principal)))
	return w.Header().Get("Mcp-Session-Id")
}

func (f *fixture) holds(session string) bool {
	f.h.mu.Lock()
	defer f.h.mu.Unlock()
	return f.h.roster.sessions[session] != nil
}

func TestCAN18AFloodOfSessionsEvictsItsOwn(t *testing.T) {
	for name, principal := range map[string]string{"of one principal": "flood", "of nobody": ""} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, WithMaxSessions(8))
			ada, bob := f.opened("ada"), f.opened("bob")
			for range 100 {
				f.opened(principal)
			}
			if !f.holds(ada) || !f.holds(bob) {
				t.Error("somebody else's session was ended")
			}
			if n := len(f.h.roster.sessions); n != 7 { // one of 8 is for others
				t.Errorf("%d sessions", n)
			}
		})
	}
}

// busy opens a session that stays in use.
func (f *fixture) busy(principal string) (session string) {
	f.t.Helper()
	if session = f.opened(principal); session != "" {
		s := f.h.use(session, principal)
		f.t.Cleanup(s.unuse)
	}
	return session
}

// Who has the most sessions, and uses all, is refused more. Nobody else loses one for that, or is refused.
func TestCAN18AFloodOfBusySessionsIsRefused(t *testing.T) {
	for name, flood := range map[string][]string{"of one principal": {"mallory"}, "of nobody": {""}, "of two": {"mallory", "mal"}} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, WithMaxSessions(40))
			bob := f.opened("bob")
			for range 100 {
				for _, principal := range flood {
					f.busy(principal)
				}
			}
			if f.busy(flood[0]) != "" || !f.holds(bob) {
				t.Error("a flood of sessions in use gets one more")
			}
			carol, second := f.opened("carol"), f.opened("bob")
			if carol == "" || second == "" || !f.holds(bob) {
				t.Error("who has few sessions is refused, or loses one")
			}
			r := f.request(http.MethodPost, initializeBody, "X-User: "+flood[0])
			if resp := f.do(r); resp.StatusCode != 503 || resp.Header.Get("Retry-After") == "" {
				t.Errorf("%d, Retry-After %q", resp.StatusCode, resp.Header.Get("Retry-After"))
			}
		})
	}
}

// As long as one has more sessions than another, the other one gets in: one of the first gives way.
func TestCAN18WhoHasFewSessionsGetsOneOfWhoHasMany(t *testing.T) {
	f := newFixture(t, WithMaxSessions(8))
	for range 6 {
		f.opened("ada")
	}
	for range 3 {
		f.busy("bob")
	}
	f.h.mu.Lock()
	defer f.h.mu.Unlock()
	for principal, want := range map[string]int{"ada": 5, "bob": 3} {
		ctx := server.WithPrincipal(t.Context(), principal)
		if got := f.h.roster.tenants[server.RequestorFrom(ctx)].sessions; got != want {
			t.Errorf("%s has %d sessions, want %d", principal, got, want)
		}
	}
}

// Callers without an identity are told apart where something tells them apart.
func TestCAN18AnonymousFloodsAreToldApart(t *testing.T) {
	f := newFixture(t, WithMaxSessions(8), WithQuotaKey(func(r *http.Request) string { return r.Header.Get("X-Address") }))
	kept := f.initialize("X-Address: b")
	for range 20 {
		f.initialize("X-Address: a")
	}
	if !f.holds(strings.TrimPrefix(kept, "Mcp-Session-Id: ")) {
		t.Error("the session of another address gave way")
	}
}

// In 2025-11-25 a lost connection cancels nothing, so the session has to be there when the client comes back.
func TestCAN18ALostConnectionKeepsSessionAndCall(t *testing.T) {
	f := newFixture(t, WithMaxSessions(2), WithPriming(0))
	session := f.initialize()
	ctx, hangUp := context.WithCancel(t.Context())
	resp := f.do(f.request(http.MethodPost, callBody("1", "gate", "kept"), session).WithContext(ctx))
	<-f.began
	first, _ := f.events(resp).next()
	hangUp()
	resp.Body.Close()
	id := strings.TrimPrefix(session, "Mcp-Session-Id: ")
	for f.requests(id) > 0 {
		runtime.Gosched()
	}
	for range 10 {
		f.opened("")
	}
	if len(f.causes) > 0 || !f.holds(id) {
		t.Fatal("the session with a call in flight gave way")
	}
	f.release <- struct{}{}
	s := f.listen(session, "Last-Event-ID: "+first.id)
	if e := s.message(); field(e.data, "result", "structuredContent", "text") != `"kept"` {
		t.Errorf("answer %+v", e)
	}
	s.end()
	for f.requests(id) > 0 {
		runtime.Gosched()
	}
	for range 10 {
		f.opened("")
	}
	if f.holds(id) {
		t.Error("a session that nobody uses any more never gives way")
	}
}

// requests is how many HTTP requests a session has.
func (f *fixture) requests(session string) int {
	f.h.mu.Lock()
	defer f.h.mu.Unlock()
	s := f.h.roster.sessions[session]
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.open
}

// Many come, use, lose and end sessions; what the roster says is what there is.
func TestCAN03RosterIsExact(t *testing.T) {
	f := newFixture(t, WithMaxSessions(16))
	var workers sync.WaitGroup
	for w := range 8 {
		workers.Go(func() {
			for i := range 100 {
				principal := fmt.Sprint("p", (w+i)%3)
				id := f.opened(principal)
				if s := f.h.use(id, principal); s != nil {
					if i%4 == 0 {
						s.end(&inflight.Cause{Source: inflight.SourceDisconnect})
					}
					s.unuse()
				}
			}
		})
	}
	workers.Wait()
	f.h.mu.Lock()
	defer f.h.mu.Unlock()
	r, idle := &f.h.roster, 0
	for _, s := range r.sessions {
		if !s.idleAt.listed {
			t.Error("a session that nobody uses is not among the idle ones")
		}
	}
	for who, tn := range r.tenants {
		n := 0
		for s := tn.idle.first; s != nil; s = s.idleAt.after {
			n++
		}
		idle += n
		if tn.sessions != n || r.idle.All()[tn.position] != tn || tn.who != who {
			t.Errorf("%v: %d sessions, %d idle", who, tn.sessions, n)
		}
	}
	if idle != len(r.sessions) || r.idle.Len() != len(r.tenants) || len(r.sessions) > 16 {
		t.Errorf("%d idle of %d sessions, %d tenants", idle, len(r.sessions), len(r.tenants))
	}
}

// What is kept for clients that lost their connection is bounded over all sessions, and given back when they end.
func TestTSK28WhatSessionsKeepIsBounded(t *testing.T) {
	f := newFixture(t, WithPriming(0), WithReplayTotal(1<<20))
	text := strings.Repeat("x", 200<<10)
	var sessions []string
	for range 12 {
		session := f.initialize()
		id := strings.TrimPrefix(session, "Mcp-Session-Id: ")
		ctx, hangUp := context.WithCancel(t.Context())
		resp := f.do(f.request(http.MethodPost, callBody("1", "gate", text), session).WithContext(ctx))
		<-f.began
		f.events(resp).next()
		hangUp()
		resp.Body.Close()
		for f.requests(id) > 0 {
			runtime.Gosched()
		}
		f.release <- struct{}{}
		for f.calls(id) > 0 {
			runtime.Gosched()
		}
		sessions = append(sessions, session)
	}
	if got := f.h.kept.Load(); got == 0 || got > 1<<20+1<<19 { // one answer may be on its way
		t.Errorf("%d bytes are kept", got)
	}
	for _, session := range sessions {
		f.want(f.do(f.request(http.MethodDelete, "", session)), 204)
	}
	if got := f.h.kept.Load(); got != 0 {
		t.Errorf("%d bytes are still counted", got)
	}
}

// What waits for a listener counts, too.
func TestTSK28BacklogsCountInTheTotal(t *testing.T) {
	f := newFixture(t, WithReplayTotal(1<<20))
	frame := make([]byte, 300<<10)
	for range 12 {
		s := f.session(f.opened(""))
		if err := s.Write(rpc.ID{}, false, frame); err != nil {
			t.Fatal(err)
		}
	}
	held := 0
	f.h.mu.Lock()
	for _, s := range f.h.roster.sessions {
		s.mu.Lock()
		held += s.backlogged
		s.mu.Unlock()
	}
	f.h.mu.Unlock()
	if got := f.h.kept.Load(); got == 0 || got > 1<<20 || got != int64(held) {
		t.Errorf("%d bytes are kept, %d counted", held, got)
	}
	if err := f.h.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	if got := f.h.kept.Load(); got != 0 {
		t.Errorf("%d bytes are still counted", got)
	}
}

// What gave way to newer frames is not in memory any more.
func TestTSK28WhatABacklogDroppedIsFreed(t *testing.T) {
	f := newFixture(t, WithReplay(1<<10))
	s := f.session(f.opened(""))
	freed := make(chan struct{})
	large := make([]byte, 1<<20)
	runtime.AddCleanup(&large[0], func(struct{}) { close(freed) }, struct{}{})
	for _, frame := range [][]byte{large, make([]byte, 100)} {
		if err := s.sendToListener(frame); err != nil {
			t.Fatal(err)
		}
	}
	large = nil
	for range 100 {
		runtime.GC()
		select {
		case <-freed:
			return
		default:
			runtime.Gosched()
		}
	}
	t.Errorf("what gave way is kept beside %d bytes", s.backlogged)
}

// calls is how many requests of a session are not answered.
func (f *fixture) calls(session string) int {
	f.h.mu.Lock()
	defer f.h.mu.Unlock()
	s := f.h.roster.sessions[session]
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.active.size()
}

// What clients that are attached do not read is bounded over all sessions, one caller leaves something for others, and answers are
// not dropped.
func TestTSK28WhatAttachedClientsDoNotReadIsBounded(t *testing.T) {
	f := newFixture(t, WithReplayTotal(1<<20))
	frame := make([]byte, 32<<10)
	var streams []*stream
	var readers []uint64
	call := func(who string) *stream {
		s := f.session(f.opened(who))
		st := s.stream(rpc.StringID("1"))
		streams, readers = append(streams, st), append(readers, st.attach(-1))
		for range 16 {
			_ = s.Write(rpc.StringID("1"), false, frame)
		}
		return st
	}
	for range 12 {
		call("greedy")
	}
	if st := call("late"); st.behind.all == 0 {
		t.Error("nothing is left for another caller")
	}
	if err := f.session(f.opened("greedy")).sendToListener(frame); err != nil { // kept for a listener to come
		t.Error(err)
	}
	unread := 0
	for i, st := range streams {
		unread += st.behind.all
		_ = st.add(frame, true)
		b := st.take(readers[i])
		for b.more {
			b = st.take(readers[i])
		}
		if !b.ended || len(b.events) == 0 {
			t.Error("the answer was dropped")
		}
	}
	if used := int(f.h.unread.Used()); unread != used || used == 0 || used > 1<<20 {
		t.Errorf("%d bytes are unread, %d counted", unread, used)
	}
	for i, st := range streams {
		st.wrote(readers[i])
	}
	if n := f.h.unread.Used(); n != 0 {
		t.Errorf("%d bytes are still counted", n)
	}
}

// Beside 640 MiB of the server and its tasks, an endpoint has 352.
func TestTSK28BudgetsOfAnEndpoint(t *testing.T) {
	if o := defaults(); o.bodyTotal+int64(o.replayTotal)+defaultStreams*requestCost > 352<<20 {
		t.Errorf("bodies have %d bytes, sessions %d, and there are %d streams", o.bodyTotal, o.replayTotal, defaultStreams)
	}
}
