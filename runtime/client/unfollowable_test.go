package client_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/client"
)

// unfollowable are answers to tasks/get after which a task can not be followed.
var unfollowable = map[string]string{
	"another task":   `"result":{"resultType":"complete","taskId":"t2","status":"working"}`,
	"unknown status": `"result":{"resultType":"complete","taskId":"t1","status":"future"}`,
	"no state":       `"result":[]`,
	"an error":       `"error":{"code":-32603,"message":"out of order"}`,
	"a server error": `"error":{"code":-32000,"message":"out of order"}`,
	"a limit":        `"error":{"code":-32029,"message":"rate limit"}`,
	"429":            `"error":{"code":429,"message":"rate limit"}`,
	"a state of 5":   `"result":5`,
}

// A task whose state the server can not tell goes on for whoever has its Ref, once its state was read a few times. A call has none, so its task is cancelled.
func TestTSK27ATaskWhoseStateCanNotBeRead(t *testing.T) {
	for _, revision := range withTasks {
		for why, answer := range unfollowable {
			for how, follow := range follows {
				synctest.Test(t, func(t *testing.T) {
					s, p := meetOffering(t, revision, taskOffers)
					p.offerTask(s)
					var cancelled, reads atomic.Int32
					go p.each(func(m message) {
						switch m.Method {
						case "tools/call":
							p.answer(m, map[string]string{"2026-07-28": taskIs("task", "working", ""), "2025-11-25": `{"task":` + taskIs("", "working", "") + `}`}[revision])
						case "tasks/get":
							reads.Add(1)
							p.send(`{"jsonrpc":"2.0","id":%s,%s}`, m.ID, answer)
						case "tasks/cancel":
							cancelled.Add(1)
							p.answer(m, taskIs("complete", "cancelled", ""))
						}
					})
					err := <-follow(t, s)
					sleep(t.Context(), time.Minute)
					want, says := int32(0), "the task may go on: Resume"
					if how == "a call" {
						want, says = 1, "the server is asked to cancel the task"
					}
					if reads.Load() != 4 || cancelled.Load() != want || err == nil || !strings.Contains(err.Error(), says) {
						t.Errorf("%s, %s, %s: %d reads, %d cancellations, %v", revision, how, why, reads.Load(), cancelled.Load(), err)
					}
				})
			}
		}
	}
}

// So is a task whose result the server refuses, though the task is not over.
func TestTSK27ATaskWhoseResultIsRefused(t *testing.T) {
	for how, follow := range follows {
		synctest.Test(t, func(t *testing.T) {
			s, p := meetOffering(t, "2025-11-25", taskOffers)
			p.offerTask(s)
			var cancelled atomic.Int32
			go p.each(func(m message) {
				switch m.Method {
				case "tools/call":
					p.answer(m, `{"task":`+taskIs("", "working", "")+`}`)
				case "tasks/get":
					p.answer(m, taskIs("", "input_required", ""))
				case "tasks/result":
					p.send(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32000,"message":"out of order"}}`, m.ID)
				case "tasks/cancel":
					cancelled.Add(1)
					p.answer(m, taskIs("complete", "cancelled", ""))
				}
			})
			err := <-follow(t, s)
			sleep(t.Context(), time.Minute)
			want, says := int32(0), "the task may go on: Resume"
			if how == "a call" {
				want, says = 1, "the server is asked to cancel the task"
			}
			if cancelled.Load() != want || err == nil || !strings.Contains(err.Error(), says) || !strings.Contains(err.Error(), "out of order") {
				t.Errorf("%s: %d cancellations, %v", how, cancelled.Load(), err)
			}
		})
	}
}

// While the server can not be reached, a task goes on for whoever has its Ref. A call has none, so its task is cancelled.
func TestTSK27ATaskWhoseServerCanNotBeReached(t *testing.T) {
	for how, want := range map[string]int32{"a call": 1, "Start": 0, "Resume": 0} {
		synctest.Test(t, func(t *testing.T) {
			s, cancelled := away(t)
			err := <-follows[how](t, s)
			sleep(t.Context(), time.Minute)
			var status *client.StatusError
			if !errors.As(err, &status) || cancelled.Load() != want {
				t.Errorf("%s: %v, %d cancellations", how, err, cancelled.Load())
			}
		})
	}
}

// away is a server of 2026-07-28 that can not tell the state of its task t1, and counts how often it is to cancel it.
func away(t *testing.T) (s *client.Session, cancelled *atomic.Int32) {
	t.Helper()
	endpoint, cancelled := client.HTTP("http://server.example/mcp"), new(atomic.Int32)
	endpoint.Client = &http.Client{Transport: roundTrip(func(_ *http.Request, m message) (*http.Response, error) {
		w := httptest.NewRecorder()
		switch m.Method {
		case "server/discover":
			answer(w, m, `{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":`+taskOffers+`,"ttlMs":0,"cacheScope":"private"}`)
		case "tools/call":
			answer(w, m, taskIs("task", "working", ""))
		case "tasks/get":
			w.WriteHeader(http.StatusServiceUnavailable)
		case "tasks/cancel":
			cancelled.Add(1)
			answer(w, m, `{"resultType":"complete"}`)
		}
		return w.Result(), nil
	})}
	s, err := client.Connect(t.Context(), endpoint)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s, cancelled
}
