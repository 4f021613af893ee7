package inflight

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/rpc"
)

var liveCounts = []int{1, 1000, 100_000}

// fill leaves n-1 other requests in flight.
func fill(b *testing.B, tr *Tracker, n int, info Info) {
	for i := range n - 1 {
		register(b, tr, Key{Peer: 1, ID: rpc.IntID(-1 - int64(i))}, info)
	}
	b.Cleanup(func() { tr.Shutdown("", true) })
}

func BenchmarkRegisterRetire(b *testing.B) {
	kinds := map[string]Info{"plain": {Kind: Kind{Method: "tools/call"}}, "timeout": {Kind: Kind{Method: "tools/call", Timeout: 30 * time.Second}}}
	for _, kind := range []string{"plain", "timeout"} {
		info := kinds[kind]
		for _, live := range liveCounts {
			b.Run(fmt.Sprintf("%s/live=%d", kind, live), func(b *testing.B) {
				tr := New(Options{})
				fill(b, tr, live, info)
				b.ReportAllocs()
				id := int64(0)
				for b.Loop() {
					id++
					e, err := tr.Register(context.Background(), Key{Peer: 1, ID: rpc.IntID(id)}, info)
					if err != nil || !e.Retire() {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

func BenchmarkRegisterRetireParallel(b *testing.B) {
	tr := New(Options{})
	fill(b, tr, 1000, Info{})
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		peer := tr.NewPeer()
		for id := int64(0); pb.Next(); id++ {
			e, err := tr.Register(context.Background(), Key{Peer: peer, ID: rpc.IntID(id)}, Info{Kind: Kind{Timeout: 30 * time.Second}})
			if err != nil || !e.Retire() {
				b.Error(err)
			}
		}
	})
}

// naive is the usual way, for comparison: one lock, one map of cancel functions.
type naive struct {
	mu  sync.RWMutex
	ids map[string]context.CancelFunc
}

func (n *naive) register(parent context.Context, id string) (context.Context, func()) {
	ctx, cancel := context.WithCancel(parent)
	n.mu.Lock()
	n.ids[id] = cancel
	n.mu.Unlock()
	return ctx, func() {
		n.mu.Lock()
		delete(n.ids, id)
		n.mu.Unlock()
		cancel()
	}
}

func BenchmarkRegisterRetireNaive(b *testing.B) {
	for _, live := range liveCounts {
		b.Run(fmt.Sprintf("live=%d", live), func(b *testing.B) {
			parent, cancel := context.WithCancel(context.Background())
			defer cancel()
			tr := &naive{ids: map[string]context.CancelFunc{}}
			for i := range live - 1 {
				tr.register(parent, fmt.Sprint(-1-i))
			}
			b.ReportAllocs()
			id := 0
			for b.Loop() {
				id++
				_, retire := tr.register(parent, fmt.Sprint(id))
				retire()
			}
		})
	}
}

// BenchmarkCancelToDone measures from the cancellation to the handler's goroutine running again.
func BenchmarkCancelToDone(b *testing.B) {
	for _, live := range []int{1, 100_000} {
		b.Run(fmt.Sprintf("live=%d", live), func(b *testing.B) {
			tr := New(Options{})
			fill(b, tr, live, Info{})
			woken, waiting := make(chan time.Time), make(chan struct{})
			var latencies []time.Duration
			id := int64(0)
			for b.Loop() {
				id++
				key := Key{Peer: 1, ID: rpc.IntID(id)}
				e := register(b, tr, key, Info{})
				go func() {
					done := e.Done()
					waiting <- struct{}{}
					<-done
					woken <- time.Now()
				}()
				<-waiting
				start := time.Now()
				tr.Cancel(key, "")
				latencies = append(latencies, (<-woken).Sub(start))
			}
			slices.Sort(latencies)
			b.ReportMetric(float64(latencies[len(latencies)/2]), "p50-ns")
			b.ReportMetric(float64(latencies[len(latencies)*99/100]), "p99-ns")
		})
	}
}

func BenchmarkCancelPeerOf100000(b *testing.B) {
	tr := New(Options{})
	fill(b, tr, 100_000, Info{})
	for b.Loop() {
		tr.CancelPeer(2, &Cause{Source: SourceDisconnect})
	}
}
