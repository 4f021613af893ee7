package server

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/task"
)

// asker is a tool that asks q and answers with what came back.
func asker(q *Question[confirmation]) Tool {
	return tool("ask", plain(func(ctx context.Context, call *Call) (*echoOutput, error) {
		a, err := Ask(ctx, call, q, "")
		if err != nil {
			return nil, err
		}
		return &echoOutput{fmt.Sprintf("%s %v %v", a.Action, a.Accepted(), a.Value.Overwrite)}, nil
	}), withTask(TaskOptional))
}

const (
	accepted = `{"action":"accept","content":{"overwrite":true}}`
	elicit   = "elicitation/create"
)

func (c *client) reply(question message, result string) {
	c.t.Helper()
	c.sendf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, question.ID, result)
}

// nextRequest skips notifications.
func (c *client) nextRequest() message {
	c.t.Helper()
	for {
		if m := c.next(); m.Method != "" && m.ID != nil {
			return m
		}
	}
}

func TestQuestionInline(t *testing.T) {
	c := newFixture(t, []Tool{asker(confirmQuestion())}).dialTasks("")
	c.call("1", "ask", `{}`)
	q := c.next()
	want := `{"message":"Overwrite?","mode":"form","requestedSchema":{"type":"object","properties":{"overwrite":{"type":"boolean"}},"required":["overwrite"]}}`
	if q.Method != elicit || string(q.Params) != want {
		t.Error(q.raw)
	}
	c.reply(q, accepted)
	if m, before := c.answer("1"); m.str("result", "structuredContent", "text") != "accept true true" || len(before) != 0 {
		t.Error(m.raw, before)
	}
}

func TestQuestionAnswers(t *testing.T) {
	for reply, want := range map[string]string{
		`"result":{"action":"decline"}`:                                             "decline false false",
		`"result":{"action":"cancel"}`:                                              "cancel false false",
		`"result":{"action":"accept","content":{"overwrite":false}}`:                "accept true false",
		`"result":{"action":"accept","content":{"overwrite":"yes"}}`:                "confirm",
		`"result":{"action":"accept"}`:                                              "overwrite",
		`"result":{"action":"perhaps"}`:                                             "action",
		`"result":{"action":"accept","content":{"overwrite":true},"_meta":5}`:       "/_meta: found 5, allowed: an object",
		`"result":{"action":"accept","content":{"overwrite":true},"_meta":{"a":1}}`: "accept true true",
		`"result":5`: "answer",
		`"error":{"code":-32601,"message":"no such thing"}`:             "no such thing",
		`"error":{"code":-1,"message":"user went away","data":{"a":1}}`: "user went away",
	} {
		c := newFixture(t, []Tool{asker(confirmQuestion())}).dialTasks("")
		for _, asTask := range []bool{false, true} {
			if asTask {
				id := c.start("1", "ask", "")
				c.sendf(`{"jsonrpc":"2.0","id":2,"method":"tasks/result","params":%s}`, taskID(id))
			} else {
				c.call("2", "ask", `{}`)
			}
			q := c.nextRequest()
			c.sendf(`{"jsonrpc":"2.0","id":%s,%s}`, q.ID, reply)
			if m, _ := c.answer("2"); !strings.Contains(m.raw, want) {
				t.Errorf("task %v, %s: want %q in %s", asTask, reply, want, m.raw)
			}
		}
		c.close()
	}
}

func TestQuestionNeedsTheClientsCapability(t *testing.T) {
	for capabilities, asks := range map[string]bool{
		`{}`: false, `{"elicitation":{}}`: true, `{"elicitation":{"form":{}}}`: true, `{"elicitation":{"url":{}}}`: false,
		`{"elicitation":{"url":{},"form":{}}}`: true, `{"elicitation":null}`: false,
	} {
		for fallback, want := range map[OnUnsupported]string{Fail: "can not ask", Decline: "decline false false", UseDefault: "accept true true"} {
			q := confirmQuestion()
			q.OnUnsupported, q.Default = fallback, confirmation{Overwrite: true}
			c := newFixture(t, []Tool{asker(q)}).dial(t.Context())
			c.initialize(capabilities)
			c.call("1", "ask", `{}`)
			m := c.next()
			if asked := m.Method == elicit; asked != asks || !asks && !strings.Contains(m.raw, want) {
				t.Errorf("%s, fallback %d: %s", capabilities, fallback, m.raw)
			}
			c.close()
		}
	}
}

func TestQuestionTimesOut(t *testing.T) {
	for _, asTask := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			ended := make(chan error, 1)
			c := newFixture(t, []Tool{tool("ask", plain(func(ctx context.Context, call *Call) (*echoOutput, error) {
				_, err := Ask(ctx, call, confirmQuestion(), "")
				ended <- err
				return nil, err
			}), withTask(TaskOptional))}).dialTasks("")
			start := time.Now()
			if asTask {
				c.start("1", "ask", "")
			} else {
				c.call("1", "ask", `{}`)
			}
			q := c.nextRequest()
			for range 5 { // whatever the client says of how far it is
				time.Sleep(10 * time.Second)
				c.sendf(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":%d}}`, q.ID, time.Since(start)/time.Second)
			}
			if err := <-ended; !errors.Is(err, ErrQuestionTimeout) || time.Since(start) != time.Minute {
				t.Errorf("task %v: %v after %v", asTask, err, time.Since(start))
			}
			synctest.Wait()
			var takenBack bool
			for len(c.frames) > 0 {
				m := c.next()
				takenBack = takenBack || m.Method == "notifications/cancelled" && m.field("params", "requestId") == string(q.ID)
			}
			if !takenBack {
				t.Errorf("task %v: the question was not taken back", asTask)
			}
			c.close()
			_ = c.srv.Shutdown(context.Background())
		})
	}
}

func TestQuestionNamesAreUnique(t *testing.T) {
	for _, asTask := range []bool{false, true} {
		ended := make(chan error, 2)
		c := newFixture(t, []Tool{tool("ask", plain(func(ctx context.Context, call *Call) (*echoOutput, error) {
			if _, err := Ask(ctx, call, confirmQuestion(), ""); err != nil {
				return nil, err
			}
			_, err := Ask(ctx, call, confirmQuestion(), "Something else?")
			ended <- err
			_, err = call.Do(ctx, "confirm", func(context.Context) ([]byte, error) { return nil, nil })
			ended <- err
			return &echoOutput{}, nil
		}), withTask(TaskOptional))}).dialTasks("")
		if asTask {
			c.start("1", "ask", "")
		} else {
			c.call("1", "ask", `{}`)
		}
		c.reply(c.nextRequest(), accepted)
		for range 2 {
			var name *task.NameError
			if err := <-ended; !errors.As(err, &name) {
				t.Errorf("task %v: %v", asTask, err)
			}
		}
		c.close()
	}
}

func TestTSK19QuestionOfATaskOnTheSession(t *testing.T) {
	c := newFixture(t, []Tool{asker(confirmQuestion())}).dialTasks("")
	id := c.start("1", "ask", "")
	var q message
	var statuses []string
	for q.Method != elicit {
		if q = c.next(); q.Method == "notifications/tasks/status" {
			statuses = append(statuses, q.str("params", "status"))
		}
	}
	if len(statuses) != 1 || statuses[0] != "input_required" {
		t.Error(statuses)
	}
	if q.str("params", "_meta", "io.modelcontextprotocol/related-task", "taskId") != id {
		t.Error(q.raw)
	}
	if m := c.request("2", "tasks/get", taskID(id)); m.str("result", "status") != "input_required" {
		t.Error(m.raw)
	}
	// Opening tasks/result now must not ask again: the question is with the client.
	c.sendf(`{"jsonrpc":"2.0","id":3,"method":"tasks/result","params":%s}`, taskID(id))
	if got := c.fence(); len(got) != 0 {
		t.Errorf("asked twice: %v", got)
	}
	c.reply(q, accepted)
	m, before := c.answer("3")
	if m.str("result", "structuredContent", "text") != "accept true true" {
		t.Error(m.raw)
	}
	for _, b := range before {
		if b.Method == elicit {
			t.Errorf("asked again: %s", b.raw)
		}
	}
}

// A client that is asked in the same breath as it is told of the task can not tell whose question it is.
func TestTSK19AClientHasAMomentToTakeNoteOfTheTask(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newFixture(t, []Tool{asker(confirmQuestion())}).dialTasks("me")
		start := time.Now()
		c.start("1", "ask", "")
		q := c.nextRequest()
		if took := time.Since(start); took != noteTime {
			t.Errorf("asked after %v", took)
		}
		c.reply(q, accepted)
		// A stream for the result is the client's word that it knows the task.
		id := c.start("2", "ask", "")
		start = time.Now()
		c.sendf(`{"jsonrpc":"2.0","id":3,"method":"tasks/result","params":%s}`, taskID(id))
		q = c.nextRequest()
		if took := time.Since(start); took != 0 {
			t.Errorf("asked on the stream after %v", took)
		}
		c.reply(q, accepted)
		c.answer("3")
		time.Sleep(noteTime)
		synctest.Wait()
		for len(c.frames) > 0 {
			if m := c.next(); m.Method == elicit {
				t.Error("asked twice")
			}
		}
		c.close()
	})
}

// CAN28: calls of a handler whose outputs are not known yet do not wait for one another's questions.
func TestCAN28ManyCallsAskAtOnce(t *testing.T) {
	for _, asTask := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			const calls = 100
			f := newFixture(t, []Tool{asker(confirmQuestion())})
			c := f.dialTasks("me")
			start := time.Now()
			for i := range calls {
				extra := ""
				if asTask {
					extra = `,"task":{}`
				}
				c.sendf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"ask","arguments":{}%s}}`, i+1, extra)
			}
			for range calls {
				c.nextRequest()
			}
			if took := time.Since(start); took >= lendProbe {
				t.Errorf("the last was asked after %v", took)
			}
			c.close()
			_ = f.srv.Shutdown(context.Background())
		})
	}
}

// A client that asks for the result when input is required and never looks at other streams still gets the question; on
// another connection of the same identity, because the one that made the task is gone.
func TestTSK19QuestionOfATaskOnAResultStream(t *testing.T) {
	f := newFixture(t, []Tool{asker(confirmQuestion())})
	first := f.dialTasks("me")
	id := first.start("1", "ask", "")
	first.nextRequest()
	first.close() // unanswered
	second := f.dialTasks("me")
	if m := second.request("1", "tasks/get", taskID(id)); m.str("result", "status") != "input_required" {
		t.Error(m.raw)
	}
	second.sendf(`{"jsonrpc":"2.0","id":2,"method":"tasks/result","params":%s}`, taskID(id))
	q := second.nextRequest()
	if q.str("params", "_meta", "io.modelcontextprotocol/related-task", "taskId") != id {
		t.Error(q.raw)
	}
	second.reply(q, accepted)
	if m, _ := second.answer("2"); m.str("result", "structuredContent", "text") != "accept true true" {
		t.Error(m.raw)
	}
}

func TestTSK19TheStreamComesFirstAndTheSessionTakesOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := make(chan struct{})
		f := newFixture(t, []Tool{tool("ask", plain(func(ctx context.Context, call *Call) (*echoOutput, error) {
			<-begin
			a, err := Ask(ctx, call, confirmQuestion(), "")
			return &echoOutput{string(a.Action)}, err
		}), withTask(TaskOptional))})
		session, stream := f.dialTasks("me"), f.dialTasks("me")
		id := session.start("1", "ask", "")
		stream.sendf(`{"jsonrpc":"2.0","id":1,"method":"tasks/result","params":%s}`, taskID(id))
		synctest.Wait()
		close(begin)
		q := stream.nextRequest()
		synctest.Wait()
		for len(session.frames) > 0 {
			if m := session.next(); m.Method == elicit {
				t.Error("the question is on both")
			}
		}
		stream.cancel("1")
		if m := stream.next(); m.Method != "notifications/cancelled" || m.field("params", "requestId") != string(q.ID) {
			t.Error(m.raw)
		}
		session.reply(session.nextRequest(), accepted)
		synctest.Wait()
		if m := stream.request("2", "tasks/result", taskID(id)); m.str("result", "structuredContent", "text") != "accept" {
			t.Error(m.raw)
		}
		session.close()
		stream.close()
		_ = f.srv.Shutdown(context.Background())
	})
}

func TestTSK19CancellingTheTaskTakesTheQuestionBack(t *testing.T) {
	c := newFixture(t, []Tool{asker(confirmQuestion())}).dialTasks("")
	id := c.start("1", "ask", "")
	q := c.nextRequest()
	c.sendf(`{"jsonrpc":"2.0","id":2,"method":"tasks/result","params":%s}`, taskID(id))
	c.sendf(`{"jsonrpc":"2.0","id":3,"method":"tasks/cancel","params":%s}`, taskID(id))
	var result, cancelled, back bool
	for !result || !cancelled || !back {
		switch m := c.next(); {
		case string(m.ID) == "2":
			m.wantError(t, task.CodeCancelled)
			result = true
		case string(m.ID) == "3":
			cancelled = m.str("result", "status") == "cancelled"
		case m.Method == "notifications/cancelled":
			back = m.field("params", "requestId") == string(q.ID)
		}
	}
	c.reply(q, accepted) // too late
	if m := c.request("4", "tasks/get", taskID(id)); m.str("result", "status") != "cancelled" {
		t.Error(m.raw)
	}
}

func TestQuestionAfterTheCallIsOver(t *testing.T) {
	leaked := make(chan *Call, 1)
	c := newFixture(t, []Tool{tool("leak", plain(func(_ context.Context, call *Call) (*echoOutput, error) {
		leaked <- call
		return &echoOutput{}, nil
	}))}).dialTasks("")
	c.call("1", "leak", `{}`)
	c.answer("1")
	if _, err := Ask(context.Background(), <-leaked, confirmQuestion(), ""); err == nil {
		t.Error("asked for a call that is over")
	}
	if got := c.fence(); len(got) != 0 {
		t.Error(got)
	}
}

func TestErrorsOfAnswersCanBeTold(t *testing.T) {
	var own *rpc.Error
	q := confirmQuestion()
	if _, err := q.decode([]byte(`{"error":{"Code":-5,"Message":"x"}}`), newFixture(t, nil).srv.cfg.limits, nil); !errors.As(err, &own) || own.Code != -5 {
		t.Error(err)
	}
	var bad *AnswerError
	if _, err := q.decode([]byte(`{"action":"accept","content":{}}`), newFixture(t, nil).srv.cfg.limits, nil); !errors.As(err, &bad) || bad.Question != "confirm" {
		t.Error(err)
	}
}

// slowAsker works for 20s, asks two questions at once, and works for the time given.
func slowAsker(then time.Duration) Tool {
	return tool("slow", plain(func(ctx context.Context, call *Call) (*echoOutput, error) {
		work := func(d time.Duration) error {
			select {
			case <-time.After(d):
				return nil
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
		if err := work(20 * time.Second); err != nil {
			return nil, err
		}
		var both sync.WaitGroup
		var errs [2]error
		for i := range errs {
			q := confirmQuestion()
			q.Timeout = 10 * time.Minute
			both.Go(func() { _, errs[i] = Ask(ctx, call, q, "", Named(fmt.Sprint(i))) })
		}
		both.Wait()
		return &echoOutput{"done"}, errors.Join(errs[0], errs[1], work(then))
	}), withTask(TaskOptional), func(t *Tool) { t.Cancel.Timeout, t.Task.Timeout = 30*time.Second, 30*time.Second })
}

// CAN28: a person may take as long as the question allows; the call has as much time of its own as without one.
func TestCAN28TimeToAnswerCountsInNoTimeout(t *testing.T) {
	for then, want := range map[time.Duration]string{9 * time.Second: "done", 11 * time.Second: "timed out after 30s"} {
		for _, asTask := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				c := newFixture(t, []Tool{slowAsker(then)}).dialTasks("me")
				start := time.Now()
				if asTask {
					id := c.start("1", "slow", "")
					c.sendf(`{"jsonrpc":"2.0","id":2,"method":"tasks/result","params":%s}`, taskID(id))
				} else {
					c.call("2", "slow", `{}`)
				}
				first, second := c.nextRequest(), c.nextRequest()
				time.Sleep(5 * time.Minute)
				c.reply(first, accepted)
				time.Sleep(4 * time.Minute)
				c.reply(second, accepted)
				m, _ := c.answer("2")
				if !strings.Contains(m.raw, want) {
					t.Errorf("task %v, then %v: want %q, got %s", asTask, then, want, m.raw)
				}
				if took := time.Since(start) - 9*time.Minute - 20*time.Second; took != min(then, 10*time.Second) {
					t.Errorf("task %v, then %v: ended after %v", asTask, then, took)
				}
				c.close()
				_ = c.srv.Shutdown(context.Background())
			})
		}
	}
}
