package client_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/client"
)

// A person who is asked before the request for a task's result can be sent has the time for that, and is asked once, whether the task waits or is over (CAN28,
// TSK27).
func TestCAN28TSK27TheRequestForAResultWaitsForAPerson(t *testing.T) {
	for _, state := range []string{"input_required", "completed"} {
		synctest.Test(t, func(t *testing.T) {
			var asked atomic.Int32
			endpoint := client.HTTP("http://server.example/mcp")
			endpoint.Client = &http.Client{Transport: roundTrip(func(r *http.Request, m message) (*http.Response, error) {
				w := httptest.NewRecorder()
				switch m.Method {
				case "initialize":
					answer(w, m, `{"protocolVersion":"2025-11-25","capabilities":`+taskOffers+`,"serverInfo":{"name":"guarded","version":"1"}}`)
				case "tasks/get":
					answer(w, m, `{"taskId":"t1",`+moments+`,"ttl":null,"pollInterval":1000,"status":"`+state+`"}`)
				case "tasks/result":
					asked.Add(1)
					asking, done, _ := client.Asking(r.Context())
					sleep(asking, 3*time.Minute)
					err := context.Cause(asking)
					if done(); err != nil {
						return nil, err
					}
					time.Sleep(2 * time.Second) // of the bubble's clock
					answer(w, m, `{"content":[{"type":"text","text":"here"}]}`)
				case "":
					return status(http.StatusMethodNotAllowed), nil
				default:
					return status(http.StatusAccepted), nil
				}
				return w.Result(), nil
			})}
			s := connect(t, endpoint, []client.Option{client.WithRevision("2025-11-25"), client.WithTimeout(time.Minute, 0)})
			ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
			defer cancel()
			r, err := resume(t, s).Result(ctx)
			if err != nil || r.Text() != "here" || asked.Load() != 1 {
				t.Errorf("%s: %v, asked %d times", state, err, asked.Load())
			}
		})
	}
}
