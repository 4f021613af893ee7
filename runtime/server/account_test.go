package server

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/mcpkiln/mcpkiln/runtime/inflight"
	"github.com/mcpkiln/mcpkiln/runtime/task"
)

const initializeFrame = `{"jsonrpc":"2.0","id":"init","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`

// stuckCalls are exchanges of a caller that does not read the answers of "large". free lets it read.
func (f *fixture) stuckCalls(ctx context.Context, n int) (free func()) {
	var reads []chan struct{}
	for i := range n {
		out := newStuck(f.t, "content")
		f.begin(ctx, frame(i, "tools/call", nothing, callParams("large", `{}`)), out)
		reads = append(reads, out.free)
	}
	return func() {
		for _, read := range reads {
			close(read)
		}
	}
}

// One principal that does not read its answers holds up its own calls, whatever they come by. Others are answered at once.
func TestTSK28UnreadAnswersOfOnePrincipalHoldUpNobodyElse(t *testing.T) {
	for name, principal := range map[string]string{"a principal": "mallory", "callers without an identity": ""} {
		t.Run("exchanges of "+name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := dual(t, Definition{Tools: []Tool{tool("large", large(3<<19, new(atomic.Int64)))}}, WithMaxBytesUnread(16<<20))
				free := f.stuckCalls(WithPrincipal(t.Context(), principal), 12)
				synctest.Wait()
				if f.waiting() == 0 {
					t.Fatal("there is room")
				}
				if got := f.srv.unread.total(); got > 4<<20+3<<19 {
					t.Errorf("%d bytes wait to be read by one", got)
				}
				f.atOnce(t, "bob", frame(1, "tools/call", nothing, callParams("large", `{}`)))
				free()
				synctest.Wait()
				f.counted()
			})
		})
		t.Run("connections of "+name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := dual(t, Definition{Tools: []Tool{tool("large", large(3<<19, new(atomic.Int64)))}}, WithMaxBytesUnread(16<<20))
				var ends []func()
				for range 8 {
					c, served := f.silent(WithPrincipal(t.Context(), principal))
					for i := range 10 {
						c.call(fmt.Sprint(i), "large", `{}`)
					}
					ends = append(ends, func() { c.conn.Close(); <-served })
				}
				synctest.Wait()
				f.atOnce(t, "bob", frame(1, "tools/call", nothing, callParams("large", `{}`)))
				for _, end := range ends {
					end()
				}
				synctest.Wait()
				f.counted()
			})
		})
	}
}

// atOnce fails when a request is not answered before somebody else goes on.
func (f *fixture) atOnce(t *testing.T, principal, text string) {
	t.Helper()
	out := newInbox(t)
	done := f.begin(WithPrincipal(t.Context(), principal), text, out)
	synctest.Wait()
	select {
	case <-done:
	default:
		t.Errorf("%q waits for somebody else", principal)
	}
}

// One principal uses up neither the requests that may be in flight nor their bytes, by however many sessions it has them.
func TestTSK28OnePrincipalDoesNotUseUpWhatIsInFlight(t *testing.T) {
	for name, c := range map[string]struct {
		limit Option
		args  string
		most  int
	}{
		"requests": {WithMaxInFlight(40), `{}`, 30},
		"bytes":    {WithMaxBytesInFlight(4 << 20), `{"pad":"` + strings.Repeat("x", 100<<10) + `"}`, 31},
	} {
		for who, principal := range map[string]string{"a principal": "mallory", "nobody": ""} {
			t.Run(name+" of "+who, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					h := newHold()
					f := dual(t, Definition{Tools: jobs(h)}, c.limit)
					var sessions []*Session
					for range 3 {
						s := f.srv.NewSession(WithPrincipal(t.Context(), principal), newInbox(t))
						s.Receive(t.Context(), []byte(initializeFrame))
						for i := range 20 {
							s.Receive(t.Context(), fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"hang","arguments":%s}}`, i, c.args))
						}
						sessions = append(sessions, s)
					}
					synctest.Wait()
					if n := len(f.srv.InFlight()); n == 0 || n > c.most {
						t.Errorf("%d requests are in flight, of 3 sessions with 20 each", n)
					}
					bob := f.srv.NewSession(WithPrincipal(t.Context(), "bob"), newInbox(t))
					bob.Receive(t.Context(), []byte(initializeFrame))
					if got := bob.Receive(t.Context(), fmt.Appendf(nil, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"hang","arguments":%s}}`, c.args)); got.Refused != nil {
						t.Errorf("bob: %v", got.Refused)
					}
					h.free()
					for _, s := range append(sessions, bob) {
						if err := s.Close(&inflight.Cause{Source: inflight.SourceDisconnect}); err != nil {
							t.Error(err)
						}
					}
					f.counted()
					if n := len(f.srv.accounts); n != 0 {
						t.Errorf("%d accounts are left", n)
					}
				})
			})
		}
	}
}

// Sessions are free, so they have no quota of tasks each.
func TestTSK28AnonymousSessionsShareAQuotaOfTasks(t *testing.T) {
	h := newHold()
	f := dual(t, Definition{Tools: jobs(h)}, WithTaskLimits(task.Limits{Running: 3}))
	const create = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"hang","arguments":{"text":"x"},"task":{}}}`
	tasks := func(ctx context.Context) (created int) {
		for range 5 {
			c := f.dial(ctx)
			c.initialize(`{}`)
			c.send(create)
			if m, _ := c.answer("1"); m.Error == nil {
				created++
			}
		}
		return created
	}
	if n := tasks(t.Context()); n != 3 {
		t.Errorf("5 sessions have %d tasks", n)
	}
	if m := f.ask(t.Context(), frame(1, "tools/call", withTasks, callParams("hang", `{"text":"x"}`))); m.Error == nil {
		t.Error("a stateless caller has a quota of its own")
	}
	if n := tasks(WithQuotaKey(t.Context(), "10.0.0.1")); n != 3 {
		t.Errorf("an address has %d tasks of its own", n)
	}
	if n := tasks(WithPrincipal(t.Context(), "ada")); n != 3 {
		t.Errorf("an identity has %d tasks of its own", n)
	}
	local := f.dialLocal()
	local.send(create)
	if m, _ := local.answer("1"); m.Error != nil {
		t.Errorf("whoever started the process: %s", m.raw)
	}
	h.free()
}

// A handler that is late counts, also when its session is gone.
func TestTSK28LateHandlersCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		late := make(chan struct{})
		f := dual(t, Definition{Tools: []Tool{tool("late", plain(func(context.Context, *Call) (*echoOutput, error) {
			<-late
			return &echoOutput{}, nil
		}))}}, WithMaxInFlight(8))
		call := func() (refused bool) {
			s := f.srv.NewSession(WithPrincipal(t.Context(), "mallory"), newInbox(t))
			s.Receive(t.Context(), []byte(initializeFrame))
			got := s.Receive(t.Context(), []byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"late","arguments":{}}}`))
			synctest.Wait() // it has begun
			_ = s.Close(&inflight.Cause{Source: inflight.SourceDisconnect})
			return got.Refused != nil
		}
		for range 6 {
			call()
		}
		if !call() {
			t.Error("a seventh handler runs")
		}
		close(late)
		synctest.Wait()
		if f.counted(); len(f.srv.accounts) != 0 {
			t.Errorf("%d accounts are left", len(f.srv.accounts))
		}
		if call() {
			t.Error("still refused")
		}
	})
}

// The message of a status is told again and again, so it is short; the result says everything.
func TestTSK28StatusMessagesAreShort(t *testing.T) {
	long := strings.Repeat("ü", 1<<20)
	f := newFixture(t, []Tool{tool("fail", plain(func(context.Context, *Call) (*echoOutput, error) { return nil, errors.New(long) }), withTask(TaskOptional))})
	c := f.dialTasks("ada")
	id := c.start("1", "fail", "")
	if m := c.request("2", "tasks/result", taskID(id)); !strings.Contains(m.raw, long) {
		t.Error("the result does not say everything")
	}
	for i, method := range []string{"tasks/get", "tasks/list"} {
		params := taskID(id)
		if method == "tasks/list" {
			params = `{}`
		}
		if m := c.request(fmt.Sprint(3+i), method, params); len(m.raw) > 8<<10 || !strings.Contains(m.raw, "ü…") {
			t.Errorf("%s: %d bytes", method, len(m.raw))
		}
	}
}
