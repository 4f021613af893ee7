package client_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/client"
)

// formAsTask is goodForm for a task.
var formAsTask = strings.Replace(goodForm, `"params":{`, `"params":{"task":{},`, 1)

// amnesiac is a server of 2025-11-25 that forgets its first session when it has asked something in that, and keeps the streams open.
type amnesiac struct {
	mu       sync.Mutex
	sessions int
	question string // "": goodForm
	// acceptsAnswers says that answers in the first session are taken
	acceptsAnswers bool
	refuses        int            // the status of the answers in the first session; 0: 404
	onCall         bool           // it asks on the stream of the call, else on that of the session
	events         *io.PipeWriter // of the session
}

func (a *amnesiac) serve(r *http.Request, m message) (resp *http.Response, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	w, first := httptest.NewRecorder(), r.Header.Get("Mcp-Session-Id") == "s1"
	switch {
	case r.Method == http.MethodGet:
		resp, a.events = eventStream(r)
		return resp, nil
	case m.Method == "tools/call" && first && a.events != nil:
		resp, events := eventStream(r)
		if !a.onCall {
			events = a.events
		}
		a.events = nil
		go fmt.Fprintf(events, "data: %s\n\n", `{"jsonrpc":"2.0","id":"q",`+cmp.Or(a.question, goodForm)[1:])
		return resp, nil
	case first && m.Method == "" && a.acceptsAnswers:
		return status(http.StatusAccepted), nil
	case first && m.Method == "" && a.refuses != 0:
		return status(a.refuses), nil
	case first && m.Method != "notifications/initialized":
		return status(http.StatusNotFound), nil
	case m.Method == "tools/call":
		answer(w, m, `{"content":[]}`)
	default:
		if m.Method == "initialize" {
			a.sessions++
		}
		session(w, r, m, fmt.Sprint("s", a.sessions))
	}
	return w.Result(), nil
}

func (a *amnesiac) dial(t *testing.T, elicit func(ctx context.Context, q *client.Question) (*client.Answer, error)) *client.Session {
	t.Helper()
	endpoint := client.HTTP("http://server.example/mcp")
	endpoint.Client = &http.Client{Transport: roundTrip(a.serve)}
	return connect(t, endpoint, []client.Option{client.WithRevision("2025-11-25"), client.WithQuestionTimeout(10 * time.Second), elicits(elicit)})
}

// A session that the server has ended takes no answer. The call that waits for that ends, without being sent again, since it may have run; the next one gets
// a new session.
func TestCAN30ACallEndsWhoseSessionTakesNoAnswer(t *testing.T) {
	late := func(ctx context.Context, _ *client.Question) (*client.Answer, error) {
		<-ctx.Done() // its time has passed
		return nil, ctx.Err()
	}
	for name, c := range map[string]struct {
		onCall bool
		elicit func(ctx context.Context, q *client.Question) (*client.Answer, error)
		want   time.Duration
	}{
		"on the stream of the call":                 {true, accept, 0},
		"on the stream of the session":              {false, accept, 0},
		"on the stream of the call, not in time":    {true, late, 10 * time.Second},
		"on the stream of the session, not in time": {false, late, 10 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				srv := &amnesiac{onCall: c.onCall}
				s := srv.dial(t, c.elicit)
				began := time.Now()
				_, err := s.CallTool(t.Context(), "x", nil)
				var lost *client.TransportError
				if took := time.Since(began); !errors.As(err, &lost) || !strings.Contains(err.Error(), "may have run") || took != c.want {
					t.Errorf("%v after %v", err, took)
				}
				if _, err := s.CallTool(t.Context(), "x", nil); err != nil || srv.sessions != 2 {
					t.Errorf("%v, %d sessions", err, srv.sessions)
				}
			})
		})
	}
}

// Whatever the answer is: that a task was created for the question, or that it can not be asked.
func TestCAN30ACallEndsWhoseSessionTakesNoOtherAnswer(t *testing.T) {
	for name, question := range map[string]string{
		"a task is created": formAsTask,
		"a bad form":        `{"method":"elicitation/create","params":{"message":1}}`,
		"an unknown method": `{"method":"x/y"}`,
	} {
		for _, onCall := range []bool{true, false} {
			t.Run(fmt.Sprint(name, onCall), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					srv := &amnesiac{onCall: onCall, question: question}
					s := srv.dial(t, accept)
					began := time.Now()
					_, err := s.CallTool(t.Context(), "x", nil)
					var lost *client.TransportError
					if took := time.Since(began); !errors.As(err, &lost) || !strings.Contains(err.Error(), "may have run") || took != 0 {
						t.Errorf("%v after %v", err, took)
					}
				})
			})
		}
	}
}

// It ends as well when another call has found out first.
func TestCAN30ACallEndsWhoseSessionIsRenewedWhileItAsks(t *testing.T) {
	for i := range 4 {
		synctest.Test(t, func(t *testing.T) {
			srv := &amnesiac{onCall: i%2 == 0, acceptsAnswers: i > 1}
			if i > 1 {
				srv.question = formAsTask
			}
			s := srv.dial(t, func(ctx context.Context, _ *client.Question) (*client.Answer, error) {
				<-ctx.Done()
				return nil, ctx.Err()
			})
			began := time.Now()
			asking := start(t.Context(), s, "x")
			synctest.Wait()
			if _, err := s.CallTool(t.Context(), "x", nil); err != nil {
				t.Error(err)
			}
			r := <-asking
			var lost *client.TransportError
			if took := time.Since(began); !errors.As(r.err, &lost) || !strings.Contains(r.err.Error(), "may have run") || took > 0 {
				t.Errorf("%v after %v", r.err, took)
			}
		})
	}
}
