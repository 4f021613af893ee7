package server

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/inflight"
)

// waitOf is how long a refusal says to wait; it has to say so in words, too.
func (m message) waitOf(t *testing.T) time.Duration {
	t.Helper()
	var got struct {
		Error struct {
			Code    int
			Message string
			Data    struct{ RetryAfterMs int64 }
		}
	}
	if err := json.Unmarshal([]byte(m.raw), &got); err != nil || got.Error.Code != -32600 || got.Error.Data.RetryAfterMs <= 0 {
		t.Fatalf("%v: %s", err, m.raw)
	}
	wait := time.Duration(got.Error.Data.RetryAfterMs) * time.Millisecond
	if !strings.Contains(got.Error.Message, "try again in "+wait.String()) {
		t.Errorf("the message does not say %v: %s", wait, m.raw)
	}
	return wait
}

func ratedFixture(t *testing.T, r Rates, opts ...Option) *fixture {
	return dual(t, Definition{
		Tools:   jobs(newHold()),
		Methods: []MethodHandler{pages(10, new(atomic.Int64))},
	}, append(opts, WithRates(r))...)
}

// What one principal asks too often is refused until it has waited as long as it was told, and nobody else is.
func TestLET03RequestsOfAPrincipalAreLimited(t *testing.T) {
	for name, ask := range map[string]string{
		"tools/call":     frame(1, "tools/call", withTasks, callParams("echo", `{"text":"x"}`)),
		"resources/read": frame(1, "resources/read", nothing, `"uri":"test://x"`),
		"tasks/get":      frame(1, "tasks/get", withTasks, `"taskId":"x"`),
	} {
		synctest.Test(t, func(t *testing.T) {
			f := ratedFixture(t, Rates{Calls: 5, Methods: 5, Tasks: 5, UnknownTasks: -1})
			ada, bob := as(t, "ada"), as(t, "bob")
			refused := func(ctx context.Context) bool {
				m := f.ask(ctx, ask)
				return m.Error != nil && m.Error.Code == -32600
			}
			for i := range 50 {
				if refused(ada) {
					t.Fatalf("%s: refused after %d", name, i)
				}
			}
			wait := f.ask(ada, ask).waitOf(t)
			if wait != 200*time.Millisecond {
				t.Errorf("%s: wait %v", name, wait)
			}
			if refused(bob) || refused(t.Context()) {
				t.Errorf("%s: somebody else is refused", name)
			}
			time.Sleep(wait)
			if refused(ada) || !refused(ada) {
				t.Errorf("%s: one should pass after %v", name, wait)
			}
			f.ask(ada, frame(1, "tasks/cancel", withTasks, `"taskId":"x"`)).wantError(t, -32602)
		})
	}
}

// By default, callers of a transport that many share are limited if they can be told apart. Whoever has a connection of its own only
// slows itself down.
func TestLET03DefaultsAreForCallersThatCanBeToldApart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := dual(t, Definition{Tools: []Tool{tool("echo", structured(echo))}})
		call := frame(1, "tools/call", nothing, callParams("echo", `{"text":"x"}`))
		for name, caller := range map[string]struct {
			ctx     context.Context
			key     string
			limited bool
		}{
			"principal": {as(t, "ada"), "principal:ada", true},
			"address":   {WithQuotaKey(t.Context(), "192.0.2.1"), "192.0.2.1", true},
			"nobody":    {t.Context(), "nobody:", false},
		} {
			f.ask(caller.ctx, call).wantNoError(t)
			for range 99_999 { // the rest of ten seconds' worth
				f.srv.rates.callers.Take(rateKey{ratedCalls, caller.key}, f.srv.rates.defaults[ratedCalls], 1)
			}
			if m := f.ask(caller.ctx, call); (m.Error != nil) != caller.limited {
				t.Errorf("%s: %s", name, m.raw)
			}
		}
	})
	f := newFixture(t, []Tool{tool("echo", structured(echo))})
	for name, c := range map[string]*client{"local": f.dialLocal(), "identity": f.dialTasks("ada")} {
		for i := range 2_000 {
			c.call(fmt.Sprint(i), "echo", `{"text":"x"}`)
		}
		for _, m := range c.fence() {
			if m.Error != nil {
				t.Fatalf("%s: %s", name, m.raw)
			}
		}
		if c.srv.rates.set[ratedCalls].PerSecond != 0 || c.srv.onlyPeer().identified() {
			t.Errorf("%s: a connection is limited by default", name)
		}
	}
}

// Anonymous callers share a rate that is set, unless a quota key tells them apart: then each has it.
func TestLET03AnonymousCallersAreTheAuthorsChoice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		call := frame(1, "tools/call", nothing, callParams("echo", `{"text":"x"}`))
		refused := func(f *fixture, ctx context.Context, n int) (refused int) {
			for range n {
				if m := f.ask(ctx, call); m.Error != nil && m.Error.Code == -32600 {
					refused++
				}
			}
			return refused
		}
		bounded := ratedFixture(t, Rates{Calls: 5})
		if n := refused(bounded, t.Context(), 60); n != 10 {
			t.Errorf("anonymous callers: %d of 60 refused", n)
		}
		for _, address := range []string{"192.0.2.1", "192.0.2.2"} {
			if n := refused(bounded, WithQuotaKey(t.Context(), address), 60); n != 10 {
				t.Errorf("%s: %d of 60 refused", address, n)
			}
		}
		if open := ratedFixture(t, Rates{}); open.srv.rates.set[ratedCalls].PerSecond != 0 || refused(open, t.Context(), 60) != 0 {
			t.Error("anonymous callers have a default")
		}
	})
}

// Guesses of task ids are refused soon, and do not fill the log.
func TestLET03GuessedTasksAreRefusedAndCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log syncBuffer
		f := newFixture(t, jobs(newHold()), WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
		c := f.dialLocal()
		id := c.start("1", "quick", "")
		unknown, refused := 0, 0
		for i := range 3_000 {
			method := []string{"tasks/get", "tasks/cancel", "tasks/result"}[i%3]
			m := c.request("2", method, taskID(fmt.Sprint("guess", i)))
			if m.Error.Code == -32602 {
				unknown++
			} else {
				refused++
				m.waitOf(t)
			}
		}
		if unknown != 100 || refused != 2_900 {
			t.Errorf("%d unknown, %d refused", unknown, refused)
		}
		c.request("3", "tasks/get", taskID(id)).wantNoError(t)
		time.Sleep(2 * time.Second)
		f.srv.records.Flush(t.Context())
		warned := strings.Count(log.String(), "level=WARN")
		if warned != 4 || !strings.Contains(log.String(), "count=2999") || !strings.Contains(log.String(), "count=2899") {
			t.Errorf("%d warnings: %s", warned, log.String())
		}
		c.close()
	})
}

// One call can not flood its client with log messages.
func TestLET03LogMessagesOfACallAreLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log syncBuffer
		f := dual(t, Definition{Tools: []Tool{tool("chatty", plain(func(ctx context.Context, call *Call) (*echoOutput, error) {
			for range 500 {
				call.LogMessage(ctx, LevelError, "", "x")
			}
			time.Sleep(time.Second)
			for range 500 {
				call.LogMessage(ctx, LevelError, "", "later")
			}
			return &echoOutput{}, nil
		}))}}, WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
		c := f.dial(t.Context())
		c.initialize(`{}`)
		for range 2 { // each call has its own rate
			c.call("1", "chatty", `{}`)
			_, before := c.answer("1")
			if len(before) != 200+20 {
				t.Errorf("%d messages", len(before))
			}
		}
		time.Sleep(2 * time.Second)
		f.srv.records.Flush(t.Context())
		if got := log.String(); !strings.Contains(got, "log message not sent") || !strings.Contains(got, "count=") || strings.Count(got, "\n") > 8 {
			t.Errorf("logged: %s", got)
		}
		c.close()
	})
}

// A subscription counts for what it makes the server do: each resource runs a handler, each unknown task is a guess.
func TestLET03SubscriptionsCountWhatTheyName(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := dual(t, Definition{Tools: jobs(newHold()), Methods: append(prompts(), keepingMethods()...)}, WithRates(Rates{Methods: 5, Tasks: 5, UnknownTasks: 1}))
		listen := func(ctx context.Context, member string, n int) message {
			names := make([]string, n)
			for i := range names {
				names[i] = fmt.Sprintf("test://%d", i)
			}
			list, _ := json.Marshal(names)
			l, m := f.listen(ctx, withTasks, fmt.Sprintf(`{%q:%s}`, member, list))
			l.cancel()
			<-l.done
			return m
		}
		acknowledged := func(m message) {
			if m.Method != "notifications/subscriptions/acknowledged" {
				t.Error(m.raw)
			}
		}
		ada := as(t, "ada")
		acknowledged(listen(ada, "resourceSubscriptions", 39))
		if wait := listen(ada, "resourceSubscriptions", 14).waitOf(t); wait != time.Second {
			t.Errorf("wait %v for 15 of which 10 are left", wait)
		}
		if wait := f.ask(ada, frame(1, "prompts/list", nothing, "")); wait.Error != nil {
			t.Errorf("a refusal has used up what was left: %s", wait.raw)
		}
		listen(as(t, "bob"), "resourceSubscriptions", 50).wantError(t, -32600, "at most 50")
		acknowledged(listen(ada, "taskIds", 9))
		listen(ada, "taskIds", 9).waitOf(t)
		listen(as(t, "eve"), "taskIds", 51).wantError(t, -32600, "at most 50")
		if left := f.srv.subscriptions(); left != 0 {
			t.Errorf("%d subscriptions are left", left)
		}
	})
}

// Strangers have one allowance of unknown tasks together, however many sessions and connections they open; who asks for a task that is there,
// has an identity or is told apart by the operator is not held up by them.
func TestLET03FreshSessionsGetNoMoreGuesses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := dual(t, Definition{Tools: jobs(newHold())})
		own := f.dial(t.Context())
		own.initialize(`{}`)
		id := own.start("1", "quick", "")
		unknown := 0
		guess := func(c *client) bool {
			m := c.request("2", "tasks/get", taskID("guess"))
			if m.Error != nil && m.Error.Code == -32602 {
				unknown++
				return true
			}
			m.waitOf(t)
			return false
		}
		fresh := func(ctx context.Context) *client {
			c := f.dial(ctx)
			c.initialize(`{}`)
			return c
		}
		for range 30 {
			c := fresh(t.Context())
			for range 20 {
				guess(c)
			}
			c.close()
		}
		if unknown != 100 {
			t.Errorf("%d guesses of strangers are answered", unknown)
		}
		f.ask(t.Context(), frame(1, "tasks/get", withTasks, `"taskId":"guess"`)).waitOf(t) // without a session
		for range 200 {
			own.request("3", "tasks/get", taskID(id)).wantNoError(t)
			time.Sleep(10 * time.Millisecond)
			guess(own)
		}
		for name, ctx := range map[string]context.Context{"an identity": as(t, "ada"), "a quota key": WithQuotaKey(t.Context(), "192.0.2.1")} {
			if c := fresh(ctx); !guess(c) {
				t.Errorf("%s: refused for others' guesses", name)
			}
		}
	})
}

// A rate that is set bounds strangers together over HTTP, also those with sessions.
func TestLET03FreshSessionsGetNoMoreCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := ratedFixture(t, Rates{Calls: 5})
		passed := 0
		for range 30 {
			out := newInbox(t)
			s := f.srv.NewSession(t.Context(), out)
			s.Receive(t.Context(), []byte(`{"jsonrpc":"2.0","id":"i","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`))
			s.Receive(t.Context(), []byte(`{"jsonrpc":"2.0","method":"notifications/initialized"}`))
			for i := range 20 {
				s.Receive(t.Context(), fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"never","arguments":{"text":"x"}}}`, i))
			}
			synctest.Wait()
			for _, m := range out.frames {
				if m.Error == nil && !strings.Contains(m.raw, "protocolVersion") {
					passed++
				}
			}
			if err := s.Close(&inflight.Cause{Source: inflight.SourceDisconnect}); err != nil {
				t.Error(err)
			}
		}
		if passed != 50 {
			t.Errorf("%d calls of strangers passed", passed)
		}
	})
}
