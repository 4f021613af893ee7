package client_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/client"
)

// A server that is replaced by one of other revisions says so to every request from then on: the session ends, so that its host connects again.
func TestREV02ASessionEndsWhoseRevisionTheServerRefuses(t *testing.T) {
	for supported, want := range map[string]string{
		`{"supported":["2025-11-25"],"requested":"2026-07-28"}`: "does not speak its protocol revision 2026-07-28 any more; this side speaks 2026-07-28, the server 2025-11-25",
		`{"supported":["2026-07-28"],"requested":"x"}`:          "refuses what it says it speaks: 2026-07-28",
		`null`: "this side speaks 2026-07-28, the server another one",
	} {
		s, p := meet(t, "2026-07-28")
		other := start(t.Context(), s, "other")
		p.expect("tools/call")
		call := start(t.Context(), s, "x")
		m := p.expect("tools/call")
		p.send(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32022,"message":"?","data":%s}}`, m.ID, supported)
		_, later := s.CallTool(t.Context(), "x", nil)
		<-s.Done()
		for what, err := range map[string]error{"the call": (<-call).err, "another": (<-other).err, "a later one": later, "the session": s.Err()} {
			var version *client.VersionError
			if !errors.As(err, &version) {
				t.Errorf("%s: %v", what, err)
				continue
			}
			has(t, err.Error(), want)
		}
	}
}

// A call that begins while the session is lost ends, too.
func TestCAN19ACallThatBeginsWhileTheSessionIsLostEnds(t *testing.T) {
	each(t, func(t *testing.T, revision string) {
		s, _ := meet(t, revision)
		_, err := s.CallTool(t.Context(), "x", nil, client.Timeout(0, 0), client.LostMeanwhile(s, errors.New("gone")))
		if lost := (*client.TransportError)(nil); !errors.As(err, &lost) {
			t.Errorf("%v, want a *TransportError", err)
		}
	})
}

// Over HTTP, a new connection finds the revision that both sides have now.
func TestREV02ANewSessionFindsWhatTheServerSpeaksNow(t *testing.T) {
	older := false
	endpoint := client.HTTP("https://example.com/mcp")
	endpoint.Client = &http.Client{Transport: roundTrip(func(r *http.Request, m message) (*http.Response, error) {
		w := httptest.NewRecorder()
		switch {
		case m.ID == nil:
			return status(http.StatusAccepted), nil
		case m.Method == "initialize":
			answer(w, m, `{"protocolVersion":"2025-11-25","capabilities":`+offers+`,"serverInfo":{"name":"x","version":"1"}}`)
		case older:
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32022,"message":"?","data":{"supported":["2025-11-25"],"requested":"2026-07-28"}}}`, m.ID)
		default:
			answer(w, m, `{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":`+offers+`,"ttlMs":0,"cacheScope":"private"}`)
		}
		return w.Result(), nil
	})}
	connect := func() *client.Session {
		s, err := client.Connect(t.Context(), endpoint)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close() })
		return s
	}
	s := connect()
	older = true
	_, err := s.CallTool(t.Context(), "x", nil)
	if version := (*client.VersionError)(nil); !errors.As(err, &version) || version.Used != "2026-07-28" {
		t.Fatalf("%v", err)
	}
	has(t, err.Error(), "connect again")
	<-s.Done()
	if s := connect(); s.Revision() != "2025-11-25" {
		t.Errorf("revision %s", s.Revision())
	}
}

// lateTimer is a context whose timer is late.
type lateTimer struct {
	context.Context
	end time.Time
}

func (c lateTimer) Deadline() (time.Time, bool) { return c.end, true }

// A server that lets the whole time pass during discovery gets no handshake, though the timer of the request is first.
func TestREV02NoHandshakeBeginsWhenTheTimeIsOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		endpoint := client.HTTP("http://server.example/mcp")
		endpoint.Client = &http.Client{Transport: roundTrip(func(r *http.Request, m message) (*http.Response, error) {
			if m.Method == "initialize" {
				t.Error("a handshake has begun")
			}
			<-r.Context().Done()
			return nil, r.Context().Err()
		})}
		_, err := client.Connect(lateTimer{ctx, time.Now().Add(time.Second)}, endpoint, client.WithTimeout(time.Second, time.Second))
		if err == nil {
			t.Error("there is a session")
		}
	})
}
