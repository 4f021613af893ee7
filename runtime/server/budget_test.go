package server

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/check"
	"github.com/mcpkiln/mcpkiln/runtime/internal/quota"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/task"
)

// large is a tool whose result has n bytes.
func large(n int, ran *atomic.Int64) Handler {
	result := &rawResult{`{"content":[{"type":"text","text":"` + strings.Repeat("x", n) + `"}]}`}
	return Bind(decodeAnything, func(context.Context, *Call, *noInput) (*rawResult, error) {
		ran.Add(1)
		return result, nil
	}, Unstructured(appendRawResult))
}

func decodeAnything(d *check.Decoder, _ *noInput) { d.Skip() }

// waits is how many wait.
func (b *budget) waits() (n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for e := b.queues.Front(); e != nil; e = e.Next() {
		n += len(e.Value.(*share).waiting)
	}
	return n
}

// counted checks that nothing is counted any more.
func (f *fixture) counted() {
	f.t.Helper()
	if s := f.srv; s.unread.total() != 0 || s.encoding.held() != 0 || s.coming.total() != 0 || s.probes.holds() != 0 || s.opened.total() != 0 || s.files.total() != 0 || s.bytes.Used() != 0 || s.calls.Used() != 0 || f.waiting() != 0 {
		f.t.Errorf("still counted: %d unread, %d coming, %d being encoded, %d of messages, %d calls; %d wait", s.unread.total(), s.coming.total(), s.encoding.held(), s.bytes.Used(), s.calls.Used(), f.waiting())
	}
	f.srv.mu.Lock()
	defer f.srv.mu.Unlock()
	for who, a := range f.srv.accounts {
		if a.calls.Load() != 0 || a.bytes.Load() != 0 || a.unread.held.Load() != 0 || a.coming.held.Load() != 0 || a.peers.Load() <= 0 {
			f.t.Errorf("still counted for %+v: %d calls, %d bytes, %d unread, %d peers", who, a.calls.Load(), a.bytes.Load(), a.unread.held.Load(), a.peers.Load())
		}
	}
}

// A peer that does not read keeps its own calls from being run, not those of others.
func TestTSK28UnreadAnswersStopThePeersCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var ran atomic.Int64
		f := newFixture(t, []Tool{tool("large", large(4<<20, &ran))}, WithMaxBytesUnread(64<<20))
		near, far := rpc.Pipe()
		served := make(chan error, 1)
		go func() { served <- f.srv.Serve(t.Context(), far) }()
		silent := &client{t: t, conn: near, srv: f.srv, frames: make(chan string, 1<<16), read: make(chan struct{}), served: served}
		silent.send(`{"jsonrpc":"2.0","id":"init","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`)
		for i := range 50 {
			silent.call(fmt.Sprint(i), "large", `{}`)
		}
		synctest.Wait()
		before, most := ran.Load(), int64(8<<20)
		if got := f.srv.unread.total(); before == 0 || got > most {
			t.Errorf("%d bytes wait to be read, want at most %d", got, most)
		}
		for i := range 150 {
			silent.call(fmt.Sprint(50+i), "large", `{}`)
		}
		synctest.Wait()
		if n := ran.Load() - before; n > 0 {
			t.Errorf("%d handlers began though their answers have no room", n)
		}
		other := f.dial(t.Context())
		other.initialize(`{}`)
		other.call("1", "large", `{}`)
		m, _ := other.answer("1")
		m.wantNoError(t)
		silent.cancel("199")
		var read sync.WaitGroup
		read.Go(func() {
			for range 200 { // the handshake and all but the cancelled one
				if _, err := near.ReadFrame(nil); err != nil {
					t.Error(err)
					return
				}
			}
		})
		read.Wait()
		synctest.Wait()
		f.counted()
		near.Close()
		<-served
		other.close()
	})
}

// When others wait for the room that a connection takes without reading, it is ended.
func TestTSK28AConnectionThatDoesNotReadIsEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, []Tool{tool("large", large(1<<20, new(atomic.Int64)))}, WithMaxBytesUnread(1<<20), WithGrace(time.Second))
		near, far := rpc.Pipe()
		served := make(chan error, 1)
		go func() { served <- f.srv.Serve(t.Context(), far) }()
		silent := &client{t: t, conn: near, srv: f.srv}
		silent.send(`{"jsonrpc":"2.0","id":"init","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`)
		for i := range 10 {
			silent.call(fmt.Sprint(i), "large", `{}`)
		}
		synctest.Wait()
		other := f.dial(t.Context())
		other.initialize(`{}`)
		start := time.Now()
		other.call("1", "large", `{}`)
		m, _ := other.answer("1")
		m.wantNoError(t)
		if took := time.Since(start); took < maxStall || took > maxStall+2*checkEvery {
			t.Errorf("it took %v", took)
		}
		if err := <-served; !errors.Is(err, ErrStalled) || errors.Is(err, ErrGrace) {
			t.Errorf("Serve: %v", err)
		}
		near.Close()
		other.close()
		synctest.Wait()
		f.counted()
	})
}

// A connection whose client reads slowly is not ended, however large the one frame is that it reads.
func TestTSK28AConnectionThatIsReadSlowlyIsNotEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, []Tool{tool("large", large(1<<20, new(atomic.Int64)))}, WithMaxBytesUnread(1<<20), WithGrace(time.Second))
		slow := f.dialReader()
		slow.send(callFrame("1", "large"))
		synctest.Wait()
		other := f.dial(t.Context())
		other.initialize(`{}`)
		other.call("1", "large", `{}`)
		if n := slow.line(func() { time.Sleep(time.Second) }); n < 1<<20 {
			t.Errorf("%d bytes", n)
		}
		m, _ := other.answer("1")
		m.wantNoError(t)
		slow.close()
		other.close()
		synctest.Wait()
		f.counted()
	})
}

// Answers, refusals, cancels, timeouts, tasks and lost connections give back what they took.
func TestCAN03CountedBytesComeBackToZero(t *testing.T) {
	var ran atomic.Int64
	slow := func(tl *Tool) { tl.Cancel.Timeout = time.Millisecond }
	f := newFixture(t, []Tool{
		tool("large", large(300<<10, &ran), withTask(TaskOptional)), tool("slow", large(300<<10, &ran), slow), tool("small", large(10, &ran)),
		tool("panics", Bind(decodeAnything, func(context.Context, *Call, *noInput) (*rawResult, error) { panic("x") }, Unstructured(appendRawResult))),
	}, WithMaxBytesUnread(4<<20), WithMaxBytesInFlight(1<<20), WithGrace(10*time.Second), WithTaskLimits(task.Limits{Bytes: 2 << 20}))
	pad := strings.Repeat("y", 100<<10)
	var peers sync.WaitGroup
	for range 6 {
		peers.Go(func() {
			for round := range 4 {
				near, far := rpc.Pipe()
				served := make(chan error, 1)
				go func() { served <- f.srv.Serve(t.Context(), far) }()
				var reader sync.WaitGroup
				reader.Go(func() { // some of what comes, then it is gone
					defer near.Close()
					for range 10 * (round + 1) {
						if _, err := near.ReadFrame(nil); err != nil {
							t.Error(err)
						}
					}
				})
				send := func(format string, args ...any) { _ = near.WriteFrame(fmt.Appendf(nil, format, args...)) }
				send(`{"jsonrpc":"2.0","id":"init","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`)
				for i := range 80 {
					name := []string{"large", "slow", "small", "panics", "large"}[rand.IntN(5)]
					extra := []string{"", `,"task":{}`}[rand.IntN(2)]
					send(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":{"pad":%q}%s}}`, i, name, pad[:rand.IntN(len(pad))], extra)
					if rand.IntN(4) == 0 {
						send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`, i)
					}
				}
				reader.Wait()
				<-served
			}
		})
	}
	peers.Wait()
	for len(f.srv.RunningTasks()) > 0 {
		runtime.Gosched()
	}
	if err := f.srv.Shutdown(context.Background()); err != nil {
		t.Error(err)
	}
	f.counted()
}

// What a handler returned can not be refused any more, so handlers whose outputs are large start when theirs would fit. One that
// takes long does not keep others from it.
func TestTSK28HandlersOfLargeOutputsStartAsTheirOutputsFit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var ran atomic.Int64
		free := make(chan struct{})
		c := newFixture(t, []Tool{tool("large", plain(func(context.Context, *Call) (*echoOutput, error) {
			if ran.Add(1) > 1 {
				<-free
			}
			return &echoOutput{strings.Repeat("x", 1<<20)}, nil
		}), withTask(TaskOptional)), tool("small", structured(echo), withTask(TaskOptional))}, WithMaxBytesUnread(16<<20+16<<10)).dialTasks("")
		for i := range 101 {
			c.start(fmt.Sprint(i), "large", "")
			if i == 0 {
				synctest.Wait() // its size is known
			}
		}
		for _, most := range []int64{7, 13} {
			synctest.Wait()
			if n := ran.Load(); n != most {
				t.Errorf("%d handlers began, want %d", n, most)
			}
			c.request("1001", "tasks/result", taskID(c.start("1000", "small", ""))).wantNoError(t)
			time.Sleep(lendAfter)
		}
		close(free)
		synctest.Wait()
		if n := ran.Load(); n != 101 {
			t.Errorf("%d handlers ran", n)
		}
		c.close()
		_ = c.srv.Shutdown(context.Background())
		(&fixture{t: t, srv: c.srv}).counted()
	})
}

// Outputs that are there go before those of handlers that have not begun, whoever their callers are: else each that turns out larger than
// expected would let another one begin, until the outputs of all wait in memory.
func TestTSK28AnOutputThatWaitsLetsNoOtherBegin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const limit, size, callers = 4 << 20, 300 << 10, 40
		var ran atomic.Int64
		result := func(n int) *rawResult {
			return &rawResult{`{"content":[{"type":"text","text":"` + strings.Repeat("x", n) + `"}]}`}
		}
		expected, actual, free := result(size), result(2*size), make(chan struct{})
		f := dual(t, Definition{Tools: []Tool{tool("large", Bind(decodeAnything, func(context.Context, *Call, *noInput) (*rawResult, error) {
			if ran.Add(1) == 1 {
				return expected, nil
			}
			<-free
			return actual, nil
		}, Unstructured(appendRawResult)))}}, WithMaxBytesUnread(limit))
		f.atOnce(t, "first", frame(1, "tools/call", nothing, callParams("large", `{}`)))
		var ends []func()
		for i := range callers {
			ends = append(ends, f.stuckCalls(WithPrincipal(t.Context(), fmt.Sprint(i)), 1))
		}
		synctest.Wait()
		close(free)
		synctest.Wait()
		if n := ran.Load() - 1; n > limit/size {
			t.Errorf("%d handlers ran, and there was room for %d", n, limit/size)
		}
		for _, end := range ends {
			end()
		}
		synctest.Wait()
		if n := ran.Load() - 1; n != callers {
			t.Errorf("%d handlers ran when everybody reads", n)
		}
		f.counted()
	})
}

// The text of a structured result is made when it is read.
func TestTSK28AResultIsNotKeptTwice(t *testing.T) {
	text := strings.Repeat("x", 1<<20)
	c := newFixture(t, []Tool{tool("quick", structured(echo), withTask(TaskOptional))}, WithTaskLimits(task.Limits{Bytes: 7 << 19})).dialTasks("")
	inline := c.request("1", "tools/call", `{"name":"quick","arguments":{"text":"`+text+`"}}`)
	for range 2 {
		c.call("2", "quick", `{"text":"`+text+`"},"task":{}`)
		m, _ := c.answer("2")
		m = c.request("3", "tasks/result", taskID(m.str("result", "task", "taskId")))
		if m.field("result", "content") != inline.field("result", "content") || m.field("result", "content") == "" {
			t.Errorf("kept %.200s, inline %.200s", m.raw, inline.raw)
		}
	}
}

// What becomes free goes to those who wait in turn, and nobody waits behind those whose part is used up.
func TestTSK28ABudgetIsGrantedInTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &budget{limit: 100, fair: quota.Third}
		var order []string
		var mu sync.Mutex
		take := func(ctx context.Context, who string, p *share, n int64) {
			if b.take(ctx, p, n) == nil {
				mu.Lock()
				defer mu.Unlock()
				order = append(order, who)
			}
		}
		var greedy, second, small, large share
		ctx, leave := context.WithCancel(t.Context())
		for range 3 {
			go take(ctx, "greedy", &greedy, 40)
			synctest.Wait()
		}
		for range 3 {
			go take(t.Context(), "second", &second, 20)
			synctest.Wait()
		}
		go take(t.Context(), "large", &large, 45)
		synctest.Wait()
		go take(t.Context(), "small", &small, 5)
		synctest.Wait()
		if got := fmt.Sprint(order); got != "[greedy second small]" {
			t.Errorf("%v", got)
		}
		b.change(&greedy, -40)
		synctest.Wait()
		if got := fmt.Sprint(order); got != "[greedy second small greedy]" {
			t.Errorf("%v", got)
		}
		b.change(&greedy, -40) // the other one that it waits for comes behind large
		synctest.Wait()
		if got := fmt.Sprint(order); got != "[greedy second small greedy large]" {
			t.Errorf("%v", got)
		}
		b.change(&second, -20)
		b.change(&large, -45)
		b.change(&second, -20)
		synctest.Wait()
		leave()
		synctest.Wait()
		if n := b.waits(); n != 0 || b.total() != 65 {
			t.Errorf("%d wait, %d are taken", n, b.total())
		}
	})
}

// The budgets of a server and of its endpoint add up to what a container of 2 GiB holds, twice over for the garbage collector; see
// TestTSK28BudgetsOfAnEndpoint. Six of the largest messages are in flight for one caller.
func TestTSK28BudgetsAddUp(t *testing.T) {
	s := newFixture(t, nil).srv
	sum := s.bytes.Max + s.unread.limit + s.coming.limit + int64(maxEncoders())*rpc.DefaultMaxFrame
	if sum > 384<<20 {
		t.Errorf("%d MiB", sum>>20)
	}
	if own := s.bytes.Max / 4 * 3; own < 6*rpc.DefaultMaxFrame {
		t.Errorf("one caller has %d bytes", own)
	}
}

// The answer to a timeout says that the call waited for room, where it did (CAN20).
func TestCAN20TSK28ATimeoutSaysThatTheCallWaitedForRoom(t *testing.T) {
	for name, room := range map[string]func(s *Server) *budget{
		"big": func(s *Server) *budget { return &s.files[1].budget }, "large": func(s *Server) *budget { return &s.unread },
	} {
		synctest.Test(t, func(t *testing.T) {
			tools := []Tool{bigText(1 << 20), tool("large", large(1<<20, new(atomic.Int64)))}
			for i := range tools {
				tools[i].Cancel.Timeout = time.Minute
			}
			f := newFixture(t, tools)
			c := f.dial(t.Context())
			c.initialize(`{}`)
			b, others := room(f.srv), new(share)
			b.change(others, b.limit)
			c.call("1", name, `{}`)
			want := name + " timed out after 1m0s: it waited for room for its answer, which other answers take"
			if m, _ := c.answer("1"); m.field("result", "isError") != "true" || m.field("result", "content") != `[{"type":"text","text":"`+want+`"}]` {
				t.Error(m.raw)
			}
			b.change(others, -b.limit)
			c.close()
			f.counted()
		})
	}
}
