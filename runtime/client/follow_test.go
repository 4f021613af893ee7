package client_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/client"
	"github.com/mcpkiln/mcpkiln/runtime/inflight"
)

// taskIs is what a peer says of the task t1.
func taskIs(kind, status, more string) string {
	return fmt.Sprintf(`{"resultType":%q,"taskId":"t1","status":%q,%s,"ttlMs":null%s}`, kind, status, moments, more)
}

// An interval that no clock can hold is neither a tight loop nor a wait for ever.
func TestEXT22AnIntervalOfNonsenseIsBounded(t *testing.T) {
	for _, interval := range []string{"0", "-1", "-1e300", "1e300", "9223372036854"} {
		synctest.Test(t, func(t *testing.T) {
			s, p := meetOffering(t, "2026-07-28", taskOffers, client.WithTimeout(time.Minute, 0))
			done := start(t.Context(), s, "x")
			p.answer(p.expect("tools/call"), taskIs("task", "working", `,"pollIntervalMs":`+interval))
			for range 3 {
				began := time.Now()
				m := p.expect("tasks/get")
				if waited := time.Since(began); waited < time.Second || waited > 27*time.Hour {
					t.Errorf("%s: asked after %v", interval, waited)
				}
				p.answer(m, taskIs("complete", "working", `,"pollIntervalMs":`+interval))
			}
			p.answer(p.expect("tasks/get"), taskIs("complete", "completed", `,"result":{"content":[]}`))
			if r := <-done; r.err != nil {
				t.Error(r.err)
			}
		})
	}
}

// A task whose interval is longer than its ttl is read while the server still has it.
func TestEXT22ATaskIsReadBeforeItExpires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, p := meetOffering(t, "2026-07-28", taskOffers)
		started := strings.Replace(taskIs("task", "working", `,"pollIntervalMs":3600000`), `"ttlMs":null`, `"ttlMs":60000`, 1)
		began, done := time.Now(), start(t.Context(), s, "x", client.Timeout(0, 0))
		p.answer(p.expect("tools/call"), started)
		m := p.expect("tasks/get")
		if waited := time.Since(began); waited < 30*time.Second || waited > 40*time.Second {
			t.Errorf("read after %v", waited)
		}
		p.answer(m, taskIs("complete", "completed", `,"result":{"content":[]}`))
		if r := <-done; r.err != nil {
			t.Error(r.err)
		}
	})
}

// The state of another task, and one that there is not, end the call with an error that says so, if they come again and again.
func TestEXT22AStateThatCanNotBeTheTasks(t *testing.T) {
	for _, c := range []struct{ answer, want string }{
		{strings.Replace(taskIs("complete", "completed", `,"result":{"content":[]}`), "t1", "t2", 1), `"t2"`},
		{taskIs("complete", "napping", ""), `"napping"`},
	} {
		synctest.Test(t, func(t *testing.T) {
			s, p := meetOffering(t, "2026-07-28", taskOffers)
			done := start(t.Context(), s, "x")
			p.answer(p.expect("tools/call"), taskIs("task", "working", ""))
			go p.each(func(m message) {
				if m.Method == "tasks/get" {
					p.answer(m, c.answer)
				}
			})
			r := <-done
			var bad *client.ProtocolError
			if !errors.As(r.err, &bad) {
				t.Fatalf("%v", r.err)
			}
			has(t, r.err.Error(), c.want)
		})
	}
}

// A task that is over and never gives its result does not hold the call for ever.
func TestTSK27ATaskThatIsOverAndNeverGivesItsResult(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, p := meetOffering(t, "2025-11-25", taskOffers)
		go p.each(func(m message) {
			state := `"taskId":"t1",` + moments + `,"ttl":null,"status":`
			switch m.Method {
			case "tools/list":
				p.answer(m, `{"tools":[{"name":"x","inputSchema":{"type":"object"},"execution":{"taskSupport":"required"}}]}`)
			case "tools/call":
				p.answer(m, `{"task":{`+state+`"working"}}`)
			case "tasks/get":
				p.answer(m, `{`+state+`"completed"}`)
			}
		})
		for _, err := range s.ListTools(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		_, err := s.CallTool(ctx, "x", nil)
		var bad *client.ProtocolError
		if !errors.As(err, &bad) {
			t.Fatalf("%v", err)
		}
		has(t, err.Error(), "tasks/result", "1m0s")
	})
}

// A task that was cancelled is over as soon as its state says so, though the request for its result is open, and is never answered.
func TestTSK27ACancelledTaskIsNotAskedForItsResult(t *testing.T) {
	for _, before := range []string{"working", "input_required"} {
		synctest.Test(t, func(t *testing.T) {
			s, p := meetOffering(t, "2025-11-25", taskOffers)
			p.offerTask(s)
			status, results := before, 0
			state := func() string {
				return `{"taskId":"t1",` + moments + `,"ttl":null,"pollInterval":1000,"status":"` + status + `"}`
			}
			go p.each(func(m message) {
				switch m.Method {
				case "tools/call":
					p.answer(m, `{"task":`+state()+`}`)
				case "tasks/get":
					p.answer(m, state())
				case "tasks/result":
					results++
				case "tasks/cancel":
					status = "cancelled"
					p.answer(m, state())
				}
			})
			x, err := s.Start(t.Context(), "x", nil)
			if err != nil {
				t.Fatal(err)
			}
			sleep(t.Context(), 10*time.Second)
			if err := x.Cancel(t.Context(), "enough"); err != nil {
				t.Fatal(err)
			}
			began := time.Now()
			_, err = x.Result(t.Context())
			var ended *client.TaskError
			var cause *client.Cause
			if !errors.As(err, &ended) || !errors.As(err, &cause) || cause.Source != inflight.SourcePeer || time.Since(began) > time.Second {
				t.Errorf("%s: %v after %v", before, err, time.Since(began))
			}
			if results != map[string]int{"working": 0, "input_required": 1}[before] {
				t.Errorf("%s: %d requests for the result", before, results)
			}
		})
	}
}

// A task that was cancelled has no result, whatever its server gives for one.
func TestTSK27ACancelledTaskHasNoResult(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, p := meetOffering(t, "2025-11-25", taskOffers)
		go p.each(func(m message) {
			state := `"taskId":"t1",` + moments + `,"ttl":null,"status":`
			switch m.Method {
			case "tools/list":
				p.answer(m, `{"tools":[{"name":"x","inputSchema":{"type":"object"},"execution":{"taskSupport":"required"}}]}`)
			case "tools/call":
				p.answer(m, `{"task":{`+state+`"working"}}`)
			case "tasks/get":
				p.answer(m, `{`+state+`"cancelled","statusMessage":"by an operator"}`)
			case "tasks/result":
				p.answer(m, `{"content":[{"type":"text","text":"half of it"}]}`)
			}
		})
		for _, err := range s.ListTools(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
		}
		_, err := s.CallTool(t.Context(), "x", nil)
		var ended *client.TaskError
		var cause *client.Cause
		if !errors.As(err, &ended) || !errors.As(err, &cause) || cause.Source != inflight.SourcePeer {
			t.Fatalf("%v", err)
		}
		has(t, err.Error(), "by an operator")
	})
}

// A caller that is slow gets the newest progress of its task, as it does that of a call: the oldest gives way.
func TestPRO01ASlowCallerGetsTheNewestProgressOfItsTask(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, p := meetOffering(t, "2025-11-25", taskOffers)
		p.offerTask(s)
		const last = 100
		slow, got := make(chan struct{}), []float64(nil)
		done := start(t.Context(), s, "x", client.OnProgress(func(p client.Progress) {
			<-slow
			got = append(got, p.Progress)
		}))
		m := p.expect("tools/call")
		state := `"taskId":"t1",` + moments + `,"ttl":null,"status":`
		p.answer(m, `{"task":{`+state+`"working"}}`)
		synctest.Wait()
		for n := range last {
			p.send(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":%d}}`, m.ID, n+1)
		}
		synctest.Wait()
		close(slow)
		synctest.Wait()
		if len(got) < 2 || !slices.IsSorted(got) || got[len(got)-1] != last {
			t.Errorf("%v", got)
		}
		p.answer(p.expect("tasks/get"), `{`+state+`"completed"}`)
		p.answer(p.expect("tasks/result"), `{"content":[]}`)
		if r := <-done; r.err != nil {
			t.Error(r.err)
		}
	})
}

// A server that is busy is asked for the state of a task again, when it says.
func TestEXT22AServerThatIsBusyIsAskedForTheStateAgain(t *testing.T) {
	for _, status := range []int{http.StatusRequestTimeout, http.StatusTooManyRequests, http.StatusServiceUnavailable} {
		synctest.Test(t, func(t *testing.T) {
			asked := 0
			endpoint := client.HTTP("http://server.example/mcp")
			endpoint.Client = &http.Client{Transport: roundTrip(func(_ *http.Request, m message) (*http.Response, error) {
				w := httptest.NewRecorder()
				switch {
				case m.Method == "server/discover":
					answer(w, m, `{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":`+taskOffers+`,"ttlMs":0,"cacheScope":"private"}`)
				case asked == 0:
					asked++
					w.Header().Set("Retry-After", "20")
					w.WriteHeader(status)
				default:
					answer(w, m, `{"resultType":"complete","taskId":"t1","status":"completed","createdAt":"2026-01-01T00:00:00Z","lastUpdatedAt":"2026-01-01T00:00:00Z","ttlMs":null,"result":{"content":[]}}`)
				}
				return w.Result(), nil
			})}
			s, err := client.Connect(t.Context(), endpoint)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			x, err := s.Resume(t.Context(), client.Ref{Version: 1, Endpoint: s.Endpoint(), Revision: "2026-07-28", Tool: "x", ID: "t1"})
			if err != nil {
				t.Fatal(err)
			}
			began := time.Now()
			_, err = x.Result(t.Context())
			if waited := time.Since(began); err != nil || waited < 20*time.Second || waited > 30*time.Second {
				t.Errorf("%d: %v after %v", status, err, waited)
			}
		})
	}
}
