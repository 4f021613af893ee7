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
	"github.com/mcpkiln/mcpkiln/runtime/inflight"
)

// The time in which a person is asked before the request for a subscription is sent does not count, and an acknowledged one has no timeout (CAN28).
func TestCAN28ASubscriptionWaitsForAPerson(t *testing.T) {
	for _, acknowledges := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			endpoint := client.HTTP("http://server.example/mcp")
			endpoint.Client = &http.Client{Transport: roundTrip(func(r *http.Request, m message) (*http.Response, error) {
				if m.Method == "server/discover" {
					w := httptest.NewRecorder()
					answer(w, m, `{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":`+offers+`,"ttlMs":0,"cacheScope":"private"}`)
					return w.Result(), nil
				}
				asking, done, ok := client.Asking(r.Context())
				if sleep(asking, 7*time.Minute); !ok || asking.Err() != nil {
					t.Errorf("asking %v ended with %v", ok, context.Cause(asking))
				}
				done()
				resp, events := eventStream(r)
				if acknowledges {
					go fmt.Fprintf(events, "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/subscriptions/acknowledged\",\"params\":{\"notifications\":{\"toolsListChanged\":true},\"_meta\":{\"io.modelcontextprotocol/subscriptionId\":%s}}}\n\n", m.ID)
				}
				return resp, nil
			})}
			s := connect(t, endpoint, []client.Option{client.WithRevision("2026-07-28"), client.WithTimeout(time.Minute, 2*time.Minute)})
			began := time.Now()
			sub, err := s.Listen(t.Context(), client.Filter{Tools: true})
			if acknowledges {
				if err != nil || !about(time.Since(began), 7*time.Minute) {
					t.Fatalf("%v after %v", err, time.Since(began))
				}
				time.Sleep(time.Hour) // of the bubble's clock
				if sub.Err() != nil {
					t.Error(sub.Err())
				}
				return
			}
			var cause *client.Cause
			if !errors.As(err, &cause) || cause.Source != inflight.SourceTimeout || !about(time.Since(began), 8*time.Minute) {
				t.Errorf("%v after %v", err, time.Since(began))
			}
			has(t, fmt.Sprint(err), "not acknowledged after 1m0s")
		})
	}
}
