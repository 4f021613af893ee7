package inflight

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/rpc"
)

func TestCAN01CancelEndsTheContext(t *testing.T) {
	tr := New(Options{})
	e := register(t, tr, incoming(1, 7), Info{Kind: Kind{Method: "tools/call"}})
	if e.Err() != nil || e.Cause() != nil {
		t.Fatal("over before anything happened")
	}
	if o := tr.Cancel(incoming(1, 7), "changed my mind"); o != Cancelled {
		t.Fatalf("outcome %v", o)
	}
	<-e.Done()
	if e.Err() != context.Canceled {
		t.Errorf("Err = %v", e.Err())
	}
	if e.Retire() {
		t.Error("CAN02: a cancelled request may be answered")
	}
}

func TestCAN03NothingIsLeftOf10000Cancelled(t *testing.T) {
	const n = 10_000
	tr := New(Options{})
	live := func() (goroutines int, heap uint64) {
		runtime.GC()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return runtime.NumGoroutine(), m.HeapAlloc
	}
	cancelAll(t, tr, n) // the runtime keeps what it needs for that many goroutines
	goroutines, heap := live()
	var grown []uint64
	for range 4 {
		cancelAll(t, tr, n)
		for runtime.NumGoroutine() > goroutines {
			runtime.Gosched()
		}
		_, after := live()
		grown = append(grown, max(after, heap)-heap)
		heap = after
	}
	// How many goroutines are alive at once varies, and so does what the runtime keeps of them; what requests leave
	// behind grows with every round.
	if least := slices.Min(grown); least > 256<<10 {
		t.Errorf("heap grew by %d bytes each time", grown)
	}
	for i := range tr.shards {
		s := &tr.shards[i]
		if s.table.count != 0 || len(s.table.buckets) > minBuckets || len(s.heap) != 0 || cap(s.heap) > 32 || s.armed != 0 {
			t.Errorf("shard %d keeps %d entries, %d buckets, heap %d of %d, timer %d", i, s.table.count, len(s.table.buckets),
				len(s.heap), cap(s.heap), s.armed)
		}
	}
}

// cancelAll has n requests in flight, with children and timeouts, and cancels half by notification and half by disconnect.
func cancelAll(t *testing.T, tr *Tracker, n int) {
	done := make(chan struct{})
	for i := range int64(n) {
		e := register(t, tr, incoming(1, i), Info{Kind: Kind{Method: "tools/call", Timeout: time.Hour}})
		child, cancel := context.WithCancel(e)
		go func() {
			defer cancel()
			<-child.Done()
			done <- struct{}{}
		}()
	}
	if tr.Len() != n {
		t.Fatalf("%d in flight", tr.Len())
	}
	for i := range int64(n / 2) {
		if tr.Cancel(incoming(1, i), "") != Cancelled {
			t.Errorf("%d was not cancelled", i)
		}
	}
	if got := tr.CancelPeer(1, &Cause{Source: SourceDisconnect}); got != n-n/2 {
		t.Errorf("%d cancelled", got)
	}
	for range n {
		<-done
	}
}

func TestCAN04UnknownAndFinishedAreIgnored(t *testing.T) {
	tr := New(Options{OnCancel: func(*Entry, *Cause, CancelEffect) { t.Error("observed something") }})
	if o := tr.Cancel(incoming(1, 1), ""); o != Unknown {
		t.Errorf("never seen: %v", o)
	}
	if o := tr.Cancel(Key{Peer: 1}, ""); o != Unknown {
		t.Errorf("no id: %v", o)
	}
	e := register(t, tr, incoming(1, 1), Info{})
	if !e.Retire() || e.Retire() {
		t.Error("must be retired exactly once")
	}
	if o := tr.Cancel(incoming(1, 1), ""); o != Unknown {
		t.Errorf("finished: %v", o)
	}
	if e.Cause().Source != SourceCompleted {
		t.Errorf("cause %v", e.Cause())
	}
}

func TestCAN05IDsCompareByTypeAndValue(t *testing.T) {
	tokens := []string{`1`, `"1"`, `9007199254740992`, `9007199254740993`, `"9007199254740993"`,
		`123456789012345678901234567890`, `123456789012345678901234567891`, `"123456789012345678901234567890"`, `0`, `""`, `-1`}
	for _, cancelled := range tokens {
		tr := New(Options{})
		entries := map[string]*Entry{}
		for _, token := range tokens {
			entries[token] = register(t, tr, Key{ID: mustID(t, token)}, Info{})
		}
		if o := tr.Cancel(Key{ID: mustID(t, cancelled)}, ""); o != Cancelled {
			t.Errorf("%s: %v", cancelled, o)
		}
		for token, e := range entries {
			if over := e.Err() != nil; over != (token == cancelled) {
				t.Errorf("after cancelling %s, %s is over: %v", cancelled, token, over)
			}
		}
	}
	tr := New(Options{})
	e := register(t, tr, Key{ID: mustID(t, `"1"`)}, Info{})
	if tr.Cancel(Key{ID: mustID(t, `"\u0031"`)}, ""); e.Err() == nil {
		t.Error("the same string written with an escape is another id")
	}
}

func TestCAN06APeerReachesOnlyItsOwn(t *testing.T) {
	tr := New(Options{})
	mine := register(t, tr, incoming(1, 5), Info{})
	theirs := register(t, tr, incoming(2, 5), Info{})
	ours := register(t, tr, Key{Peer: 1, ID: rpc.IntID(5), Direction: Outgoing}, Info{})
	tr.Cancel(incoming(1, 5), "")
	if mine.Err() == nil || theirs.Err() != nil || ours.Err() != nil {
		t.Errorf("mine %v, theirs %v, ours %v", mine.Err(), theirs.Err(), ours.Err())
	}
	if n := tr.CancelPeer(1, &Cause{Source: SourceDisconnect}); n != 1 || ours.Err() == nil || theirs.Err() != nil {
		t.Errorf("disconnect of peer 1 ended %d; ours %v, theirs %v", n, ours.Err(), theirs.Err())
	}
}

func TestCAN08DuplicateIsRefusedAndTheFirstStaysCancellable(t *testing.T) {
	tr := New(Options{})
	first := register(t, tr, incoming(1, 3), Info{})
	if _, err := tr.Register(t.Context(), incoming(1, 3), Info{Kind: Kind{Timeout: time.Hour}}); !errors.Is(err, ErrInFlight) {
		t.Fatalf("second: %v", err)
	}
	if tr.Len() != 1 || first.Err() != nil {
		t.Fatal("the second disturbed the first")
	}
	if tr.Cancel(incoming(1, 3), "") != Cancelled || first.Err() == nil {
		t.Error("the first is not cancellable")
	}
	if _, err := tr.Register(t.Context(), incoming(1, 3), Info{}); err != nil {
		t.Errorf("a finished id may come again: %v", err)
	}
}

func TestCAN11ProtectLeavesATaskAlone(t *testing.T) {
	tr := New(Options{})
	e := register(t, tr, incoming(1, 1), Info{})
	if !e.Protect() {
		t.Fatal("over already")
	}
	if o := tr.Cancel(incoming(1, 1), "stop"); o != Recorded || e.Err() != nil {
		t.Errorf("outcome %v, Err %v", o, e.Err())
	}
	if !e.Retire() {
		t.Error("the answer that names the task may not be written")
	}
	if e.Protect() {
		t.Error("shielded after its end")
	}
}

// A cancellation that was recorded while the request was protected ends it when it is not protected any more, once, and is observed.
func TestCAN02UnprotectLetsTheRecordedCancellationCount(t *testing.T) {
	var seen []CancelEffect
	tr := New(Options{OnCancel: func(_ *Entry, c *Cause, o CancelEffect) {
		if c.Reason != "stop" {
			t.Errorf("cause %v", c)
		}
		seen = append(seen, o)
	}})
	for id, early := range []bool{true, false} {
		seen = nil
		key := incoming(1, int64(id))
		e := register(t, tr, key, Info{})
		e.Protect()
		if early {
			tr.Cancel(key, "stop")
			e.Unprotect()
		} else {
			e.Unprotect()
			tr.Cancel(key, "stop")
		}
		e.Unprotect()
		if e.Err() == nil || e.Cause().Source != SourcePeer || e.Retire() || seen[len(seen)-1] != Cancelled || len(seen) > 2 {
			t.Errorf("cancelled before %v: cause %v, seen %v", early, e.Cause(), seen)
		}
	}
	own := register(t, tr, incoming(1, 7), Info{Kind: Kind{Protected: true}})
	own.Protect()
	tr.Cancel(incoming(1, 7), "stop")
	if own.Unprotect(); own.Err() != nil || !own.Protected() {
		t.Errorf("what was protected from the start is ended: %v", own.Cause())
	}
}

func TestCAN14UncancellableRecordsAndGoesOn(t *testing.T) {
	var seen []CancelEffect
	tr := New(Options{OnCancel: func(_ *Entry, c *Cause, o CancelEffect) { seen = append(seen, o) }})
	e := register(t, tr, incoming(1, 1), Info{Kind: Kind{Protected: true}})
	if _, ok := e.CancelRequested(); ok {
		t.Error("asked before anybody did")
	}
	tr.Cancel(incoming(1, 1), "first")
	tr.CancelPeer(1, &Cause{Source: SourceDisconnect, Reason: "second"})
	tr.Shutdown("third", false)
	if reason, ok := e.CancelRequested(); !ok || reason != "first" || e.Err() != nil {
		t.Errorf("reason %q, %v; Err %v", reason, ok, e.Err())
	}
	if n := tr.Shutdown("no more grace", true); n != 1 || e.Cause().Reason != "no more grace" {
		t.Errorf("force ended %d, cause %v", n, e.Cause())
	}
	if want := []CancelEffect{Recorded, Recorded, Recorded, Cancelled}; len(seen) != len(want) || seen[3] != Cancelled || seen[0] != Recorded {
		t.Errorf("observed %v, want %v", seen, want)
	}
}

func TestCAN21ShutdownRefusesAndCancels(t *testing.T) {
	tr := New(Options{})
	e := register(t, tr, incoming(1, 1), Info{})
	if n := tr.Shutdown("deploy", false); n != 1 {
		t.Errorf("%d ended", n)
	}
	if c := e.Cause(); c.Source != SourceShutdown || c.Reason != "deploy" {
		t.Errorf("cause %v", c)
	}
	if _, err := tr.Register(t.Context(), incoming(1, 2), Info{}); !errors.Is(err, ErrShutdown) {
		t.Errorf("Register: %v", err)
	}
}

func TestCAN22ListForOperators(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr := New(Options{})
		first := register(t, tr, incoming(1, 1), Info{Kind: Kind{Method: "tools/call", Tool: "post_ledger", Protected: true}, Principal: "ann"})
		time.Sleep(time.Minute)
		second := register(t, tr, Key{Peer: 1, ID: rpc.StringID("x"), Direction: Outgoing}, Info{Kind: Kind{Method: "elicitation/create"}})
		tr.Cancel(incoming(1, 1), "hurry")
		time.Sleep(time.Second)
		list := tr.List()
		if len(list) != 2 {
			t.Fatalf("%d listed", len(list))
		}
		a, b := list[0], list[1]
		if a.Key != first.Key() || a.Info != first.Info() || a.Age != 61*time.Second || !a.Started.Equal(first.Started()) {
			t.Errorf("first %+v", a)
		}
		if a.Recorded == nil || a.Recorded.Reason != "hurry" || time.Since(a.RecordedAt) != time.Second || !a.Protected {
			t.Errorf("recorded %v at %v, protected %v", a.Recorded, a.RecordedAt, a.Protected)
		}
		if b.Key != second.Key() || b.Age != time.Second || b.Recorded != nil || b.Protected {
			t.Errorf("second %+v", b)
		}
		second.Retire()
		if list = tr.List(); len(list) != 1 {
			t.Errorf("%d listed after one ended", len(list))
		}
	})
}

func TestNextIDAndPeerAreNeverReused(t *testing.T) {
	tr := New(Options{})
	ids, peers := map[rpc.ID]bool{}, map[uint64]bool{}
	for range 100 {
		ids[tr.NextID()], peers[tr.NewPeer()] = true, true
	}
	if len(ids) != 100 || len(peers) != 100 {
		t.Errorf("%d ids, %d peers", len(ids), len(peers))
	}
}
