package client_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/client"
)

// The stream of a session is opened again less and less often if it ends at once with nothing on it, and soon if it lasts or brings something (LET13).
func TestLET13AStreamThatEndsAtOnceIsOpenedLessOften(t *testing.T) {
	for name, c := range map[string]struct {
		lasts       time.Duration
		brings      string
		least, most int // how often it is opened in an hour
	}{
		"ends at once":     {0, "", 60, 70},
		"lasts":            {30 * time.Second, "", 110, 120},
		"brings something": {0, "id: 1\ndata: \n\n", 3500, 3700},
		"is in a hurry":    {0, "retry: 0\nid: 1\ndata: \n\n", 7000, 7201},
	} {
		synctest.Test(t, func(t *testing.T) {
			opened := 0
			endpoint := client.HTTP("http://server.example/mcp")
			endpoint.Client = &http.Client{Transport: roundTrip(func(r *http.Request, m message) (*http.Response, error) {
				if r.Method == http.MethodGet {
					opened++
					resp, events := eventStream(r)
					go func() {
						_, _ = io.WriteString(events, c.brings)
						sleep(r.Context(), c.lasts)
						_ = events.Close()
					}()
					return resp, nil
				}
				w := httptest.NewRecorder()
				session(w, r, m, "s")
				return w.Result(), nil
			})}
			s := connect(t, endpoint, []client.Option{client.WithRevision("2025-11-25")})
			time.Sleep(time.Hour) // of the bubble's clock
			_ = s.Close()
			if opened < c.least || opened > c.most {
				t.Errorf("%s: opened %d times", name, opened)
			}
		})
	}
}
