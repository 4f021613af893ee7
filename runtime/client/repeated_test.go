package client_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/client"
)

// A request that comes again under its id after its answer has arrived is the same: its stream was resumed from before it. It gets the same answer, and no user
// is asked, as long as the task or call goes on. With other params it is another request.
func TestCAN30ARequestThatComesAgainAfterItsAnswerHasArrived(t *testing.T) {
	for _, question := range []string{onceForm("q"), `{"jsonrpc":"2.0","id":"q",` + goodForm[1:]} {
		synctest.Test(t, func(t *testing.T) {
			var user tallied
			s, d := dialDeaf(t, func(int) (*http.Response, error) { return status(http.StatusAccepted), nil }, user.handlers())
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if strings.Contains(question, "t1") {
				defer resume(t, s).Detach()
			} else {
				start(ctx, s, "x")
			}
			for d.answers.Load() == 0 {
				sleep(t.Context(), 10*time.Millisecond)
			}
			for n := range int32(3) {
				sleep(t.Context(), 10*time.Second)
				d.say(question)
				if synctest.Wait(); user.asked.Load() != 1 || d.answers.Load() != 2+n || len(user.heard) != 1 {
					t.Fatalf("asked %d times, %d answers, heard %d times", user.asked.Load(), d.answers.Load(), len(user.heard))
				}
			}
			d.say(strings.Replace(question, "sure?", "really?", 1))
			if synctest.Wait(); user.asked.Load() != 2 || d.answers.Load() != 5 {
				t.Errorf("asked %d times, %d answers", user.asked.Load(), d.answers.Load())
			}
		})
	}
}

// What a server asks under the id of a question of a call that is over is another question.
func TestCAN30AnIDIsRememberedAsLongAsItsCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var user tallied
		s, p := meet(t, "2025-11-25", user.handlers())
		for call := range int32(3) {
			done := start(t.Context(), s, "x")
			m := p.expect("tools/call")
			for range 3 {
				p.send(`{"jsonrpc":"2.0","id":"q",%s`, goodForm[1:])
				has(t, p.next().raw, `"id":"q"`, `"action":"accept"`)
			}
			p.answer(m, `{"content":[]}`)
			if <-done; user.asked.Load() != call+1 {
				t.Errorf("asked %d times in %d calls", user.asked.Load(), call+1)
			}
		}
		if synctest.Wait(); client.InFlight(s) != 0 {
			t.Errorf("%d are in flight", client.InFlight(s))
		}
		if number, _ := client.KeptAnswers(s); number != 0 {
			t.Errorf("%d answers are kept", number)
		}
	})
}

// So is a question that was not answered in time: its answer says so, and nobody is asked again.
func TestCAN30AQuestionThatComesAgainAfterItsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := newUser()
		s, p := meet(t, "2025-11-25", u.handlers(false), client.WithQuestionTimeout(time.Minute))
		done := start(t.Context(), s, "x")
		m := p.expect("tools/call")
		for range 3 {
			p.send(`{"jsonrpc":"2.0","id":"q",%s`, goodForm[1:])
			has(t, p.next().raw, `"id":"q"`, `"action":"cancel"`)
		}
		if synctest.Wait(); len(u.asked) != 1 || len(u.gone) != 1 {
			t.Errorf("asked %d times, gone %d times", len(u.asked), len(u.gone))
		}
		p.answer(m, `{"content":[]}`)
		<-done
	})
}

// A request that asks for a task and comes again gets the same task, also when that is over.
func TestTSK26ARequestForATaskThatComesAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := askTasks(t)
		done := start(t.Context(), a.s, "x")
		m := a.expect("tools/call")
		id, _ := a.create("elicitation/create", elicitParams)
		has(t, a.request("create", "elicitation/create", elicitParams).raw, id)
		a.release <- nil
		has(t, a.request("result", "tasks/result", ref(id)).raw, `"action":"accept"`)
		has(t, a.request("create", "elicitation/create", elicitParams).raw, id)
		if n := strings.Count(a.request("list", "tasks/list", `{}`).raw, `"taskId"`); n != 1 || len(a.question) > 0 {
			t.Errorf("%d tasks, %d more are asked", n, len(a.question))
		}
		a.release <- nil
		if other, _ := a.createAs("other", "elicitation/create", elicitParams); other == id {
			t.Error("another request gets the same task")
		}
		a.answer(m, `{"content":[]}`)
		<-done
	})
}

// So it is with one of a task, over HTTP, that asks for a task.
func TestTSK26ATaskThatAsksForATaskAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		created := make(chan message, 10)
		var user tallied
		s, d := dialDeafTo(t, func(_ int, m message) (*http.Response, error) {
			created <- m
			return status(http.StatusAccepted), nil
		}, user.handlers())
		x := resume(t, s)
		<-created
		var same string
		for range 3 {
			d.say(strings.Replace(onceForm("task"), `"params":{`, `"params":{"task":{},`, 1))
			m := <-created
			if has(t, string(m.ID)+string(m.Result), `"task"`, `"taskId"`); same != "" && same != string(m.Result) {
				t.Errorf("%s, and then %s", same, m.Result)
			}
			same = string(m.Result)
		}
		if synctest.Wait(); user.asked.Load() != 2 {
			t.Errorf("asked %d times", user.asked.Load())
		}
		x.Detach()
	})
}

// A request for the result of a task that comes again while it waits is the same request: it gets the result.
func TestCAN30ARequestForAResultComesAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := askTasks(t)
		done := start(t.Context(), a.s, "x")
		m := a.expect("tools/call")
		id, _ := a.create("elicitation/create", elicitParams)
		for range 2 {
			a.send(`{"jsonrpc":"2.0","id":"result","method":"tasks/result","params":%s}`, ref(id))
			synctest.Wait()
		}
		a.release <- nil
		if got := a.next(); !strings.Contains(got.raw, "accept") {
			t.Errorf("answered with %s", got.raw)
		}
		a.answer(m, `{"content":[]}`)
		<-done
	})
}

// The answer that creates a task is sent until it has arrived, as any other.
func TestCAN30TheAnswerThatCreatesATaskIsSentAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, d := dialDeafTo(t, func(attempt int, _ message) (*http.Response, error) {
			if attempt == 2 {
				return status(http.StatusServiceUnavailable), nil
			}
			return status(http.StatusAccepted), nil
		}, elicits(accept))
		x := resume(t, s)
		sleep(t.Context(), time.Second)
		synctest.Wait()
		d.say(strings.Replace(onceForm("task"), `"params":{`, `"params":{"task":{},`, 1))
		sleep(t.Context(), time.Minute)
		if n := d.answers.Load(); n != 3 {
			t.Errorf("%d answers", n)
		}
		x.Detach()
	})
}
