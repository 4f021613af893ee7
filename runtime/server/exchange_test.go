package server

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/inflight"
	"github.com/mcpkiln/mcpkiln/runtime/internal/wiretest"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

// 1,000 clients that go away in mid-call: every handler is told why, and nothing is left.
func TestCAN18AThousandDisconnects(t *testing.T) {
	h := newHold()
	f := dual(t, Definition{Tools: []Tool{tool("hang", h.handler())}})
	ctx, cancel := context.WithCancel(t.Context())
	var all sync.WaitGroup
	for i := range 1000 {
		all.Go(func() {
			if frames, result := f.exchange(ctx, frame(i, "tools/call", nothing, callParams("hang", `{}`))); len(frames) != 0 || !result.Silent {
				t.Errorf("%v %+v", frames, result)
			}
		})
	}
	for range 1000 {
		<-h.began
	}
	cancel()
	for range 1000 {
		if cause := <-h.ended; cause.Source != inflight.SourceDisconnect {
			t.Errorf("cause %v", cause)
		}
	}
	all.Wait()
	f.srv.mu.Lock()
	defer f.srv.mu.Unlock()
	if n := f.srv.tracker.Len() + len(f.srv.peers); n != 0 {
		t.Errorf("%d are left", n)
	}
}

func TestCAN21ShutdownEndsExchanges(t *testing.T) {
	h := newHold()
	f := dual(t, Definition{Tools: []Tool{tool("hang", h.handler())}})
	done := make(chan Result, 1)
	go func() {
		_, result := f.exchange(t.Context(), frame(1, "tools/call", nothing, callParams("hang", `{}`)))
		done <- result
	}()
	<-h.began
	if err := f.srv.Shutdown(context.Background()); err != nil {
		t.Error(err)
	}
	if cause := <-h.ended; cause.Source != inflight.SourceShutdown {
		t.Errorf("cause %v", cause)
	}
	if result := <-done; !result.Silent {
		t.Errorf("%+v", result)
	}
	f.ask(t.Context(), frame(2, "tools/list", nothing, "")).wantError(t, -32600, "shutting down")
}

func TestCAN20TimeoutsOfStatelessCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHold()
		f := dual(t, Definition{Tools: []Tool{tool("slow", h.handler(), func(t *Tool) { t.Cancel.Timeout = time.Second })}})
		m := f.ask(t.Context(), frame(1, "tools/call", nothing, callParams("slow", `{}`)))
		if m.field("result", "isError") != "true" || m.str("result", "resultType") != "complete" || !strings.Contains(m.raw, "timed out after 1s") {
			t.Error(m.raw)
		}
		c := f.dial(t.Context())
		c.initialize(`{}`)
		c.send(frame(2, "tools/call", nothing, callParams("slow", `{}`)))
		if m, _ := c.answer("2"); m.str("result", "resultType") != "complete" {
			t.Errorf("beside a session: %s", m.raw)
		}
		c.call("3", "slow", `{}`)
		if m, _ := c.answer("3"); m.field("result", "resultType") != "" || m.field("result", "isError") != "true" {
			t.Errorf("of the session: %s", m.raw)
		}
		c.close()
	})
}

func TestCAN08IdsOfBothRevisionsAreOneSpace(t *testing.T) {
	h := newHold()
	f := dual(t, Definition{Tools: []Tool{tool("hang", h.handler())}})
	c := f.dial(t.Context())
	c.initialize(`{}`)
	c.call("1", "hang", `{}`)
	<-h.began
	c.send(frame(1, "tools/call", nothing, callParams("hang", `{}`)))
	m, _ := c.answer("1")
	m.wantError(t, -32600, "in flight")
	h.free()
	if m, _ = c.answer("1"); m.Error != nil {
		t.Error(m.raw)
	}
	// Exchanges have nothing to do with each other.
	for range 2 {
		f.ask(t.Context(), frame(1, "tools/list", nothing, "")).wantNoError(t)
	}
}

// What a handler leaves running does not use the Outlet after the exchange.
func TestCAN03HandlersThatLeaveGoroutinesBehind(t *testing.T) {
	var late sync.WaitGroup
	f := dual(t, Definition{Tools: []Tool{tool("leaky", plain(func(ctx context.Context, call *Call) (*echoOutput, error) {
		late.Go(func() {
			for i := range 50 {
				call.Progress(ctx, float64(i), 0, "")
				call.LogMessage(ctx, LevelError, "", i)
			}
			_, _ = Ask(ctx, call, confirmQuestion(), "")
			_, _ = call.Do(ctx, "step", func(context.Context) ([]byte, error) { return nil, nil })
		})
		return &echoOutput{}, nil
	}))}}, WithGather(0))
	for i := range 300 {
		in := &endedOutlet{t: t}
		j, err := f.srv.Route([]byte(frameWith(i, "tools/call", forms, callParams("leaky", `{}`), `"progressToken":1,"io.modelcontextprotocol/logLevel":"debug"`)), "")
		if err != nil {
			t.Fatal(err)
		}
		if result := f.srv.Exchange(t.Context(), &j, in); result.Silent || result.Err != nil {
			t.Errorf("%+v", result)
		}
		in.ended.Store(true)
	}
	late.Wait()
}

// endedOutlet fails the test when it is used too late.
type endedOutlet struct {
	t     *testing.T
	ended atomic.Bool
}

func (o *endedOutlet) Write(_ rpc.ID, _ bool, frame []byte) error {
	runtime.Gosched()
	if o.ended.Load() {
		o.t.Errorf("after the end: %s", frame)
	}
	return nil
}

func TestExchangesAreLimited(t *testing.T) {
	h := newHold()
	f := dual(t, Definition{Tools: []Tool{tool("hang", h.handler())}}, WithMaxInFlight(1))
	done := make(chan message, 1)
	go func() { done <- f.ask(t.Context(), frame(1, "tools/call", nothing, callParams("hang", `{}`))) }()
	<-h.began
	f.ask(t.Context(), frame(2, "tools/list", nothing, "")).wantError(t, -32600, "limit reached")
	h.free()
	m := <-done
	m.wantNoError(t)
}

func TestExchangeIgnoresWhatNeedsNoAnswer(t *testing.T) {
	f := dual(t, Definition{Tools: []Tool{tool("echo", structured(echo))}})
	for _, text := range []string{
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`,
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
		`{"jsonrpc":"2.0","id":1,"result":{}}`,
		`{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"x"}}`,
	} {
		frames, result := f.exchange(t.Context(), text)
		if len(frames) != 0 || !result.Silent {
			t.Errorf("%s: %v %+v", text, frames, result)
		}
	}
}

func TestGeneratedCodeThatDoesNotFitIsRefused(t *testing.T) {
	for name, change := range map[string]func(w *wire.Revision){
		"ReadRequest":                   func(w *wire.Revision) { w.ReadRequest = nil },
		"tasks to hold their questions": func(w *wire.Revision) { w.Task.QuestionsInline = false },
		"the task functions":            func(w *wire.Revision) { w.AppendTaskDetail = nil },
		"no revision has the method":    func(w *wire.Revision) { w.Methods = w.Methods[:1] },
	} {
		w := wiretest.Revision20260728()
		change(w)
		_, err := New(Definition{Runtime: Generation1, Revisions: []*wire.Revision{w}, Methods: prompts(), Tools: []Tool{tool("job", structured(echo), withTask(TaskOptional))}})
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("want %q, got %v", name, err)
		}
	}
}

type discard struct{}

func (discard) Write(rpc.ID, bool, []byte) error { return nil }

func BenchmarkExchange(b *testing.B) {
	srv, err := New(Definition{Runtime: Generation1, Tools: []Tool{tool("echo", structured(echo))}, Revisions: []*wire.Revision{wiretest.Revision20251125(), wiretest.Revision20260728()}})
	if err != nil {
		b.Fatal(err)
	}
	text := []byte(frame(1, "tools/call", tasksAsks, callParams("echo", `{"text":"x"}`)))
	for _, parallel := range []bool{false, true} {
		b.Run(fmt.Sprintf("parallel=%v", parallel), func(b *testing.B) {
			one := func() {
				j, err := srv.Route(text, "2026-07-28")
				if err != nil {
					b.Error(err)
				}
				srv.Exchange(context.Background(), &j, discard{})
			}
			b.ReportAllocs()
			if !parallel {
				for b.Loop() {
					one()
				}
				return
			}
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					one()
				}
			})
		})
	}
}
