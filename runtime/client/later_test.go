package client_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/client"
)

// later are errors that say nothing about a task, only that the server can not answer now; after is when it can, if it says so.
var later = map[string]struct {
	status int
	error  string
	after  time.Duration
}{
	"away":           {http.StatusOK, `{"code":-32603,"message":"tasks are not available now","data":{"retryAfterMs":20000}}`, 20 * time.Second},
	"limit":          {http.StatusOK, `{"code":-32600,"message":"limit reached","data":{"retryAfterMs":1500.5}}`, 1500 * time.Millisecond},
	"internal":       {http.StatusOK, `{"code":-32603,"message":"out of order"}`, 0},
	"503 and a body": {http.StatusServiceUnavailable, `{"code":-32000,"message":"busy"}`, 30 * time.Second},
	"429 and a body": {http.StatusTooManyRequests, `{"code":-32600,"message":"limit reached","data":{"retryAfterMs":100}}`, 30 * time.Second},
	"500 and a body": {http.StatusInternalServerError, `{"code":-32001,"message":"oh"}`, 30 * time.Second},
}

// answersLater is a server of a task t1 that asks, which answers the first requests of the method with an error of later.
func answersLater(t *testing.T, revision, method, why string, fails int, seen map[string]int) *client.Session {
	t.Helper()
	answered := false
	endpoint := client.HTTP("http://server.example/mcp")
	endpoint.Client = &http.Client{Transport: roundTrip(func(r *http.Request, m message) (*http.Response, error) {
		w := httptest.NewRecorder()
		seen[m.Method]++
		over := revision == "2025-11-25" || answered
		switch {
		case r.Method != http.MethodPost:
			return status(http.StatusMethodNotAllowed), nil
		case m.Method == method && seen[method] <= fails:
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Retry-After", "30")
			w.WriteHeader(later[why].status)
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":%s}`, m.ID, later[why].error)
		case m.Method == "server/discover":
			answer(w, m, `{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":`+taskOffers+`,"ttlMs":0,"cacheScope":"private"}`)
		case m.Method == "initialize":
			answer(w, m, `{"protocolVersion":"2025-11-25","capabilities":`+taskOffers+`,"serverInfo":{"name":"later","version":"1"}}`)
		case m.Method == "tasks/update":
			answered = true
			answer(w, m, `{"resultType":"complete"}`)
		case m.Method == "tasks/get" && over:
			answer(w, m, taskIs("complete", "completed", `,"result":{"content":[]}`))
		case m.Method == "tasks/get":
			answer(w, m, taskIs("complete", "input_required", `,"inputRequests":{"k":`+goodForm+`}`))
		case m.Method == "tasks/result":
			answer(w, m, `{"content":[]}`)
		case m.Method == "tools/call":
			answer(w, m, map[string]string{"2026-07-28": taskIs("task", "working", ""), "2025-11-25": `{"task":` + taskIs("", "working", "") + `}`}[revision])
		case m.Method == "tools/list":
			answer(w, m, `{"tools":[{"name":"x","inputSchema":{"type":"object"},"execution":{"taskSupport":"required"}}]}`)
		case m.Method == "tasks/cancel":
			answer(w, m, taskIs("complete", "cancelled", ""))
		default:
			return status(http.StatusAccepted), nil
		}
		return w.Result(), nil
	})}
	return connect(t, endpoint, []client.Option{client.WithRevision(revision), elicits(func(ctx context.Context, q *client.Question) (*client.Answer, error) {
		seen["asked"]++
		return accept(ctx, q)
	})})
}

// aboutTasks are the requests about a task, by revision.
var aboutTasks = map[string][]string{"2026-07-28": {"tasks/get", "tasks/update"}, "2025-11-25": {"tasks/get", "tasks/result"}}

// A task is followed on, and an answer sent again, when the server can not answer now; it is asked no sooner than it says.
func TestLET03ARequestAboutATaskIsSentAgainWhenTheServerSays(t *testing.T) {
	for revision, methods := range aboutTasks {
		for _, method := range methods {
			for why, c := range later {
				synctest.Test(t, func(t *testing.T) {
					seen := map[string]int{}
					s := answersLater(t, revision, method, why, 2, seen)
					began := time.Now()
					x, err := s.Start(t.Context(), "x", nil)
					if err != nil {
						t.Fatal(err)
					}
					_, err = x.Result(t.Context())
					if waited := time.Since(began); err != nil || waited < 2*c.after || waited > 2*c.after+time.Minute || seen[method] < 3 || seen["tasks/cancel"] > 0 || seen["asked"] > 1 {
						t.Errorf("%s, %s, %s: %v after %v, seen %v", revision, method, why, err, waited, seen)
					}
				})
			}
		}
	}
}

// A server that never can does not have the task cancelled: that says nothing about the task, which can be followed again.
func TestLET03ATaskGoesOnWhoseServerNeverAnswers(t *testing.T) {
	for revision, methods := range aboutTasks {
		for _, method := range methods {
			for _, why := range []string{"away", "503 and a body"} {
				synctest.Test(t, func(t *testing.T) {
					seen := map[string]int{}
					s := answersLater(t, revision, method, why, 1<<30, seen)
					x, err := s.Start(t.Context(), "x", nil, client.Timeout(time.Hour, 0))
					if err != nil {
						t.Fatal(err)
					}
					if _, err = x.Result(t.Context()); err == nil || seen["tasks/cancel"] > 0 {
						t.Errorf("%s, %s, %s: %v, seen %v", revision, method, why, err, seen)
					}
				})
			}
		}
	}
}

// A server can not have its task's state read without a pause.
func TestEXT22AnIntervalHasAFloor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, p := meetOffering(t, "2026-07-28", taskOffers)
		x := resume(t, s)
		began := time.Now()
		for range 11 {
			p.answer(p.expect("tasks/get"), taskIs("complete", "working", `,"pollIntervalMs":1`))
		}
		if took := time.Since(began); took < time.Second {
			t.Errorf("read 11 times in %v", took)
		}
		x.Detach()
	})
}
