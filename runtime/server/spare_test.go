package server

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/check"
	"github.com/mcpkiln/mcpkiln/runtime/inflight"
)

// What is in flight does not hold the buffers of larger requests that were served before: nothing would count them.
func TestTSK28RequestsDoNotHoldBuffersOfEarlierOnes(t *testing.T) {
	h := newHold()
	c := newFixture(t, []Tool{tool("echo", structured(echo)), tool("hang", h.handler())}).dial(t.Context())
	c.initialize(`{}`)
	text, n := strings.Repeat("x", 30<<10), 0
	add := func(calls int) {
		for range calls / 2 {
			c.call(`"echo"`, "echo", `{"text":"`+text+`"}`)
			c.answer(`"echo"`)
			for range 2 {
				n++
				c.call(fmt.Sprint(n), "hang", `{}`)
				<-h.began
			}
		}
	}
	add(2 * spareCalls)
	before := heapLive()
	const calls = 600
	add(calls)
	if each := (heapLive() - before) / calls; each > 16<<10 {
		t.Errorf("each holds %d bytes", each)
	}
	h.free()
	c.close()
}

// Sessions hold no buffers between messages.
func TestTSK28SessionsHoldNoBuffers(t *testing.T) {
	f, ctx := newFixture(t, []Tool{tool("echo", structured(echo))}), t.Context()
	large := `{"jsonrpc":"2.0","method":"notifications/x","params":{"x":"` + strings.Repeat("x", 60<<10) + `"}}`
	open := func(n int) (sessions []*Session) {
		for range n {
			s := f.srv.NewSession(ctx, newInbox(t))
			s.Receive(ctx, []byte(large))
			sessions = append(sessions, s)
		}
		return sessions
	}
	before := heapLive()
	const sessions = 200
	all := open(sessions)
	if each := (heapLive() - before) / sessions; each > 16<<10 {
		t.Errorf("each holds %d bytes", each)
	}
	for _, s := range all {
		if err := s.Close(&inflight.Cause{Source: inflight.SourceDisconnect}); err != nil {
			t.Error(err)
		}
	}
}

// Of many inputs that are decoded together some are served: what does not fit is given back at once, whether or not its client reads why.
func TestTSK28InputsThatAreDecodedTogetherAreNotAllRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHold()
		row := func(d *check.Decoder, in *wideInput) {
			for f := d.Object(&wideRule); f >= 0; f = d.Next() {
				n := 0
				in.rows = check.List(d, nil, func(d *check.Decoder, _ *wideRow) {
					if d.Skip(); n == 100 {
						time.Sleep(time.Millisecond) // all come to the same row
					}
					n++
				})
			}
		}
		f := dual(t, Definition{Tools: []Tool{tool("wide", Bind(row, func(ctx context.Context, call *Call, _ *wideInput) (*echoOutput, error) {
			return &echoOutput{"done"}, h.run(ctx, call)
		}, Structured(appendEchoOutput, decodeEchoOutput)))}}, WithMaxBytesInFlight(6<<20))
		var outs []*stuckOutlet
		for i := range 16 {
			out := newStuck(t, "limit reached")
			f.begin(t.Context(), frame(i, "tools/call", nothing, callParams("wide", wideArguments)), out)
			outs = append(outs, out)
		}
		synctest.Wait()
		time.Sleep(time.Second)
		if n := len(h.began); n == 0 {
			t.Error("of 16 inputs none is served")
		}
		h.free()
		for _, out := range outs {
			close(out.free)
		}
		synctest.Wait()
		f.counted()
	})
}
