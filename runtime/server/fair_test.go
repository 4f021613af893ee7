package server

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// crowd are callers with an identity each that do not read the answer to one call. end lets them go.
func (f *fixture) crowd(ctx context.Context, n int, call string) (end func()) {
	var outs []*unreadOutlet
	var done []<-chan struct{}
	for i := range n {
		out := &unreadOutlet{stuckOutlet: newStuck(f.t, "content")}
		done = append(done, f.begin(WithPrincipal(ctx, fmt.Sprint("mallory", i)), call, out))
		outs = append(outs, out)
	}
	return func() {
		for _, out := range outs {
			out.GiveUp(0)
		}
		for _, d := range done {
			<-d
		}
		f.counted()
	}
}

// readIn is how long the answer to a call takes.
func (f *fixture) readIn(ctx context.Context, call string) time.Duration {
	f.t.Helper()
	start := time.Now()
	if m := f.ask(ctx, call); m.Error != nil {
		f.t.Error(m.raw)
	}
	return time.Since(start)
}

// However many callers do not read, one that does waits for few of them: a few seconds the first time, and as long as the next one is given up on
// afterwards.
func TestTSK28WhoReadsDoesNotWaitForAllThatDoNot(t *testing.T) {
	for _, n := range []int{100, 400} {
		synctest.Test(t, func(t *testing.T) {
			f := dual(t, Definition{Tools: []Tool{tool("large", large(300<<10, new(atomic.Int64))), tool("small", large(100, new(atomic.Int64)))}}, WithMaxBytesUnread(4<<20))
			call := frame(1, "tools/call", nothing, callParams("large", `{}`))
			small := frame(1, "tools/call", nothing, callParams("small", `{}`))
			f.atOnce(t, "bob", small) // from now on its answers are known to be small
			end := f.crowd(t.Context(), n, call)
			synctest.Wait()
			if f.waiting() == 0 {
				t.Fatal("there is room")
			}
			if took := f.readIn(as(t, "bob"), small); took != 0 {
				t.Errorf("%d: a small answer took %v", n, took)
			}
			if took := f.readIn(as(t, "bob"), call); took > maxStall+2*checkEvery {
				t.Errorf("%d: the first large answer took %v", n, took)
			}
			for range 3 {
				if took := f.readIn(as(t, "bob"), call); took > maxStall+2*checkEvery {
					t.Errorf("%d: another large answer took %v", n, took)
				}
			}
			end()
		})
	}
}

// Who was given up on comes after all others, for a minute.
func TestTSK28WhoWasGivenUpOnComesLast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var known reputations
		b := &budget{limit: 100, fair: func(own, used, n, limit int64) bool { return used+n <= limit }, reputations: &known}
		ada, bob, eve := &share{who: Requestor{principal: "ada"}}, &share{who: Requestor{principal: "bob"}}, &share{who: Requestor{principal: "eve"}}
		known.hasRead(ada.who)
		known.hasRead(eve.who)
		known.hasStalled(eve.who)
		known.hasRead(eve.who) // what the system took
		holder := &share{}
		b.change(holder, 100)
		var order []string
		for _, p := range []*share{eve, bob, ada} {
			go func() {
				if err := b.take(t.Context(), p, 100); err != nil {
					t.Error(err)
				}
				order = append(order, p.who.principal)
				b.change(p, -100)
			}()
			synctest.Wait()
		}
		b.change(holder, -100)
		synctest.Wait()
		if got := strings.Join(order, " "); got != "ada bob eve" {
			t.Error(got)
		}
		time.Sleep(stallKept)
		if is := known.of(eve.who); is != reads {
			t.Errorf("a minute later: %d", is)
		}
	})
}

// Those who wait long and those who came last have turns by turns.
func TestTSK28TheOldestAndTheNewestHaveTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &budget{limit: 100, fair: func(own, used, n, limit int64) bool { return used+n <= limit }}
		holder := &share{}
		b.change(holder, 100)
		var order []int
		for i := range 6 {
			go func() {
				p := &share{}
				if err := b.take(t.Context(), p, 100); err != nil {
					t.Error(err)
				}
				order = append(order, i)
				b.change(p, -100)
			}()
			synctest.Wait()
		}
		b.change(holder, -100)
		synctest.Wait()
		if got := fmt.Sprint(order); got != "[0 5 1 4 2 3]" {
			t.Error(got)
		}
	})
}

// Also where each of the others has several waiters, one that has just come has the second turn.
func TestTSK28TheNewestIsTheOneThatHasHadNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &budget{limit: 100, fair: func(own, used, n, limit int64) bool { return used+n <= limit }}
		holder := &share{}
		b.change(holder, 100)
		var order []string
		shares := map[string]*share{}
		for _, name := range []string{"a", "b", "c", "a", "b", "c", "new"} {
			if shares[name] == nil {
				shares[name] = &share{}
			}
			go func() {
				if err := b.take(t.Context(), shares[name], 100); err != nil {
					t.Error(err)
				}
				order = append(order, name)
				b.change(shares[name], -100)
			}()
			synctest.Wait()
		}
		b.change(holder, -100)
		synctest.Wait()
		if got := fmt.Sprint(order); got != "[a new b c a b c]" {
			t.Error(got)
		}
	})
}

// The more wait, the sooner who reads nothing is given up on.
func TestTSK28PatienceIsLessTheMoreWait(t *testing.T) {
	b := &budget{limit: 100}
	for wanted, patience := range map[int64]time.Duration{0: maxStall, 100: maxStall, 200: maxStall / 2, 10_000: minStall} {
		if got := b.stallLimit([]shortage{{all: true, n: wanted / 2}, {n: 1_000_000}, {all: true, n: wanted / 2}}); got != patience {
			t.Errorf("%d: %v", wanted, got)
		}
	}
}

// Of a handler that has not answered yet, few runs begin at once: until one has answered nobody knows how large its results are. If none does, the
// others begin soon.
func TestTSK28FewRunsOfAnUnknownHandlerBeginAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHold()
		var ran atomic.Int64
		result := &rawResult{`{"content":[{"type":"text","text":"` + strings.Repeat("x", 1<<20) + `"}]}`}
		f := dual(t, Definition{Tools: []Tool{
			tool("hang", plain(func(ctx context.Context, call *Call) (*echoOutput, error) {
				return &echoOutput{"done"}, h.run(ctx, call)
			})),
			tool("huge", Bind(decodeAnything, func(context.Context, *Call, *noInput) (*rawResult, error) {
				ran.Add(1)
				time.Sleep(lendProbe / 2) // it makes them
				return result, nil
			}, Unstructured(appendRawResult))),
		}}, WithMaxBytesUnread(16<<20))
		end := f.crowd(t.Context(), 60, frame(1, "tools/call", nothing, callParams("huge", `{}`)))
		time.Sleep(lendProbe)
		synctest.Wait()
		if n := ran.Load(); n < 1 || n > 16+maxProbes+1 {
			t.Errorf("%d results of 1 MiB are made, for 16 MiB", n)
		}
		end()

		var done []<-chan struct{}
		for i := range 200 {
			done = append(done, f.begin(as(t, fmt.Sprint("ada", i)), frame(1, "tools/call", nothing, callParams("hang", `{}`)), newInbox(t)))
		}
		synctest.Wait()
		if n := len(h.began); n != maxProbes+1 {
			t.Errorf("%d runs begin", n)
		}
		time.Sleep(2*lendProbe + lendProbe/2)
		synctest.Wait()
		if n, most := len(h.began), 1+maxProbes*(1+2+4); n != most {
			t.Errorf("%d runs have begun after two rounds, want %d", n, most)
		}
		time.Sleep(3 * lendProbe)
		synctest.Wait()
		if n := len(h.began); n != 200 {
			t.Errorf("%d runs have begun", n)
		}
		h.free()
		for _, d := range done {
			<-d
		}
		f.counted()
	})
}

// holds is how many places are taken.
func (t *probes) holds() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return maxProbes - t.free
}

// Whoever calls a handler of which nothing is known waits for a turn, not for all that others began before.
func TestTSK28CallersOfAnUnknownHandlerHaveTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var slots probes
		ctx, giveUp := context.WithCancel(t.Context())
		flooder, other, gone := new(account), new(account), new(account)
		served := make(chan string, 102)
		wait := func(ctx context.Context, name string, caller *account) {
			go func() {
				if slots.enter(ctx, caller) == nil {
					served <- name
				}
			}()
			synctest.Wait()
		}
		for range 100 {
			wait(t.Context(), "flooder", flooder)
		}
		wait(ctx, "gone", gone)
		wait(t.Context(), "other", other)
		giveUp()
		synctest.Wait()
		for range 3 {
			slots.add(1)
			synctest.Wait()
		}
		if got := fmt.Sprint(<-served, " ", <-served, " ", <-served); got != "flooder other flooder" {
			t.Errorf("served %s", got)
		}
		slots.add(98)
		synctest.Wait()
		if len(served) != 98 || slots.free != 0 || slots.lines.Len() != 0 || len(slots.of) != 0 {
			t.Errorf("%d more served, %d free, %d lines of %d callers", len(served), slots.free, slots.lines.Len(), len(slots.of))
		}
	})
}

// Bytes that a waiter gives back because it gave up as it got them are given back like others: waiters behind it are not refused at once.
func TestTSK28WhatAWaiterGivesBackPutsRefusalOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &budget{limit: 100, fair: func(own, used, n, limit int64) bool { return used+n <= limit }}
		var waiters [3]*waiter
		var shares [3]share
		for i := range waiters {
			waiters[i] = &waiter{n: 50, granted: make(chan struct{})}
			b.queue(&shares[i], waiters[i])
		}
		b.change(&share{}, 50)
		b.mu.Lock()
		b.grant()
		b.mu.Unlock()
		time.Sleep(time.Minute)
		b.leave(&shares[0], waiters[0])
		if n := b.refuse(time.Second, ErrStalled); n != 0 || b.waits() != 1 {
			t.Errorf("%d were refused, %d wait", n, b.waits())
		}
		time.Sleep(time.Minute)
		if n := b.refuse(time.Second, ErrStalled); n != 1 {
			t.Errorf("%d were refused a minute later", n)
		}
	})
}
