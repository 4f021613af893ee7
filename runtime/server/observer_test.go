package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/inflight"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/task"
)

// observe notes events, without pings and handshakes.
func (l *trail) observe(e Event) {
	if e.Time.IsZero() {
		l.add("an event without a time: %v", e.Kind)
	}
	if e.Method == "ping" || e.Method == "initialize" {
		return
	}
	line := e.Kind.String()
	for _, part := range []string{e.Method, e.Tool, e.Question, string(e.Status), string(e.Outcome)} {
		if part != "" {
			line += " " + part
		}
	}
	if cause := (*inflight.Cause)(nil); errors.As(e.Err, &cause) {
		line += " by " + cause.Source.String()
	} else if e.Err != nil {
		line += ": " + e.Err.Error()
	}
	if e.Duration >= time.Second {
		line += fmt.Sprintf(" after %v", e.Duration.Round(time.Second))
	}
	l.add("%s", line)
}

func observedTools(h *hold) []Tool {
	return []Tool{
		tool("echo", structured(marked)), tool("hang", h.handler()), asksAndReports(),
		tool("slow", h.handler(), func(t *Tool) { t.Cancel.Timeout = time.Minute }),
	}
}

// What happens on a connection is told in its order, with causes and durations.
func TestSRV02EventsOfAConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l trail
		h := newHold()
		f := dual(t, Definition{Tools: observedTools(h)}, WithObserver(l.observe), WithObserver(func(Event) { panic("oh") }))
		c := f.dial(as(t, "ada"))
		c.initialize(forms)
		c.fence()
		l.want(t, "connection opened")
		c.call("1", "echo", `{"text":"hi"}`)
		c.answer("1")
		synctest.Wait() // a request ends after its answer was written
		c.call("2", "echo", `{"text":"fail"}`)
		c.answer("2")
		synctest.Wait()
		c.call("3", "nobody", `{}`)
		c.answer("3")
		c.request("4", "no/method", `{}`)
		synctest.Wait()
		l.want(t, "request began tools/call echo", "request ended tools/call echo ok", "request began tools/call echo", "request ended tools/call echo tool_error",
			`request refused tools/call error: unknown tool "nobody" (code -32602)`, `request refused error: unknown method "no/method" (code -32601)`)
		c.call("5", "hang", `{}`)
		time.Sleep(time.Second)
		c.cancel("5")
		synctest.Wait()
		c.call("6", "slow", `{}`)
		c.answer("6")
		synctest.Wait()
		l.want(t, "request began tools/call hang", "request ended tools/call hang cancelled by peer after 1s",
			"request began tools/call slow", "request ended tools/call slow timeout by timeout after 1m0s")
		c.call("7", "ask", `{}`)
		question := c.nextRequest()
		time.Sleep(2 * time.Second)
		c.reply(question, accepted)
		c.answer("7")
		synctest.Wait()
		l.want(t, "request began tools/call ask", "question asked tools/call ask confirm", "question ended tools/call ask confirm ok after 2s", "request ended tools/call ask ok after 2s")
		c.call("8", "ask", `{}`)
		c.nextRequest()
		time.Sleep(time.Minute)
		c.answer("8")
		synctest.Wait()
		l.want(t, "request began tools/call ask", "question asked tools/call ask confirm",
			"question ended tools/call ask confirm timeout: nobody answered the question in time after 1m0s", "request ended tools/call ask tool_error after 1m0s")
		c.close()
		synctest.Wait()
		l.want(t, "connection closed by disconnect after 2m3s")
	})
}

// A stateless call that asks ends, and the next one brings the answer. A task is followed from its creation to its end.
func TestSRV02EventsOfTriesAndTasks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l trail
		f := dual(t, Definition{Tools: []Tool{asksAndReports()}}, WithObserver(l.observe), WithGather(0))
		_, _, state := f.try(t.Context(), forms, "ask", `{}`, "")
		f.try(t.Context(), forms, "ask", `{}`, answering(state, `{"confirm":`+accepted+`}`))
		l.want(t, "request began tools/call ask", "question asked tools/call ask confirm", "request ended tools/call ask asked",
			"request began tools/call ask", "question ended tools/call ask confirm ok", "request ended tools/call ask ok")
		id := f.create(t.Context(), "ask", `{}`, tasksAsks)
		synctest.Wait()
		time.Sleep(time.Second)
		f.ask(t.Context(), frame(1, "tasks/update", tasksAsks, byID(id)+`,"inputResponses":{"confirm":`+accepted+`}`)).wantNoError(t)
		synctest.Wait()
		_ = f.srv.Shutdown(t.Context())
		got := "\n" + strings.Join(l.taken(), "\n") + "\n" // the request, the run and the engine go on side by side
		for _, want := range []string{
			"request began tools/call ask", "task created ask working", "request ended tools/call ask task", "run began ask", "question asked ask confirm",
			"task changed ask input_required", "request began tasks/update", "request ended tasks/update ok", "question ended ask confirm ok after 1s",
			"run ended ask completed ok after 1s", "task changed ask completed after 1s",
		} {
			if strings.Count(got, "\n"+want+"\n") != 1 {
				t.Errorf("%q is not in%s", want, got)
			}
		}
	})
}

// Progress that is not sent is told, with why.
func TestSRV02DroppedProgressIsTold(t *testing.T) {
	var l trail
	var kept *Call
	progressOf(t, withToken, func(ctx context.Context, call *Call) {
		kept = call
		call.Progress(ctx, 1, 0, "")
		call.Progress(ctx, 1, 0, "")
		for i := range 10 {
			call.Progress(ctx, float64(2+i), 0, "")
		}
	}, WithObserver(func(e Event) {
		if e.Kind == ProgressDropped {
			l.observe(e)
		}
	}))
	kept.Progress(t.Context(), 100, 0, "")
	got := l.taken()
	if n := len(got); n < 4 || got[0] != "progress dropped no_step" || got[1] != "progress dropped rate" || got[n-1] != "progress dropped too_late" {
		t.Error(got)
	}
}

// A run that panics, and one that the end of the server interrupts, have ended too.
func TestSRV02RunsThatDoNotReturnARresult(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l trail
		h := newHold()
		panics := tool("panics", plain(func(context.Context, *Call) (*echoOutput, error) { panic("oh") }), withTask(TaskRequired))
		fails := tool("fails", plain(func(context.Context, *Call) (*echoOutput, error) { return nil, rpc.Errorf(7, "no") }), withTask(TaskRequired))
		f := dual(t, Definition{Tools: []Tool{panics, fails, tool("hang", h.handler(), withTask(TaskRequired))}}, WithObserver(func(e Event) {
			if e.Kind == RunEnded {
				l.observe(e)
			}
		}))
		for _, name := range []string{"panics", "fails", "hang"} {
			f.create(t.Context(), name, `{}`, withTasks)
			synctest.Wait()
		}
		_ = f.srv.Shutdown(t.Context())
		l.want(t, "run ended panics error: internal error (code -32603)", "run ended fails failed error: no (code 7)", "run ended hang cancelled by shutdown")
	})
}

// The log of calls is one line for each.
func TestSRV02OneLineACall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var logged syncBuffer
		h := newHold()
		f := dual(t, Definition{Tools: append(observedTools(h), tool("later", structured(marked), withTask(TaskRequired)))},
			WithCallLog(slog.LevelInfo), WithLogger(slog.New(slog.NewTextHandler(&logged, nil))))
		c := f.dial(as(t, "ada"))
		c.initialize(`{}`)
		c.call("1", "echo", `{"text":"secret"}`)
		c.answer("1")
		c.call("2", "slow", `{}`)
		c.answer("2")
		synctest.Wait()
		f.srv.records.Flush(t.Context())
		for _, want := range []string{
			`level=INFO msg="request ended" method=tools/call tool=echo id=1 principal=ada revision=2025-11-25 duration=0s outcome=ok cause=""`,
			`level=INFO msg="request ended" method=tools/call tool=slow id=2 principal=ada revision=2025-11-25 duration=1m0s outcome=timeout cause="request ended by timeout: not done after 1m0s"`,
		} {
			if strings.Count(logged.String(), want) != 1 {
				t.Errorf("%q is not one line of %s", want, logged.String())
			}
		}
		id := f.create(as(t, "ada"), "later", `{"text":"secret"}`, withTasks)
		f.await(as(t, "ada"), id, task.Completed)
		f.srv.records.Flush(t.Context())
		if want := `msg="run ended" method="" tool=later task=` + id + ` principal=ada revision=2026-07-28 duration=0s outcome=ok cause=""`; !strings.Contains(logged.String(), want) {
			t.Errorf("%q is not in %s", want, logged.String())
		}
		if strings.Contains(logged.String(), "secret") {
			t.Error("the log has arguments")
		}
		_ = f.srv.Shutdown(t.Context())
	})
}
