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

// Such a person's time does not count in the maximum of a call that has become a task, whatever request about the task has to wait, and in none that is
// not about it (CAN16, CAN28).
func TestCAN16CAN28TheMaximumOfATaskWaitsForAPerson(t *testing.T) {
	for _, method := range []string{"tasks/get", "tasks/result", "tasks/list"} {
		synctest.Test(t, func(t *testing.T) {
			asked := atomic.Bool{}
			endpoint := client.HTTP("http://server.example/mcp")
			endpoint.Client = &http.Client{Transport: roundTrip(func(r *http.Request, m message) (*http.Response, error) {
				w := httptest.NewRecorder()
				if m.Method == method && !asked.Swap(true) {
					asking, done, _ := client.Asking(r.Context())
					sleep(asking, 3*time.Minute)
					done()
				}
				switch m.Method {
				case "initialize":
					answer(w, m, `{"protocolVersion":"2025-11-25","capabilities":{"tools":{},"tasks":{"list":{},"requests":{"tools":{"call":{}}}}},"serverInfo":{"name":"guarded","version":"1"}}`)
				case "tools/list":
					answer(w, m, `{"tools":[{"name":"x","inputSchema":{"type":"object"},"execution":{"taskSupport":"required"}}]}`)
				case "tools/call":
					answer(w, m, `{"task":{"taskId":"t1",`+moments+`,"ttl":null,"pollInterval":1000,"status":"working"}}`)
				case "tasks/get":
					state := "completed"
					if method == "tasks/list" {
						state = "working"
					}
					answer(w, m, `{"taskId":"t1",`+moments+`,"ttl":null,"pollInterval":1000,"status":"`+state+`"}`)
				case "tasks/result":
					answer(w, m, `{"content":[{"type":"text","text":"here"}]}`)
				case "tasks/list":
					answer(w, m, `{"tasks":[]}`)
				case "":
					return status(http.StatusMethodNotAllowed), nil
				default:
					return status(http.StatusAccepted), nil
				}
				return w.Result(), nil
			})}
			s := connect(t, endpoint, []client.Option{client.WithRevision("2025-11-25")})
			for _, err := range s.ListTools(t.Context()) {
				if err != nil {
					t.Fatal(err)
				}
			}
			began := time.Now()
			if method == "tasks/list" {
				go func() {
					for range s.ListTasks(t.Context()) {
					}
				}()
			}
			r, err := s.CallTool(t.Context(), "x", nil, client.Timeout(time.Minute, 90*time.Second))
			took := time.Since(began)
			if counts := method == "tasks/list"; counts != (err != nil) || counts == (took > 3*time.Minute) || !counts && r.Text() != "here" {
				t.Errorf("%s: %v after %v", method, err, took)
			}
		})
	}
}
