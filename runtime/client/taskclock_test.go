package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/client"
	"github.com/mcpkiln/mcpkiln/runtime/inflight"
)

// neverDoneAsks is the question of neverDone in older revisions.
const neverDoneAsks = `{"jsonrpc":"2.0","id":"q1","method":"elicitation/create","params":{"message":"?","requestedSchema":{"type":"object","properties":{}},"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"t1"}}}}`

// neverDone answers as a server whose tool is a task that never ends. What ask is asked by the task, as the revision has it, before that. Its
// channel tells how the client cancelled the task.
func neverDone(p *peer, revision, ask string) <-chan json.RawMessage {
	cancelled := make(chan json.RawMessage, 1)
	answered := ask == ""
	stateOf := func() string {
		status, more := "working", ""
		if !answered {
			status, more = "input_required", `,"inputRequests":{"k":`+ask+`}`
		}
		return `"taskId":"t1","status":"` + status + `","createdAt":"2026-01-01T00:00:00Z","lastUpdatedAt":"2026-01-01T00:00:00Z","ttl":null,"ttlMs":null,"pollInterval":1000,"pollIntervalMs":1000` + more
	}
	go p.each(func(m message) {
		switch {
		case m.Method == "tools/list":
			p.answer(m, `{"resultType":"complete","ttlMs":0,"cacheScope":"private","tools":[{"name":"x","inputSchema":{"type":"object"},"execution":{"taskSupport":"required"}}]}`)
		case m.Method == "tools/call" && revision == "2026-07-28":
			p.answer(m, `{"resultType":"task",`+stateOf()+`}`)
		case m.Method == "tools/call":
			p.answer(m, `{"task":{`+stateOf()+`}}`)
		case m.Method == "tasks/cancel":
			p.answer(m, `{"resultType":"complete",`+stateOf()+`}`)
			cancelled <- m.Params
		case m.Method == "tasks/result": // the question comes while the request for the result is open
			p.send(neverDoneAsks)
		case m.Method == "tasks/update" || m.Method == "" && m.Result != nil:
			answered = true
			if m.Method != "" {
				p.answer(m, `{"resultType":"complete"}`)
			}
		case m.Method == "tasks/get":
			p.answer(m, `{"resultType":"complete",`+stateOf()+`}`)
		}
	})
	return cancelled
}

// The maximum of a call holds for the task that the server has made of it, too, and the time of a person does not count in it.
func TestCAN16TheMaximumHoldsForATaskThatACallHasBecome(t *testing.T) {
	for _, revision := range withTasks {
		for _, ask := range []string{"", `{"method":"elicitation/create","params":{"message":"?","requestedSchema":{"type":"object","properties":{}}}}`} {
			synctest.Test(t, func(t *testing.T) {
				want := 6 * time.Minute
				s, p := meetOffering(t, revision, taskOffers, client.WithTimeout(time.Minute, want), elicits(func(ctx context.Context, q *client.Question) (*client.Answer, error) {
					time.Sleep(8 * time.Minute)
					return accept(ctx, q)
				}))
				cancelled := neverDone(p, revision, ask)
				if ask != "" {
					want += 8 * time.Minute
				}
				for range s.ListTools(t.Context()) { // older revisions make a task only of what is known to be one
				}
				began := time.Now()
				_, err := s.CallTool(t.Context(), "x", nil)
				var cause *client.Cause
				if !errors.As(err, &cause) || cause.Source != inflight.SourceTimeout || !about(time.Since(began), want) {
					t.Errorf("%s, asked %q: %v after %v", revision, ask, err, time.Since(began))
				}
				has(t, fmt.Sprint(err), `not done after 6m0s as task "t1"`, "; "+string(client.RaiseMaximum))
				if !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("%s: %v is no timeout", revision, err)
				}
				has(t, string(<-cancelled), `"t1"`)
			})
		}
	}
}

// A call whose task is over, and whose result does not come, tells how to ask for that again.
func TestTSK27AResultThatDoesNotComeCanBeAskedForAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, p := meetOffering(t, "2025-11-25", taskOffers, client.WithTimeout(time.Minute, time.Hour))
		const over = `"taskId":"t1","status":"completed","createdAt":"2026-01-01T00:00:00Z","lastUpdatedAt":"2026-01-01T00:00:00Z","ttl":null,"pollInterval":1000`
		go p.each(func(m message) {
			switch m.Method {
			case "tools/list":
				p.answer(m, `{"tools":[{"name":"x","inputSchema":{"type":"object"},"execution":{"taskSupport":"required"}}]}`)
			case "tools/call":
				p.answer(m, `{"task":{`+over+`}}`)
			case "tasks/get":
				p.answer(m, `{`+over+`}`)
			}
		})
		for range s.ListTools(t.Context()) {
		}
		_, err := s.CallTool(t.Context(), "x", nil)
		var with *client.RemedyError
		var failed *client.TaskError
		var bad *client.ProtocolError
		if !errors.As(err, &with) || with.Remedy != client.ResumeResult || !errors.As(err, &failed) || failed.State.ID != "t1" || !errors.As(err, &bad) {
			t.Fatalf("%T %v", err, err)
		}
		has(t, err.Error(), "task t1: completed: ", "no result came within 1m0s of the end of the task", "; Resume asks for its result again by its Ref")
	})
}
