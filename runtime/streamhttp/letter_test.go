package streamhttp

// Sentences of the specification that bind a server over HTTP and that no official suite checks; see testdata/traceability.

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/mcpkiln/mcpkiln/runtime/internal/wiretest"
	"github.com/mcpkiln/mcpkiln/runtime/server"
	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

const initialize2025 = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`

// TestLET13TheVersionHeaderOfAHandshakeIsHeldAgainstWhatIsServed: basic/transports#protocol-version-header.
func TestLET13TheVersionHeaderOfAHandshakeIsHeldAgainstWhatIsServed(t *testing.T) {
	f := newFixture(t)
	for _, version := range []string{"bogus", "1900-01-01"} {
		resp := f.post(initialize2025, "MCP-Protocol-Version: "+version)
		if b := f.want(resp, 400, "protocol version"); field(b, "id") != "1" || resp.Header.Get("Mcp-Session-Id") != "" {
			t.Errorf("%q: %s", version, b)
		}
	}
	f.want(f.post(initialize2025, "MCP-Protocol-Version: 2025-11-25"), 200, `"protocolVersion":"2025-11-25"`)
	f.want(f.post(initialize2025), 200, `"protocolVersion":"2025-11-25"`)
}

// TestLET13GetIsAnsweredWithAStream: basic/transports#listening-for-messages-from-the-server, whatever the client had last.
func TestLET13GetIsAnsweredWithAStream(t *testing.T) {
	f := newFixture(t)
	session := f.initialize()
	s := f.events(f.post(callBody("1", "steps", "x"), session))
	<-f.began
	f.release <- struct{}{}
	s.message()
	answer := s.message()
	s.end()
	for _, last := range []string{answer.id, "r9.9", "l9.9", "nonsense"} {
		l := f.listen(session, "Last-Event-ID: "+last)
		if err := f.only().sendToListener([]byte(`{"n":1}`)); err != nil {
			t.Fatal(err)
		}
		if e := l.message(); e.data != `{"n":1}` {
			t.Errorf("after %s: %+v", last, e)
		}
	}
}

// TestLET13AStreamThatHasEndedBeginsWithItsPrimingEvent: basic/transports#sending-messages-to-the-server.
func TestLET13AStreamThatHasEndedBeginsWithItsPrimingEvent(t *testing.T) {
	h := &Endpoint{opts: defaults()}
	s := newSession(t.Context(), h, "id")
	s.primed = true
	st := s.newStream()
	reader := st.attach(-1)
	_ = st.add([]byte(`{"n":1}`), false)
	_ = st.add([]byte(`{"n":2}`), true)
	w := httptest.NewRecorder()
	if refused := s.respond(w, httptest.NewRequestWithContext(context.Background(), http.MethodPost, "/", nil), st, reader); refused != nil {
		t.Fatal(refused)
	}
	events := (&fixture{t: t}).events(w.Result())
	if e, _ := events.next(); e.id != "r1.0" || e.data != "" || e.retry != "1000" {
		t.Errorf("the stream begins with %+v", e)
	}
	for _, want := range []string{`{"n":1}`, `{"n":2}`} {
		if e := events.message(); e.data != want {
			t.Errorf("got %+v, want %s", e, want)
		}
	}
}

// TestLET13TheStreamOfAGetBeginsWithItsPrimingEvent, from which the client can go on: basic/transports#listening-for-messages-from-the-server
// has its end be like that of a POST. Clients of revisions without it get none.
func TestLET13TheStreamOfAGetBeginsWithItsPrimingEvent(t *testing.T) {
	f := newFixture(t)
	session := f.initialize()
	resp := f.do(f.request(http.MethodGet, "", session))
	l := f.events(resp)
	prime, _ := l.next()
	if id, ok := parseEventID(prime.id); !ok || !id.listener || id.number != 0 || prime.data != "" || prime.retry != "1000" {
		t.Errorf("the stream begins with %+v", prime)
	}
	s := f.only()
	if err := s.sendToListener([]byte(`{"n":1}`)); err != nil {
		t.Fatal(err)
	}
	first := l.message()
	resp.Body.Close()
	l = f.listen(session, "Last-Event-ID: "+prime.id) // as if the message had been lost with the connection
	if e, _ := l.next(); e != first || e.data != `{"n":1}` {
		t.Errorf("the stream goes on with %+v", e)
	}
	march := f.march()
	f.h.mu.Lock()
	older := f.h.roster.sessions[strings.TrimPrefix(march, "Mcp-Session-Id: ")]
	f.h.mu.Unlock()
	l = f.listen(march)
	if err := older.sendToListener([]byte(`{"n":2}`)); err != nil {
		t.Fatal(err)
	}
	if e, _ := l.next(); e.data != `{"n":2}` {
		t.Errorf("the stream of an older revision begins with %+v", e)
	}
}

// TestLET13ASessionHasTheMethodsOfItsRevisionAlone: basic/lifecycle#operation.
func TestLET13ASessionHasTheMethodsOfItsRevisionAlone(t *testing.T) {
	f := newFixture(t)
	session := f.initialize()
	for _, header := range [][]string{{session}, {session, "MCP-Protocol-Version: 2025-11-25"}} {
		f.want(f.post(`{"jsonrpc":"2.0","id":1,"method":"server/discover"}`, header...), 200, "-32601")
	}
}

// TestLET19AMessageWithoutAnyVersionIsAHeaderMismatch: basic/transports/streamable-http#protocol-version-header, where neither the header
// nor _meta says it; where the header does, what _meta lacks is a bad param.
func TestLET19AMessageWithoutAnyVersionIsAHeaderMismatch(t *testing.T) {
	srv, err := server.New(server.Definition{Runtime: server.Generation1, Revisions: []*wire.Revision{wiretest.Revision20260728()}})
	if err != nil {
		t.Fatal(err)
	}
	h := Handler(srv)
	for _, message := range []string{`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, initialize2025} {
		w := recorded(h, http.MethodPost, message, "")
		b := w.Body.String()
		if w.Code != 400 || field(b, "error", "code") != "-32020" || field(b, "error", "data", "supported") != `["2026-07-28"]` || field(b, "id") != "1" {
			t.Errorf("%s: %d %s", message, w.Code, b)
		}
	}
	_ = h.Close()
	_ = srv.Shutdown(context.Background())
}
