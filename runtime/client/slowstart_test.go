package client_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/client"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
)

// discovered is the result of a discovery.
const discovered = `{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{},"ttlMs":0,"cacheScope":"private"}`

// TestREV02AServerThatStartsSlowlyIsReached has servers without a handshake that answer a discovery after the handshake was sent.
func TestREV02AServerThatStartsSlowlyIsReached(t *testing.T) {
	const refusal = `{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"unknown method"}}`
	for name, serve := range map[string]func(p *peer, discover, initialize message){
		"initialize unanswered": func(p *peer, discover, _ message) { p.answer(discover, discovered) },
		"initialize refused afterwards": func(p *peer, discover, initialize message) {
			p.answer(discover, discovered)
			p.send(refusal, initialize.ID)
		},
		"initialize refused before": func(p *peer, discover, initialize message) {
			p.send(refusal, initialize.ID)
			time.Sleep(20 * time.Second)
			p.answer(discover, discovered)
		},
		"another error before": func(p *peer, discover, initialize message) {
			p.send(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32602,"message":"no"}}`, initialize.ID)
			time.Sleep(time.Second)
			p.answer(discover, discovered)
		},
		"the version refused": func(p *peer, _, initialize message) {
			p.send(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32022,"message":"no","data":{"supported":["2026-07-28"],"requested":"2025-11-25"}}}`, initialize.ID)
			p.answer(p.expect("server/discover"), discovered)
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ours, theirs := rpc.Pipe()
				p := &peer{t: t, conn: theirs}
				defer theirs.Close()
				served := make(chan struct{})
				go func() {
					defer close(served)
					serve(p, p.expect("server/discover"), p.expect("initialize"))
				}()
				s, err := client.Connect(t.Context(), client.Conn(ours))
				if err != nil {
					t.Fatal(err)
				}
				defer s.Close()
				<-served
				if s.Revision() != "2026-07-28" {
					t.Errorf("revision %s", s.Revision())
				}
			})
		})
	}
}

// TestREV02AHandshakeIsUsedThoughTheDiscoveryIsRefusedLate has a server of older revisions that starts slowly.
func TestREV02AHandshakeIsUsedThoughTheDiscoveryIsRefusedLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ours, theirs := rpc.Pipe()
		p := &peer{t: t, conn: theirs}
		defer theirs.Close()
		go func() {
			discover, initialize := p.expect("server/discover"), p.expect("initialize")
			p.send(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"unknown method"}}`, discover.ID)
			p.answer(initialize, `{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"old","version":"1"}}`)
			p.expect("notifications/initialized")
		}()
		s, err := client.Connect(t.Context(), client.Conn(ours))
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		synctest.Wait() // the server has read all
		if s.Revision() != "2025-11-25" {
			t.Errorf("revision %s", s.Revision())
		}
	})
}

func TestREV02AServerThatAnswersNeitherIsNamedTheRemedy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ours, theirs := rpc.Pipe()
		p := &peer{t: t, conn: theirs}
		defer theirs.Close()
		go func() {
			p.expect("server/discover")
			p.send(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32000,"message":"no key"}}`, p.expect("initialize").ID)
		}()
		began := time.Now()
		_, err := client.Connect(t.Context(), client.Conn(ours))
		var answer *client.Error
		if !errors.As(err, &answer) || answer.Message != "no key" {
			t.Fatalf("%v", err)
		}
		has(t, err.Error(), "WithProbe", "WithRevision")
		var with *client.RemedyError
		if !errors.As(err, &with) || with.Remedy != client.NameRevision || strings.Contains(with.Err.Error(), "With") {
			t.Errorf("%#v", with)
		}
		if took := time.Since(began); took != 4*time.Second {
			t.Errorf("it took %v", took)
		}
	})
}

// TestREV02ABusyServerHasNotRefusedToBegin has messages in responses whose status says that the server is busy.
func TestREV02ABusyServerHasNotRefusedToBegin(t *testing.T) {
	for _, status := range []int{http.StatusTooManyRequests, http.StatusInternalServerError, http.StatusServiceUnavailable} {
		for _, opts := range [][]client.Option{nil, {client.WithRevision("2025-11-25")}} {
			requests := 0
			ts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				requests++
				w.Header().Set("Content-Type", "application/json")
				w.Header().Set("Retry-After", "7")
				w.WriteHeader(status)
				_, _ = w.Write([]byte(`{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"later"}}`))
			}))
			_, err := client.Connect(context.Background(), client.HTTP(ts.URL), opts...)
			ts.Close()
			var busy *client.StatusError
			if !errors.As(err, &busy) || busy.Status != status || busy.RetryAfter != 7*time.Second {
				t.Errorf("status %d: %v", status, err)
				continue
			}
			has(t, err.Error(), "later")
			if requests != 1 {
				t.Errorf("status %d: %d requests", status, requests)
			}
		}
	}
}
