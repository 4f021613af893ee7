package inflight

import (
	"context"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/rpc"
)

// All five retirers at once on the same requests: each must have exactly one winner, and nothing may remain.
func TestCAN12FirstRetirerWins(t *testing.T) {
	const n = 2000
	var observed atomic.Int64
	tr := New(Options{OnCancel: func(_ *Entry, _ *Cause, o CancelEffect) {
		if o == Cancelled {
			observed.Add(1)
		}
	}})
	ctx, disconnect := context.WithCancel(t.Context())
	defer tr.Watch(ctx, 1)()
	entries := make([]*Entry, n)
	for i := range entries {
		timeout := time.Duration(1+rand.IntN(60_000)) * time.Microsecond
		entries[i] = register(t, tr, incoming(uint64(1+i%2), int64(i)), Info{Kind: Kind{Timeout: timeout}})
	}
	var completed, cancelled, woken atomic.Int64
	var racers sync.WaitGroup
	for _, e := range entries {
		racers.Add(1)
		e.AfterFunc(func() { woken.Add(1); racers.Done() })
	}
	start := make(chan struct{})
	order := func(act func(*Entry)) {
		racers.Go(func() {
			<-start
			for _, i := range rand.Perm(n) {
				act(entries[i])
				runtime.Gosched()
			}
		})
	}
	for range 2 {
		order(func(e *Entry) {
			if e.Retire() {
				completed.Add(1)
			}
		})
		order(func(e *Entry) {
			if tr.Cancel(e.Key(), "race") == Cancelled {
				cancelled.Add(1)
			}
		})
	}
	order(func(e *Entry) { _ = context.Cause(e); <-e.Done(); _ = context.Cause(e).Error() })
	order(func(e *Entry) { e.AfterFunc(func() {})(); _, _ = e.CancelRequested(); _, _ = e.Deadline() })
	after := func(percent int, act func()) {
		racers.Go(func() {
			for tr.Len() > n*(100-percent)/100 {
				runtime.Gosched()
			}
			act()
		})
	}
	after(40, disconnect) // ends peer 1 only
	after(80, func() { tr.List(); tr.Shutdown("race", false) })
	close(start)
	racers.Wait()

	sources := map[Source]int64{}
	for _, e := range entries {
		sources[e.Cause().Source]++
	}
	if tr.Len() != 0 || woken.Load() != n {
		t.Errorf("%d in flight, %d of %d woken", tr.Len(), woken.Load(), n)
	}
	if sources[SourceCompleted] != completed.Load() || sources[SourcePeer] != cancelled.Load() {
		t.Errorf("causes %v; %d retired, %d cancelled", sources, completed.Load(), cancelled.Load())
	}
	if observed.Load() != n-completed.Load() {
		t.Errorf("%d cancellations observed, %d completed, of %d", observed.Load(), completed.Load(), n)
	}
	t.Logf("won by: %v", sources)
}

// A request registered while its connection ends is either refused, or ended, or never there.
func TestCAN12RegisterRacesWithTheEndOfTheConnection(t *testing.T) {
	for round := range 200 {
		tr := New(Options{})
		ctx, disconnect := context.WithCancel(t.Context())
		tr.Watch(ctx, 1)
		var all sync.WaitGroup
		all.Go(disconnect)
		entries := make(chan *Entry, 64)
		for i := range int64(cap(entries)) {
			all.Go(func() {
				e, err := tr.Register(ctx, incoming(1, i), Info{})
				if err != nil {
					t.Error(err)
				}
				entries <- e
			})
		}
		all.Wait()
		close(entries)
		for e := range entries {
			<-e.Done() // a lost one hangs here
		}
		if tr.Len() != 0 {
			t.Fatalf("round %d: %d left", round, tr.Len())
		}
	}
}

func TestCAN15DeliveryRacesWithCancellation(t *testing.T) {
	tr := New(Options{})
	for range 2000 {
		ctx, cancel := context.WithCancel(t.Context())
		key := Key{Peer: 1, ID: tr.NextID(), Direction: Outgoing}
		e, err := tr.Register(ctx, key, Info{})
		if err != nil {
			t.Fatal(err)
		}
		var delivered bool
		var racers sync.WaitGroup
		racers.Go(func() { delivered = tr.Deliver(key, Response{Err: &rpc.Error{Code: 1}}) })
		racers.Go(cancel)
		r, err := e.Await()
		racers.Wait()
		if delivered != (err == nil) || delivered != (r.Err != nil) {
			t.Fatalf("delivered %v, but Await returned %v, %v", delivered, r, err)
		}
	}
	if tr.Len() != 0 {
		t.Errorf("%d in flight", tr.Len())
	}
}

// The table against a plain map, through growth and shrinking.
func TestTableAgreesWithAMap(t *testing.T) {
	tr := New(Options{})
	live := map[Key]*Entry{}
	for step := range 200_000 {
		id := int64(rand.IntN(1 + step%5000))
		key := incoming(uint64(step%3), id)
		if step%7 == 0 {
			key.ID = rpc.StringID(key.ID.String())
		}
		if e := live[key]; e != nil {
			if tr.Find(key) != e || !e.Retire() {
				t.Fatalf("step %d: %v lost", step, key)
			}
			delete(live, key)
			continue
		}
		live[key] = register(t, tr, key, Info{Kind: Kind{Timeout: time.Duration(rand.IntN(2)) * time.Hour}})
	}
	if tr.Len() != len(live) {
		t.Fatalf("%d in flight, want %d", tr.Len(), len(live))
	}
	for key, e := range live {
		if tr.Find(key) != e {
			t.Fatalf("%v not found", key)
		}
	}
	tr.Shutdown("", false)
}
