package streamhttp

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// The timeouts of an http.Server are for whole requests. A call that takes longer is answered all the same, and what is refused or accepted late has its
// status, over HTTP/2, too, where they strike without a write (CAN18).
func TestCAN18TheTimeoutsOfTheHTTPServerEndNothing(t *testing.T) {
	for _, protocol := range []string{"HTTP/1.1", "HTTP/2.0"} {
		for name, opts := range map[string][]Option{"defaults": nil, "writes without a limit": {WithWriteTimeout(0)}, "bodies without a limit": {WithBodyTimeout(0)}} {
			t.Run(protocol+", "+name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { outlast(t, protocol, opts) })
			})
		}
	}
}

func outlast(t *testing.T, protocol string, opts []Option) {
	const limit = 300 * time.Millisecond
	l := newPipes()
	f := newFixtureOn(t, func(h http.Handler) *httptest.Server {
		ts := l.server(h)
		ts.Config.ReadTimeout, ts.Config.WriteTimeout = limit, limit
		ts.Config.Protocols = only(protocol)
		return ts
	}, opts...)
	transport := f.ts.Client().Transport.(*http.Transport)
	transport.DialContext, transport.Protocols = l.dial, only(protocol)
	id := f.post(initializeBody).Header.Get("Mcp-Session-Id")
	session := []string{"Mcp-Session-Id: " + id, "MCP-Protocol-Version: 2025-11-25"}
	late := func(body string, headers ...string) *http.Response {
		r := f.request(http.MethodPost, "", headers...)
		from, to := io.Pipe()
		r.Body, r.ContentLength = from, int64(len(body))
		time.AfterFunc(2*limit, func() {
			_, _ = io.WriteString(to, body)
			_ = to.Close()
		})
		return f.do(r)
	}
	for what, got := range map[string]struct {
		resp *http.Response
		want int
	}{
		"a notification": {late(`{"jsonrpc":"2.0","method":"notifications/initialized"}`, session...), http.StatusAccepted},
		"no JSON":        {late(`{`, session...), http.StatusBadRequest},
		"no session":     {late(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, "Mcp-Session-Id: none", "MCP-Protocol-Version: 2025-11-25"), http.StatusNotFound},
	} {
		if got.resp.StatusCode != got.want || got.resp.Proto != protocol {
			t.Errorf("%s: %s %s", what, got.resp.Proto, got.resp.Status)
		}
	}
	time.AfterFunc(20*limit, func() { close(f.release) })
	calls := make(chan string, 2)
	for _, r := range []*http.Request{
		f.request(http.MethodPost, callBody("2", "gate", "a"), session...),
		f.request(http.MethodPost, callBody2026("2", "gate", "a"), headers2026("tools/call", "gate")...),
	} {
		go func() {
			resp, err := f.ts.Client().Do(r)
			if err != nil {
				calls <- err.Error()
				return
			}
			b, err := io.ReadAll(resp.Body)
			calls <- fmt.Sprint(string(b), err)
		}()
	}
	for range 2 {
		if got := <-calls; !strings.Contains(got, `"result":`) || !strings.HasSuffix(got, "<nil>") {
			t.Error(got)
		}
	}
}

func only(protocol string) *http.Protocols {
	p := new(http.Protocols)
	p.SetHTTP1(protocol == "HTTP/1.1")
	p.SetUnencryptedHTTP2(protocol == "HTTP/2.0")
	return p
}
