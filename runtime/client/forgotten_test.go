package client_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/client"
)

// other resumes a task, and leaves it at once.
func other(t *testing.T, s *client.Session, id string) *client.Execution[client.ToolResult] {
	t.Helper()
	x, err := s.Resume(t.Context(), client.Ref{Version: 1, Endpoint: s.Endpoint(), Revision: s.Revision(), Tool: "x", ID: id})
	if err != nil {
		t.Fatal(err)
	}
	x.Detach()
	return x
}

// A task that was left, and waits with a question, is not forgotten because others have ended, however many.
func TestTSK27ATaskThatWasLeftOutlivesThoseThatEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := newUser()
		s, p := meetOffering(t, "2025-11-25", taskOffers, u.handlers(false))
		p.offerTask(s)
		p.follow(t, s).Detach()
		p.send("%s", form(7, "early"))
		synctest.Wait()
		var calls atomic.Int32
		go p.each(func(m message) {
			var about struct{ TaskID string }
			_ = json.Unmarshal(m.Params, &about)
			switch m.Method {
			case "tools/call":
				p.answer(m, `{"task":`+strings.ReplaceAll(taskIs("", "working", ""), `"t1"`, fmt.Sprintf(`"c%d"`, calls.Add(1)))+`}`)
			case "tasks/get":
				p.answer(m, strings.ReplaceAll(taskIs("", "completed", ""), `"t1"`, `"`+about.TaskID+`"`))
			case "tasks/result":
				p.answer(m, `{"content":[]}`)
			}
		})
		for range 300 {
			if r := <-start(t.Context(), s, "x"); r.err != nil {
				t.Fatal(r.err)
			}
		}
		synctest.Wait()
		if n := client.InFlight(s); n != 1 {
			t.Fatalf("%d questions wait", n)
		}
		resume(t, s)
		if synctest.Wait(); len(u.asked) != 1 {
			t.Errorf("asked %d times", len(u.asked))
		}
	})
}

// VAL07: what a server says of tasks that were left, in notifications and when they are cancelled, is not remembered.
func TestVAL07WhatIsSaidOfTasksThatWereLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, p := meetOffering(t, "2025-11-25", taskOffers)
		says := func(id, status string) string {
			return fmt.Sprintf(`{"taskId":%q,%s,"ttl":null,"status":%q,"statusMessage":%q}`, id, moments, status, strings.Repeat("x", 1<<20))
		}
		go p.each(func(m message) {
			var about struct{ TaskID string }
			_ = json.Unmarshal(m.Params, &about)
			if m.Method == "tasks/cancel" {
				p.answer(m, says(about.TaskID, map[bool]string{true: "working", false: "cancelled"}[about.TaskID < "other5"]))
			}
		})
		for i := range 10 {
			id := fmt.Sprint("other", i)
			x := other(t, s, id)
			p.send(`{"jsonrpc":"2.0","method":"notifications/tasks/status","params":%s}`, says(id, "working"))
			synctest.Wait()
			if err := x.Cancel(t.Context(), "enough"); err != nil {
				t.Error(err)
			}
		}
		if n := client.LeftBytes(s); n > 1<<20 {
			t.Errorf("%d bytes are kept", n)
		}
	})
}

// A task that could not be followed, and is given up, is over: its questions are gone.
func TestCAN31AQuestionOfATaskThatIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := newUser()
		s, p := meetOffering(t, "2025-11-25", taskOffers, u.handlers(false), client.WithTimeout(time.Second, 0), client.WithQuestionTimeout(0))
		p.offerTask(s)
		var cancelled atomic.Int32
		go p.each(func(m message) {
			switch m.Method {
			case "tools/call":
				p.answer(m, `{"task":`+taskIs("", "working", "")+`}`)
				p.send("%s", form(7, "open"))
			case "tasks/cancel":
				cancelled.Add(1)
				p.answer(m, taskIs("complete", "cancelled", ""))
			} // it does not tell the state of the task
		})
		if r := <-start(t.Context(), s, "x"); r.err == nil {
			t.Error("a task whose state is unknown has a result")
		}
		sleep(t.Context(), time.Hour)
		if cancelled.Load() != 1 || client.InFlight(s) != 0 || client.Waiting(s) != 0 || len(u.asked) != 1 || len(u.gone) != 1 {
			t.Errorf("%d cancellations, %d in flight, %d wait, asked %d times, %d gone", cancelled.Load(), client.InFlight(s), client.Waiting(s), len(u.asked), len(u.gone))
		}
	})
}
