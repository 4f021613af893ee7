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

// counted checks that nothing is counted any more.
func (f *fixture) counted() {
	f.t.Helper()
	if s := f.srv; s.unread.used.Load() != 0 || s.packing.used.Load() != 0 || s.coming.used.Load() != 0 || s.bytes.Used() != 0 || s.calls.Used() != 0 || s.unread.waits.Load() != 0 {
		f.t.Errorf("still counted: %d unread, %d of tasks, %d of messages, %d calls; %d wait", s.unread.used.Load(), s.packing.used.Load(), s.bytes.Used(), s.calls.Used(), s.unread.waits.Load())
	}
	f.srv.mu.Lock()
	defer f.srv.mu.Unlock()
	for who, a := range f.srv.accounts {
		if a.calls.Load() != 0 || a.bytes.Load() != 0 || a.unread.used.Load() != 0 || a.coming.used.Load() != 0 || a.unread.waits.Load() != 0 || a.peers.Load() <= 0 {
			f.t.Errorf("still counted for %+v: %d calls, %d bytes, %d unread, %d peers", who, a.calls.Load(), a.bytes.Load(), a.unread.used.Load(), a.peers.Load())
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
		before, most := ran.Load(), 16<<20+shares()*(4<<20)
		if got := f.srv.unread.used.Load(); before == 0 || got > most {
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
		if took := time.Since(start); took < maxWait || took > 2*maxWait {
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
		for _, most := range []int64{9, 17} {
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

func TestBudgetIsGrantedInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &budget{limit: 10}
		var late atomic.Int64
		if err := b.take(t.Context(), 8, nil); err != nil {
			t.Fatal(err)
		}
		var order []int
		var mu sync.Mutex
		take := func(ctx context.Context, i int, n int64) {
			if b.take(ctx, n, func() { late.Add(1) }) == nil {
				mu.Lock()
				defer mu.Unlock()
				order = append(order, i)
			}
		}
		ctx, leave := context.WithCancel(t.Context())
		go take(ctx, 1, 5)
		synctest.Wait()
		go take(t.Context(), 2, 2) // there is room, but 1 was first
		synctest.Wait()
		if len(order) > 0 {
			t.Errorf("%v went on", order)
		}
		time.Sleep(maxWait + time.Second)
		leave()
		synctest.Wait()
		go take(t.Context(), 3, 20) // alone it may be larger than the limit
		synctest.Wait()
		b.change(-10)
		synctest.Wait()
		if fmt.Sprint(order) != "[2 3]" || late.Load() != 2 || b.used.Load() != 20 || b.waits.Load() != 0 {
			t.Errorf("order %v, %d late, %d used, %d wait", order, late.Load(), b.used.Load(), b.waits.Load())
		}
		b.change(-20)
	})
}

// The budgets of a server and of its endpoint add up to what a container of 2 GiB holds, twice over for the garbage collector; see
// TestTSK28BudgetsOfAnEndpoint. Six of the largest messages are in flight for one caller.
func TestTSK28BudgetsAddUp(t *testing.T) {
	s := newFixture(t, nil).srv
	sum := s.bytes.Max + s.unread.limit + s.packing.limit + s.coming.limit
	if sum > 384<<20 {
		t.Errorf("%d MiB", sum>>20)
	}
	if own := s.bytes.Max / 4 * 3; own < 6*rpc.DefaultMaxFrame {
		t.Errorf("one caller has %d bytes", own)
	}
}
