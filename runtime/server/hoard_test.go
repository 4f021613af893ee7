package server

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/inflight"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
)

// hoards are ways in which a principal makes calls and does not read the answers. end lets it read, or go.
var hoards = map[string]func(f *fixture, ctx context.Context, calls int) (end func()){
	"exchanges": func(f *fixture, ctx context.Context, calls int) func() {
		return f.stuckCalls(ctx, calls)
	},
	"connections": func(f *fixture, ctx context.Context, calls int) func() {
		var ends []func()
		for range 2 {
			c, served := f.silent(ctx)
			for i := range calls {
				c.call(fmt.Sprint(i), "large", `{}`)
			}
			ends = append(ends, func() { c.conn.Close(); <-served })
		}
		return func() {
			for _, end := range ends {
				end()
			}
		}
	},
	"sessions": func(f *fixture, ctx context.Context, calls int) func() {
		out := newStuck(f.t, "content")
		out.held = make(chan struct{}, calls)
		s := f.srv.NewSession(ctx, out)
		s.Receive(ctx, []byte(initializeFrame))
		for i := range calls {
			s.Receive(ctx, fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"large","arguments":{}}}`, i))
		}
		return func() {
			close(out.free)
			if err := s.Close(&inflight.Cause{Source: inflight.SourceDisconnect}); err != nil {
				f.t.Error(err)
			}
		}
	},
}

// However many callers leave much unread, by whatever means, another one is answered at once, and what waits to be read stays within its
// limit.
func TestTSK28CallersThatDoNotReadHoldUpNobodyElse(t *testing.T) {
	const limit, size = 7 << 20, 300 << 10
	for name, hoard := range hoards {
		for _, k := range []int{1, 2, 3, 10} {
			t.Run(fmt.Sprint(k, " with ", name), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					f := dual(t, Definition{Tools: []Tool{
						tool("large", large(size, new(atomic.Int64))), tool("small", large(100, new(atomic.Int64))), tool("medium", large(20<<10, new(atomic.Int64))),
					}}, WithMaxBytesUnread(limit))
					var ends []func()
					for i := range k {
						ends = append(ends, hoard(f, WithPrincipal(t.Context(), fmt.Sprint("mallory", i)), 10))
						synctest.Wait()
					}
					if got := f.srv.unread.total(); got > limit || f.waiting() == 0 {
						t.Errorf("%d bytes are unread, and %d calls wait", got, f.waiting())
					}
					for i, tool := range []string{"small", "medium", "large", "small", "medium", "large"} {
						f.atOnce(t, fmt.Sprint("bob", i%2), frame(1, "tools/call", nothing, callParams(tool, `{}`)))
					}
					for _, end := range ends {
						end()
					}
					synctest.Wait()
					f.counted()
				})
			})
		}
	}
}

// unreadOutlet is one whose peer does not read answers until it is given up.
type unreadOutlet struct {
	*stuckOutlet
	began   time.Time
	bytes   atomic.Int64
	givenUp atomic.Bool
}

func (o *unreadOutlet) Write(about rpc.ID, last bool, frame []byte) error {
	o.began = time.Now()
	o.bytes.Store(int64(len(frame)))
	defer o.bytes.Store(0)
	return o.stuckOutlet.Write(about, last, frame)
}

func (o *unreadOutlet) Stalled(wait time.Duration) (bytes int64, ending bool) {
	if n := o.bytes.Load(); n > 0 && time.Since(o.began) >= wait {
		return n, false
	}
	return 0, false
}

func (o *unreadOutlet) GiveUp(time.Duration) {
	if !o.givenUp.Swap(true) {
		close(o.free)
	}
}

// Callers without an identity have one part together. One who does not read leaves small answers to the others, and gives
// way to large ones after five seconds.
func TestTSK28WhoReadsNothingGivesWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := dual(t, Definition{Tools: []Tool{tool("large", large(1<<20, new(atomic.Int64))), tool("small", large(100, new(atomic.Int64)))}}, WithMaxBytesUnread(16<<20))
		call := frame(1, "tools/call", nothing, callParams("large", `{}`))
		f.atOnce(t, "", frame(1, "tools/call", nothing, callParams("small", `{}`))) // from now on its answers are known to be small
		var outs, all []*unreadOutlet
		for range 30 {
			out := &unreadOutlet{stuckOutlet: newStuck(t, "content")}
			f.begin(t.Context(), call, out)
			all = append(all, out)
			synctest.Wait()
			if out.bytes.Load() > 0 {
				outs = append(outs, out)
			}
		}
		if f.waiting() == 0 {
			t.Fatal("there is room")
		}
		f.atOnce(t, "", frame(1, "tools/call", nothing, callParams("small", `{}`)))
		f.atOnce(t, "bob", call)
		time.Sleep(maxStall - time.Second)
		if n := givenUp(outs); n != 0 {
			t.Errorf("%d answers are given up though they were there for %v", n, maxStall-time.Second)
		}
		time.Sleep(2 * time.Second)
		if n := givenUp(outs); n == 0 {
			t.Errorf("%d of %d answers are given up", n, len(outs))
		}
		for _, out := range all {
			out.GiveUp(0)
		}
		synctest.Wait()
		f.counted()
	})
}

func givenUp(outs []*unreadOutlet) (n int) {
	for _, o := range outs {
		if o.givenUp.Load() {
			n++
		}
	}
	return n
}
