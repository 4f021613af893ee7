package streamhttp

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/internal/wiretest"
	"github.com/mcpkiln/mcpkiln/runtime/server"
	"github.com/mcpkiln/mcpkiln/runtime/task"
	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

var sealKey = []byte("a key of thirty-two bytes, or so")

// newReplica is a process of its own, which has the key and the store of the others.
func newReplica(t *testing.T, store task.Store, key []byte, opts ...Option) *fixture {
	f := &fixture{t: t, began: make(chan struct{}, 64), release: make(chan struct{}), causes: make(chan error, 64)}
	tools := f.tools()
	later := tool("later", f.gate)
	later.Task.Support = server.TaskOptional
	who := tool("who", func(_ context.Context, call *server.Call, _ *input) (*output, error) {
		client := call.Client()
		return &output{text: fmt.Sprintf("%s %s %v %s %q", client.Name, client.Version, client.Capabilities, call.Revision(), call.Session())}, nil
	})
	srv, err := server.New(server.Definition{
		Name: "test", Version: "1", Runtime: server.Generation1, Tools: append(tools, later, who),
		Revisions: []*wire.Revision{wiretest.Revision20260728(), wiretest.Revision20251125(), wireMarch()},
	}, server.WithGrace(time.Second), server.WithSealKeys(key), server.WithTaskStore(store))
	if err != nil {
		t.Fatal(err)
	}
	f.srv, f.h = srv, Handler(srv, opts...)
	f.ts = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.h.ServeHTTP(w, r.WithContext(server.WithPrincipal(r.Context(), r.Header.Get("X-User"))))
	}))
	t.Cleanup(f.shutDown)
	return f
}

// TestLET18AnyReplicaServesASession: calls and tasks, as the client that the handshake was made with.
func TestLET18AnyReplicaServesASession(t *testing.T) {
	for name, user := range map[string][]string{"with an identity": {"X-User: ada"}, "without one": nil} {
		t.Run(name, func(t *testing.T) {
			store := task.NewMemory()
			a, b := newReplica(t, store, sealKey), newReplica(t, store, sealKey)
			session := append(user, a.initialize(user...))
			b.want(b.post(callBody("1", "who", ""), session...), 200, `"c 1 [elicitation`, `2025-11-25`)

			created := b.want(b.post(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"later","arguments":{"text":"done"},"task":{}}}`, session...), 200, `"taskId"`)
			<-b.began
			id := field(created, "result", "task", "taskId")
			about := func(method string) string {
				return `{"jsonrpc":"2.0","id":3,"method":"` + method + `","params":{"taskId":` + id + `}}`
			}
			a.want(a.post(about("tasks/get"), session...), 200, `"working"`)
			b.release <- struct{}{}
			a.want(a.post(about("tasks/result"), session...), 200, `"done"`)
		})
	}
}

// TestLET18AReplicaAsksAndCancels: whoever has the session serves all of it, also after the process that opened it is gone.
func TestLET18AReplicaAsksAndCancels(t *testing.T) {
	store := task.NewMemory()
	a, b := newReplica(t, store, sealKey), newReplica(t, store, sealKey)
	session := a.initialize()
	if err := a.h.Shutdown(context.Background()); err != nil {
		t.Fatal(err)
	}
	listener := b.listen(session)
	call := b.events(b.post(callBody("1", "ask", ""), session))
	question := call.message()
	id := field(question.data, "id")
	if field(question.data, "method") != `"elicitation/create"` || len(id) < 8 {
		t.Fatalf("asked %s: its id may be one of the other process", question.data)
	}
	b.want(b.post(`{"jsonrpc":"2.0","id":`+id+`,"result":{"action":"accept","content":{"text":"yes"}}}`, session), 202)
	if answer := call.message(); !strings.Contains(answer.data, "accept yes") {
		t.Errorf("answer %s", answer.data)
	}
	b.post(callBody("2", "hang", ""), session, "Accept: application/json, text/event-stream")
	<-b.began
	b.want(b.post(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}`, session), 202)
	<-b.causes
	_ = listener
}

// TestLET18ASealedIDIsGoodForItsOwnerAlone: whatever else it is, the caller has no such session.
func TestLET18ASealedIDIsGoodForItsOwnerAlone(t *testing.T) {
	store := task.NewMemory()
	a := newReplica(t, store, sealKey)
	session := a.initialize("X-User: ada")
	id := strings.TrimPrefix(session, "Mcp-Session-Id: ")
	ping := `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	raw, err := base64.RawURLEncoding.DecodeString(id)
	if err != nil {
		t.Fatalf("id %q: %v", id, err)
	}
	raw[len(raw)-1] ^= 1
	changed := base64.RawURLEncoding.EncodeToString(raw)
	for name, c := range map[string]struct {
		key []byte
		id  string
		who string
	}{
		"another key":        {[]byte("another key of thirty-two bytes."), id, "ada"},
		"another principal":  {sealKey, id, "eve"},
		"nobody":             {sealKey, id, ""},
		"a changed id":       {sealKey, changed, "ada"},
		"a guess":            {sealKey, "unknown", "ada"},
		"a long id":          {sealKey, strings.Repeat("A", 8<<10), "ada"},
		"an id with a space": {sealKey, id + " " + id, "ada"},
	} {
		b := newReplica(t, store, c.key)
		headers := []string{"Mcp-Session-Id: " + c.id, "X-User: " + c.who}
		b.want(b.post(ping, headers...), 404, "no such session")
		b.want(b.do(b.request(http.MethodGet, "", headers...)), 404)
		if c.id == id {
			b.want(b.do(b.request(http.MethodDelete, "", headers...)), 404)
		}
		if n := len(b.h.roster.sessions); n != 0 {
			t.Errorf("%s: %d sessions", name, n)
		}
	}
	a.want(a.post(ping, session, "X-User: eve"), 404)
	newReplica(t, store, sealKey).want(a.post(ping, session, "X-User: ada"), 200)
}

// TestSealedIDOutlivesItsKey as long as the key is among those that open.
func TestSealedIDOutlivesItsKey(t *testing.T) {
	old := newServer(t, nil, server.WithSealKeys(sealKey))
	rotated := newServer(t, nil, server.WithSealKeys([]byte("a newer key of thirty-two bytes."), sealKey))
	var h [2]*Endpoint
	for i, srv := range []*server.Server{old, rotated} {
		h[i] = Handler(srv)
		t.Cleanup(func() {
			h[i].Shutdown(context.Background())
			srv.Shutdown(context.Background())
		})
	}
	send := func(h *Endpoint, body, session string) *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		r := httptest.NewRequest(http.MethodPost, "http://localhost/mcp", strings.NewReader(body))
		r.Header = http.Header{"Content-Type": {typeJSON}, headerSession: {session}}
		if session == "" {
			r.Header.Del(headerSession)
		}
		h.ServeHTTP(w, r)
		return w
	}
	id := send(h[0], initializeBody, "").Header().Get(headerSession)
	if w := send(h[1], `{"jsonrpc":"2.0","id":1,"method":"ping"}`, id); w.Code != http.StatusOK {
		t.Errorf("status %d: %s", w.Code, w.Body)
	}
}

// TestSealedIDExpires: another process does not take it any more, and who has the session goes on.
func TestSealedIDExpires(t *testing.T) {
	store := task.NewMemory()
	a, b := newReplica(t, store, sealKey, WithSessionLifetime(0)), newReplica(t, store, sealKey)
	session := a.initialize()
	ping := `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	b.want(b.post(ping, session), 404)
	a.want(a.post(ping, session), 200)
}

// TestTSK28DeletedSessionIsNotAdopted by a process that was told of its end; its tasks end with it.
func TestTSK28DeletedSessionIsNotAdopted(t *testing.T) {
	store := task.NewMemory()
	a, b := newReplica(t, store, sealKey), newReplica(t, store, sealKey)
	session := a.initialize()
	a.want(a.post(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"later","arguments":{"text":"x"},"task":{}}}`, session), 200, `"taskId"`)
	<-a.began
	for _, f := range []*fixture{a, b} { // b did not have it
		f.want(f.do(f.request(http.MethodDelete, "", session)), 204)
		f.want(f.post(`{"jsonrpc":"2.0","id":1,"method":"ping"}`, session), 404)
	}
	<-a.causes
}

// TestIdleSealedSessionGoesOn: it takes no room while it is not used, and its anonymous tasks live on.
func TestIdleSealedSessionGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := newServer(t, nil, server.WithSealKeys(sealKey))
		h := Handler(srv, WithIdleTimeout(time.Minute))
		do := func(body, session string) *httptest.ResponseRecorder {
			w := httptest.NewRecorder()
			r := httptest.NewRequest(http.MethodPost, "http://localhost/mcp", strings.NewReader(body))
			r.Header.Set("Content-Type", typeJSON)
			if session != "" {
				r.Header.Set(headerSession, session)
			}
			h.ServeHTTP(w, r)
			return w
		}
		id := do(initializeBody, "").Header().Get(headerSession)
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		h.mu.Lock()
		n := len(h.roster.sessions)
		h.mu.Unlock()
		if n != 0 {
			t.Errorf("%d sessions after they were idle", n)
		}
		if w := do(`{"jsonrpc":"2.0","id":1,"method":"ping"}`, id); w.Code != http.StatusOK {
			t.Errorf("status %d: %s", w.Code, w.Body)
		}
		if err := h.Shutdown(context.Background()); err != nil {
			t.Error(err)
		}
		if err := srv.Shutdown(context.Background()); err != nil {
			t.Error(err)
		}
	})
}

// TestSealedIDIsShortAndVisible, whatever the client says of itself.
func TestSealedIDIsShortAndVisible(t *testing.T) {
	f := newReplica(t, task.NewMemory(), sealKey)
	long := strings.Replace(initializeBody, `"name":"c","version":"1"`, `"name":"`+strings.Repeat(`\u0001`, 4000)+`","version":"`+strings.Repeat(`\u0001`, 4000)+`"`, 1)
	for _, body := range []string{initializeBody, long} {
		id := f.post(body).Header.Get("Mcp-Session-Id")
		if len(id) < 26 || len(id) > 2<<10 || strings.Trim(id, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_") != "" {
			t.Errorf("id of %d bytes: %.80q", len(id), id)
		}
		f.want(f.post(callBody("1", "who", ""), "Mcp-Session-Id: "+id), 200)
	}
}

// TestManyRequestsAdoptASessionOnce: they come at once to a process that does not have it.
func TestManyRequestsAdoptASessionOnce(t *testing.T) {
	store := task.NewMemory()
	a, b := newReplica(t, store, sealKey), newReplica(t, store, sealKey)
	session := a.initialize()
	done := make(chan string, 20)
	for i := range 20 {
		go func() {
			resp, err := b.ts.Client().Do(b.request(http.MethodPost, callBody(fmt.Sprint(i), "echo", "x"), session))
			if err != nil {
				done <- err.Error()
				return
			}
			defer resp.Body.Close()
			done <- resp.Status + body(resp)
		}()
	}
	for range 20 {
		if got := <-done; !strings.HasPrefix(got, "200 OK{") {
			t.Error(got)
		}
	}
	b.h.mu.Lock()
	defer b.h.mu.Unlock()
	if n := len(b.h.roster.sessions); n != 1 {
		t.Errorf("%d sessions", n)
	}
}

// TestEndedIDsAreBounded: the oldest is forgotten.
func TestEndedIDsAreBounded(t *testing.T) {
	var e endedIDs
	for i := range maxEnded + 5 {
		e.add(fmt.Sprint(i))
		e.add(fmt.Sprint(i))
	}
	if len(e.known) != maxEnded || len(e.ring) != maxEnded || e.has("4") || !e.has("5") || !e.has(fmt.Sprint(maxEnded+4)) {
		t.Errorf("%d known, %d in order", len(e.known), len(e.ring))
	}
}
