package client_test

import (
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
	"a page": {func() *http.Response {
		w := httptest.NewRecorder()
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.WriteString("<html>proxy login</html>")
		return w.Result()
	}, "HTTP status 200 OK: <html>proxy login"},
	"some JSON": {func() *http.Response {
		w := httptest.NewRecorder()
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.WriteString(`{"login":"required"}`)
		return w.Result()
	}, "no receipt of an answer"},
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

// A call whose time passes while its answer is not delivered says why.
func TestCAN16CAN30ATimeoutTellsWhyTheAnswerWasNotDelivered(t *testing.T) {
	for says, respond := range map[string]func() (*http.Response, error){
		"HTTP status 503":        func() (*http.Response, error) { return status(http.StatusServiceUnavailable), nil },
		"wire cut":               func() (*http.Response, error) { return nil, errors.New("wire cut") },
		"it is still being sent": func() (*http.Response, error) { time.Sleep(9 * time.Second); return status(http.StatusAccepted), nil }, // of the bubble's clock
	} {
		synctest.Test(t, func(t *testing.T) {
			s, _ := dialDeaf(t, func(int) (*http.Response, error) { return respond() }, elicits(accept))
			_, err := s.CallTool(t.Context(), "x", nil, client.Timeout(8*time.Second, time.Minute))
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Fatal(err)
			}
			has(t, err.Error(), "not done after 8s; the answer to what it has asked was not delivered: ", says)
		})
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

// A task is left whose answer is refused, because the refusal may say nothing of it: its execution ends, and whoever resumes the task is asked again. The task of
// a call is cancelled, because nobody has its Ref.
func TestCAN30ATaskIsLeftWhoseAnswerIsRefused(t *testing.T) {
	for name, refusal := range refusals {
		for how, follow := range follows {
			t.Run(name+", "+how, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s, d := dialDeaf(t, func(attempt int) (*http.Response, error) {
						if attempt > 1 {
							return nil, nil
						}
						return refusal.response(), nil
					}, elicits(accept))
					d.startsTask = true
					for _, err := range s.ListTools(t.Context()) { // so that a call knows that it becomes a task
						if err != nil {
							t.Fatal(err)
						}
					}
					err := within(t, follow(t, s))
					cancels := how == "a call"
					says := map[bool]string{true: "asked to cancel the task", false: "the task may go on: Resume"}[cancels]
					has(t, err.Error(), "an answer to it was not taken", refusal.says, says)
					if synctest.Wait(); d.over.Load() != cancels {
						t.Errorf("cancelled: %v", d.over.Load())
					}
					if cancels {
						return
					}
					if err := within(t, follows["Resume"](t, s)); err != nil || d.answers.Load() != 2 {
						t.Errorf("resumed: %v, %d answers", err, d.answers.Load())
					}
				})
			})
		}
	}
}

// So is one of a revision with tasks/update, whatever the status of the refusal is.
func TestEXT22ATaskIsLeftWhoseAnswerIsRefused(t *testing.T) {
	for _, code := range []int{http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound, http.StatusRequestEntityTooLarge} {
		for how, follow := range follows {
			synctest.Test(t, func(t *testing.T) {
				seen := map[string]int{}
				s := busy(t, seen, func(attempt int) (*http.Response, error) {
					if attempt > 1 {
						return nil, nil
					}
					return status(code), nil
				})
				err := within(t, follow(t, s))
				var refused *client.StatusError
				if !errors.As(err, &refused) || refused.Status != code {
					t.Errorf("%d, %s: %v", code, how, err)
				}
				if synctest.Wait(); (seen["tasks/cancel"] == 1) != (how == "a call") {
					t.Errorf("%d, %s: seen %v", code, how, seen)
				}
				if err := within(t, follows["Resume"](t, s)); err != nil || seen["tasks/update"] != 2 {
					t.Errorf("%d, %s: resumed: %v, seen %v", code, how, err, seen)
				}
			})
		}
	}
}

// within returns how following a task ends, which it does within a minute.
func within(t *testing.T, done outcome) error {
	t.Helper()
	return withinTime(t, time.Minute, done)
}

func withinTime(t *testing.T, most time.Duration, done outcome) error {
	t.Helper()
	select {
	case err := <-done:
		return err
	case <-time.After(most):
		t.Fatal("the task is followed for ever")
		return nil
	}
}

// Some servers acknowledge an answer with another status of success. Without a body that is a receipt.
func TestCAN30AReceiptOfAnotherStatus(t *testing.T) {
	for _, code := range []int{http.StatusOK, http.StatusAccepted, http.StatusNoContent} {
		synctest.Test(t, func(t *testing.T) {
			var d *deaf
			told := make(chan error, 9)
			s, d0 := dialDeaf(t, func(int) (*http.Response, error) {
				go func() {
					sleep(t.Context(), time.Second)
					d.say(`{"jsonrpc":"2.0","id":` + string(d.call.ID) + `,"result":{"content":[]}}`)
				}()
				return status(code), nil
			}, client.WithHandlers(client.Handlers{Elicit: accept, Answered: func(_ *client.Question, err error) { told <- err }}))
			d = d0
			if _, err := s.CallTool(t.Context(), "x", nil); err != nil || <-told != nil || d.answers.Load() != 1 {
				t.Errorf("%d: %v", code, err)
			}
		})
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
