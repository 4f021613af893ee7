package client_test

import (
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/mcpkiln/mcpkiln/runtime/client"
	"github.com/mcpkiln/mcpkiln/runtime/task"
)

// answering has a task of 2026-07-28 asked by a server that says what updates say to an answer, and returns what the receipt and the result are. What updates
// returns is the state of the task from then on, "" for one that the server does not know any more.
func answering(t *testing.T, updates func(w http.ResponseWriter, m message) (state string, err error)) (receipt, result error) {
	t.Helper()
	endpoint := client.HTTP("http://server.example/mcp")
	state := taskIs("complete", "input_required", `,"inputRequests":{"k":`+goodForm+`}`)
	endpoint.Client = &http.Client{Transport: roundTrip(func(_ *http.Request, m message) (*http.Response, error) {
		w := httptest.NewRecorder()
		switch {
		case m.Method == "server/discover":
			answer(w, m, `{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":`+taskOffers+`,"ttlMs":0,"cacheScope":"private"}`)
		case m.Method == "tools/call":
			answer(w, m, taskIs("task", "working", ""))
		case m.Method == "tasks/update":
			var err error
			if state, err = updates(w, m); err != nil {
				return nil, err
			}
		case m.Method == "tasks/get" && state != "":
			answer(w, m, state)
		case m.Method == "tasks/get":
			refuseTask(w, m)
		default:
			answer(w, m, `{"resultType":"complete"}`)
		}
		return w.Result(), nil
	})}
	receipts := make(chan error, 9)
	s := connect(t, endpoint, []client.Option{client.WithHandlers(client.Handlers{Elicit: accept, Answered: func(_ *client.Question, err error) { receipts <- err }})})
	_, result = s.CallTool(t.Context(), "x", nil)
	return <-receipts, result
}

func refuseTask(w http.ResponseWriter, m message) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":`+string(m.ID)+`,"error":{"code":-32602,"message":"unknown task"}}`)
}

// EXT22: an answer has arrived if only its acknowledgement was lost, and the task has ended with it. It has not if it was never sent, or the task was cancelled.
func TestEXT22TheReceiptOfAnAnswerWhoseAcknowledgementWasLost(t *testing.T) {
	done := taskIs("complete", "completed", `,"result":{"content":[]}`)
	for name, row := range map[string]struct {
		state   string
		err     error
		arrived bool
	}{
		"lost":      {done, io.ErrUnexpectedEOF, true},
		"failed":    {taskIs("complete", "failed", `,"error":{"code":1,"message":"no"}`), io.ErrUnexpectedEOF, true},
		"unsent":    {done, &net.OpError{Op: "dial", Err: errors.New("refused")}, false},
		"cancelled": {taskIs("complete", "cancelled", ""), io.ErrUnexpectedEOF, false},
	} {
		synctest.Test(t, func(t *testing.T) {
			receipt, _ := answering(t, func(http.ResponseWriter, message) (string, error) { return row.state, row.err })
			if (receipt == nil) != row.arrived {
				t.Errorf("%s: %v", name, receipt)
			}
		})
	}
}

// EXT22: a task that the server does not know any more when the user answers, as after a restart without a store, has expired.
func TestEXT22AnAnswerToATaskThatHasExpired(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		receipt, result := answering(t, func(w http.ResponseWriter, m message) (string, error) {
			refuseTask(w, m)
			return "", nil
		})
		var refused *client.Error
		var expired *client.ExpiredError
		if !errors.As(receipt, &refused) || !errors.As(result, &expired) {
			t.Errorf("the receipt is %v, the result %v", receipt, result)
		}
	})
}

// EXT22: where it is not known whether the server has taken an answer, the error of the task does not say that it has not.
func TestEXT22TheErrorOfATaskSaysNoMoreThanTheReceipt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		receipt, result := answering(t, func(w http.ResponseWriter, m message) (string, error) {
			answer(w, m, `{"resultType":"input_required"}`)
			return taskIs("complete", "input_required", `,"inputRequests":{"k":`+goodForm+`}`), nil
		})
		var unconfirmed, told *client.UnconfirmedError
		if !errors.As(receipt, &unconfirmed) || !errors.As(result, &told) || strings.Contains(result.Error(), "not taken") {
			t.Errorf("the receipt is %v, the result %v", receipt, result)
		}
	})
}

// EXT22: what is said of a new task is a hint: an unknown status of it is not passed on, and what tasks/get says decides.
func TestEXT22ANewTaskWithAnUnknownStatus(t *testing.T) {
	for _, status := range []string{"paused", ""} {
		synctest.Test(t, func(t *testing.T) {
			s, p := meetOffering(t, "2026-07-28", taskOffers)
			go p.each(func(m message) {
				switch m.Method {
				case "tools/call":
					p.answer(m, taskIs("task", status, ""))
				case "tasks/get":
					p.answer(m, taskIs("complete", "completed", `,"result":{"content":[]}`))
				}
			})
			x, err := s.Start(t.Context(), "x", nil)
			if err != nil {
				t.Fatal(err)
			}
			for state := range x.Updates(t.Context()) {
				if state.Status != task.Working && state.Status != task.Completed {
					t.Errorf("%q: it is %s", status, state.Status)
				}
			}
			if _, err := x.Result(t.Context()); err != nil {
				t.Errorf("%q: %v", status, err)
			}
		})
	}
}
