package client_test

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/client"
)

// refusals are ways in which a server refuses an answer for good, and what an error says of each.
var refusals = map[string]struct {
	response func() *http.Response
	says     string
}{
	"400": {func() *http.Response { return status(http.StatusBadRequest) }, "HTTP status 400"},
	"401": {func() *http.Response { return status(http.StatusUnauthorized) }, "HTTP status 401"},
	"410": {func() *http.Response { return status(http.StatusGone) }, "HTTP status 410"},
	"307": {func() *http.Response { return status(http.StatusTemporaryRedirect) }, "HTTP status 307"},
	"an error": {func() *http.Response {
		w := httptest.NewRecorder()
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.WriteString(`{"jsonrpc":"2.0","id":null,"error":{"code":-32602,"message":"no such question"}}`)
		return w.Result()
	}, "no such question"},
}

// A call ends whose answer the server refuses for good, whatever the answer is.
func TestCAN30ACallEndsWhoseAnswerIsRefused(t *testing.T) {
	for name, refusal := range refusals {
		for what, elicit := range map[string]func(context.Context, *client.Question) (*client.Answer, error){
			"an answer": accept,
			"an error":  func(context.Context, *client.Question) (*client.Answer, error) { return nil, errors.New("no hands") },
		} {
			t.Run(name+", "+what, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s, d := dialDeaf(t, func(int) (*http.Response, error) { return refusal.response(), nil }, elicits(elicit))
					began := time.Now()
					_, err := s.CallTool(t.Context(), "x", nil)
					if err == nil || time.Since(began) > 0 || d.answers.Load() != 1 {
						t.Fatalf("%v after %v", err, time.Since(began))
					}
					has(t, err.Error(), "has not taken the answer", "may have run", refusal.says)
				})
			})
		}
	}
}

// So does one whose question can not be asked, or becomes a task.
func TestCAN30ACallEndsWhoseOtherAnswerIsRefused(t *testing.T) {
	for name, question := range map[string]string{
		"a task is created": formAsTask,
		"a bad form":        `{"method":"elicitation/create","params":{"message":1}}`,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				srv := &amnesiac{onCall: true, question: question, refuses: http.StatusBadRequest}
				began := time.Now()
				_, err := srv.dial(t, accept).CallTool(t.Context(), "x", nil)
				if err == nil || time.Since(began) > 0 {
					t.Fatalf("%v after %v", err, time.Since(began))
				}
				has(t, err.Error(), "has not taken the answer", "HTTP status 400")
			})
		})
	}
}

// A task that the session started is cancelled, as one of a revision with tasks/update is; one that it resumed goes on, and is not followed.
func TestCAN30ATaskEndsWhoseAnswerIsRefused(t *testing.T) {
	for name, refusal := range refusals {
		for _, made := range []bool{true, false} {
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s, d := dialDeaf(t, func(int) (*http.Response, error) { return refusal.response(), nil }, elicits(accept))
					d.startsTask = made
					var x *client.Execution[client.ToolResult]
					if made {
						var err error
						if x, err = s.Start(t.Context(), "x", nil); err != nil {
							t.Fatal(err)
						}
					} else {
						x = resume(t, s)
					}
					ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
					defer cancel()
					_, err := x.Result(ctx)
					if err == nil || ctx.Err() != nil {
						t.Fatal(cmp.Or(err, ctx.Err()))
					}
					has(t, err.Error(), "an answer to it was not taken", refusal.says)
					if synctest.Wait(); d.over.Load() != made {
						t.Errorf("made %v, cancelled %v", made, d.over.Load())
					}
				})
			})
		}
	}
}

// An answer that may have arrived before it was refused ends nothing: the server may refuse it because it has it.
func TestCAN30AnAnswerThatIsRefusedAfterItMayHaveArrived(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var d *deaf
		s, d0 := dialDeaf(t, func(attempt int) (*http.Response, error) {
			if attempt == 1 {
				return nil, errors.New("cut")
			}
			go func() {
				sleep(t.Context(), time.Second)
				d.say(`{"jsonrpc":"2.0","id":` + string(d.call.ID) + `,"result":{"content":[]}}`)
			}()
			return status(http.StatusBadRequest), nil
		}, elicits(accept))
		d = d0
		if _, err := s.CallTool(t.Context(), "x", nil); err != nil {
			t.Error(err)
		}
	})
}
