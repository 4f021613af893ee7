package client_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/client"
)

// What a task asks in the same words is a question of its own if the server does not say for a while whether it takes the answer to the first: it is asked,
// and its clock runs. When the first answer is refused after that, the task goes on.
func TestTSK29AQuestionWaitsAShortWhileForTheFateOfAnAnswer(t *testing.T) {
	hangs := func(t *testing.T) *http.Response {
		sleep(t.Context(), time.Hour)
		return status(http.StatusAccepted)
	}
	refusesLate := func(t *testing.T) *http.Response {
		sleep(t.Context(), 7*time.Second)
		return status(http.StatusBadRequest)
	}
	for name, c := range map[string]struct {
		first func(t *testing.T) *http.Response
		after time.Duration // the next question comes
	}{
		"hangs":         {hangs, 0},
		"hangs already": {hangs, 6 * time.Second},
		"busy":          {func(*testing.T) *http.Response { return status(http.StatusServiceUnavailable) }, 0},
		"refused late":  {refusesLate, 0},
		"refused later": {refusesLate, 6 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var user tallied
				s, d := dialDeafTo(t, func(_ int, m message) (*http.Response, error) {
					if string(m.ID) == `"new"` {
						return status(http.StatusAccepted), nil
					}
					return c.first(t), nil
				}, user.handlers(), client.WithQuestionTimeout(5*time.Second))
				x := resume(t, s)
				for d.answers.Load() == 0 {
					sleep(t.Context(), 10*time.Millisecond)
				}
				sleep(t.Context(), c.after)
				d.say(onceForm("new"))
				sleep(t.Context(), 2*time.Second)
				if n := user.asked.Load(); n != 1 && c.after == 0 {
					t.Errorf("asked %d times at once", n)
				}
				sleep(t.Context(), 4*time.Second)
				if n := user.asked.Load(); n != 2 {
					t.Errorf("asked %d times", n)
				}
				sleep(t.Context(), 10*time.Second)
				d.say(`{"jsonrpc":"2.0","id":` + string(d.call.ID) + `,"result":{"content":[]}}`)
				d.over.Store(true)
				if _, err := x.Result(t.Context()); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// An attempt to send an answer does not take longer than that of another message: then it has failed, and is made again.
func TestCAN30AnAnswerThatNobodyAcknowledgesIsSentAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var attempts []time.Duration
		began := time.Now()
		endpoint := client.HTTP("http://server.example/mcp")
		endpoint.Client = &http.Client{Transport: roundTrip(func(r *http.Request, m message) (*http.Response, error) {
			w := httptest.NewRecorder()
			switch {
			case r.Method != http.MethodPost:
				return status(http.StatusMethodNotAllowed), nil
			case m.Method == "tools/call":
				resp, events := eventStream(r)
				go (&deaf{events: events}).say(`{"jsonrpc":"2.0","id":"q",` + goodForm[1:])
				return resp, nil
			case m.Method == "":
				mu.Lock()
				attempts = append(attempts, time.Since(began))
				mu.Unlock()
				<-r.Context().Done()
				return nil, errors.New("cut")
			}
			session(w, r, m, "s1")
			return w.Result(), nil
		})}
		s := connect(t, endpoint, []client.Option{client.WithRevision("2025-11-25"), elicits(accept)})
		done := start(t.Context(), s, "x")
		sleep(t.Context(), 25*time.Second)
		mu.Lock()
		if want := []time.Duration{0, 11 * time.Second, 23 * time.Second}; !slices.Equal(attempts, want) {
			t.Errorf("attempts after %v, not %v", attempts, want)
		}
		mu.Unlock()
		_ = s.Close()
		<-done
	})
}
