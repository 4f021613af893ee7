package client_test

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/client"
	"github.com/mcpkiln/mcpkiln/runtime/task"
)

// TestEXT21ATaskThatTheCallHasNotAskedFor is about 2025-11-25, where the client decides what is a task. What has content is a result, whatever else it has.
func TestEXT21ATaskThatTheCallHasNotAskedFor(t *testing.T) {
	const state = `"taskId":"t1","createdAt":"2026-01-01T00:00:00Z","lastUpdatedAt":"2026-01-01T00:00:00Z","ttl":null,"status":`
	for answer, want := range map[string]string{
		`{"task":{` + state + `"working"}}`:              `has become task "t1", which it has not asked for`,
		`{"task":{` + state + `"completed"}}`:            `has become task "t1", which it has not asked for`,
		`{"task":{"taskId":""}}`:                         "no content",
		`{"task":5}`:                                     "no content",
		`{"content":[],"task":{` + state + `"working"}}`: "",
	} {
		s, p := meetOffering(t, "2025-11-25", taskOffers)
		done := start(t.Context(), s, "x")
		p.answer(p.expect("tools/call"), answer)
		if strings.Contains(answer, "working") && want != "" {
			m := p.expect("tasks/cancel")
			has(t, string(m.Params), `"taskId":"t1"`)
			p.answer(m, `{`+state+`"cancelled"}`)
		}
		r := <-done
		var bad *client.ProtocolError
		if want == "" && r.err != nil || want != "" && !errors.As(r.err, &bad) {
			t.Errorf("%s: %v", answer, r.err)
		} else if want != "" {
			has(t, r.err.Error(), want)
		}
	}
}

// TestEXT21AnAnswerAboutAnotherTask: the server mixes tasks up, in what is read of a task's state or in its result.
func TestEXT21AnAnswerAboutAnotherTask(t *testing.T) {
	const moment = `"createdAt":"2026-01-01T00:00:00Z","lastUpdatedAt":"2026-01-01T00:00:00Z","ttl":null,"pollInterval":1,`
	for about, want := range map[string]string{
		``: "", `"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"t1"}},`: "", `"_meta":{"other":5},`: "",
		`"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"t2"}},`: `tasks/result: it is the result of task "t2", not of "t1"`,
	} {
		synctest.Test(t, func(t *testing.T) {
			s, p := meetOffering(t, "2025-11-25", taskOffers)
			p.offerTask(s)
			done := start(t.Context(), s, "x")
			go p.each(func(m message) {
				switch m.Method {
				case "tools/call":
					p.answer(m, `{"task":{`+moment+`"taskId":"t1","status":"working"}}`)
				case "tasks/get":
					p.answer(m, `{`+moment+`"taskId":"t1","status":"completed"}`)
				case "tasks/result":
					p.answer(m, `{`+about+`"content":[]}`)
				}
			})
			r := <-done
			var bad *client.ProtocolError
			if want == "" && r.err != nil || want != "" && !errors.As(r.err, &bad) {
				t.Errorf("%s: %v", about, r.err)
			} else if want != "" {
				has(t, r.err.Error(), want)
			}
		})
	}
}

// The answer to tasks/cancel, and the state that is read once the result has come, may be about another task, too: neither ends this one.
func TestEXT21AStateOfAnotherTaskEndsNone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, p := meetOffering(t, "2025-11-25", taskOffers)
		x := resume(t, s)
		go p.each(func(m message) {
			switch m.Method {
			case "tasks/cancel":
				p.answer(m, `{"taskId":"t2",`+moments+`,"ttl":null,"status":"cancelled"}`)
			case "tasks/get":
				p.answer(m, `{"taskId":"t1",`+moments+`,"ttl":null,"pollInterval":1000,"status":"working"}`)
			}
		})
		sleep(t.Context(), 3*time.Second)
		if err := x.Cancel(t.Context(), "enough"); err != nil {
			t.Error(err)
		}
		sleep(t.Context(), 3*time.Second)
		for state, err := range x.Updates(t.Context()) {
			if err == nil && state.Status != task.Working {
				t.Errorf("the answer to tasks/cancel counts: %+v", state)
			}
			x.Detach()
		}
	})
	synctest.Test(t, func(t *testing.T) {
		s, p := meetOffering(t, "2025-11-25", taskOffers)
		p.offerTask(s)
		done := start(t.Context(), s, "x")
		state, came := `"taskId":"t1",`+moments+`,"ttl":null,"pollInterval":1000,"status":"input_required"`, false
		go p.each(func(m message) {
			switch m.Method {
			case "tools/call":
				p.answer(m, `{"task":{`+state+`}}`)
			case "tasks/get":
				if came {
					state = `"taskId":"t2",` + moments + `,"ttl":null,"status":"cancelled"`
				}
				p.answer(m, `{`+state+`}`)
			case "tasks/result":
				came = true
				p.answer(m, `{"content":[]}`)
			}
		})
		if r := <-done; r.err != nil {
			t.Errorf("the state after the result counts: %v", r.err)
		}
	})
}
