package streamhttp

// Sentences of the specification that no rule of the ledger covers by itself; testdata/traceability/sentences names them.

import (
	"net/http"
	"strings"
	"testing"
)

// TestSessionMessagesAreOnOneStream: an answer is on the stream of its request alone, what belongs to no request on one listener,
// and no two events of a session have one id.
func TestSessionMessagesAreOnOneStream(t *testing.T) {
	f := newFixture(t)
	session := f.initialize()
	older, newer := f.listen(session), f.listen(session)
	call, other := f.events(f.post(callBody("1", "steps", "mine"), session)), f.events(f.post(callBody("2", "steps", "other"), session))
	ids := map[string]bool{}
	note := func(e event) event {
		if e.id == "" || ids[e.id] {
			t.Errorf("id %q", e.id)
		}
		ids[e.id] = true
		return e
	}
	for _, s := range []*events{call, other} {
		prime, _ := s.next()
		note(prime)
		note(s.message())
		<-f.began
	}
	if err := f.only().sendToListener([]byte(`{"n":1}`)); err != nil {
		t.Fatal(err)
	}
	if e := note(newer.message()); e.data != `{"n":1}` {
		t.Errorf("listener got %+v", e)
	}
	f.release <- struct{}{}
	f.release <- struct{}{}
	for s, want := range map[*events]string{call: `"mine"`, other: `"other"`} {
		if e := note(s.message()); field(e.data, "result", "structuredContent", "text") != want {
			t.Errorf("answer %+v", e)
		}
		s.end()
	}
	f.want(f.do(f.request(http.MethodDelete, "", session)), 204)
	older.end()
	newer.end()
}

func TestSessionIDsAreVisibleASCII(t *testing.T) {
	id := strings.TrimPrefix(newFixture(t).initialize(), "Mcp-Session-Id: ")
	if strings.ContainsFunc(id, func(r rune) bool { return r < 0x21 || r > 0x7e }) {
		t.Errorf("%q", id)
	}
}

// TestExchangeIgnoresTheHeadersOfSessions: a client may still send what its other servers asked for.
func TestExchangeIgnoresTheHeadersOfSessions(t *testing.T) {
	f := newFixture(t)
	resp := f.post(callBody2026("1", "echo", "x"), append(headers2026("tools/call", "echo"), "Mcp-Session-Id: unknown", "Last-Event-ID: r1.1")...)
	if f.want(resp, 200, `"x"`); resp.Header.Get("Mcp-Session-Id") != "" {
		t.Errorf("session %q", resp.Header.Get("Mcp-Session-Id"))
	}
}
