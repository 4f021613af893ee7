package server

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
)

// sizedFixture has a tool whose answers are large for mallory alone, and which waits once it is held.
func sizedFixture(t *testing.T) (f *fixture, call func(who string, n int), held *atomic.Pointer[hold]) {
	held = new(atomic.Pointer[hold])
	large := strings.Repeat("x", 300<<10)
	f = dual(t, Definition{Tools: []Tool{tool("sized", plain(func(ctx context.Context, c *Call) (*echoOutput, error) {
		out := &echoOutput{"x"}
		if c.Principal() == "mallory" {
			out.Text = large
		}
		if h := held.Load(); h != nil {
			return out, h.run(ctx, c)
		}
		return out, nil
	}))}}, WithMaxBytesUnread(8<<20))
	return f, func(who string, n int) {
		for range n {
			f.begin(as(t, who), frame(1, "tools/call", nothing, callParams("sized", `{}`)), newInbox(t))
			if held.Load() == nil {
				synctest.Wait()
			}
		}
		synctest.Wait()
	}, held
}

// Neither do the large answers that one caller gets from a tool make the small ones of others wait, nor do those let many large ones begin.
func TestTSK28WhatIsExpectedOfACallerIsItsOwn(t *testing.T) {
	for name, c := range map[string]struct {
		first, then string
		most, least int
	}{
		"small ones do not wait":      {"mallory", "bob", 50, 50},
		"large ones are not overseen": {"bob", "mallory", 8, 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f, call, held := sizedFixture(t)
				call("mallory", 1)
				call("bob", 1)
				call(c.first, 100)
				h := newHold()
				held.Store(h)
				call(c.then, 50)
				if n := len(h.began); n < c.least || n > c.most {
					t.Errorf("%d calls of 50 began", n)
				}
				h.free()
				synctest.Wait()
				f.counted()
			})
		})
	}
}

// So it is for lists.
func TestTSK28WhatIsExpectedOfAListIsItsCallers(t *testing.T) {
	f := newFixture(t, nil)
	x := &f.srv.taskLists
	f.srv.sizeCache.learn(x, Requestor{principal: "mallory"}, 1<<20)
	f.srv.sizeCache.learn(x, Requestor{principal: "bob"}, 10)
	for who, want := range map[string]int64{"mallory": 1 << 20, "bob": 0, "eve": x.overall.load().size()} {
		if got := f.srv.sizeCache.size(x, Requestor{principal: who}); got != want {
			t.Errorf("%d bytes are expected of %s", got, who)
		}
	}
}

// What is known of callers is bounded, and goes when it is nothing special.
func TestTSK28WhatIsExpectedIsBounded(t *testing.T) {
	var c sizeCache
	x := new(answerSizes)
	who := func(i int) Requestor { return Requestor{principal: fmt.Sprint(i)} }
	for i := range 2 * maxSizeEntries {
		c.learn(x, who(i), 300<<10)
	}
	c.learn(x, Requestor{principal: strings.Repeat("x", maxCaller+1)}, 300<<10)
	if n := len(c.of); n != maxSizeEntries || c.used.Len() != n || x.known.Load() != int64(n) {
		t.Errorf("%d are known, %d in order, %d counted", n, c.used.Len(), x.known.Load())
	}
	if got := c.size(x, who(0)); got == 0 {
		t.Error("a caller who is forgotten has small answers")
	}
	for i := range 2 * maxSizeEntries {
		for range 100 {
			c.learn(x, who(i), 10)
		}
	}
	if n := len(c.of); n != 0 || c.used.Len() != 0 || x.known.Load() != 0 {
		t.Errorf("%d are known, %d in order, %d counted", n, c.used.Len(), x.known.Load())
	}
	if got := c.size(x, who(0)); got != 0 {
		t.Errorf("%d bytes are expected", got)
	}
}
