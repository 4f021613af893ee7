package streamhttp

import (
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/mcpkiln/mcpkiln/runtime/rpc"
)

// What is counted beside the bytes of frames is what the heap has of it, up to twice as much.
func TestTSK28TheOverheadIsThatOfTheHeap(t *testing.T) {
	const n, many = 400, 250 // n is large, because what other tests have left may go meanwhile
	p, kept := new(pools), new(atomic.Int64)
	alarm := p.alarm()
	ids := func() []rpc.ID {
		ids := make([]rpc.ID, many)
		for i := range ids {
			ids[i] = rpc.IntID(int64(i))
		}
		return ids
	}()
	for name, row := range map[string]struct {
		counted int
		make    func() any
	}{
		"streams": {many * streamSize, func() any {
			s := new(session)
			for i, id := range ids {
				st := newStream(uint64(i), streamLimits{}, kept, p.alarm())
				s.streams.set(st.number, st)
				s.about.set(id, append(s.about.get(id), st))
			}
			return s
		}},
		"events of a batch": {many * eventSize, func() any {
			st := newStream(1, streamLimits{replay: 1 << 20}, kept, alarm)
			st.batched = true
			for _, id := range ids {
				_ = st.addAbout(id, storedEvent{frame: text10(1)}, false)
			}
			for i := range st.events {
				st.events[i].frame = nil // counted by itself
			}
			return st
		}},
		"requests of a batch": {many * memberSize, func() any { return newBatchRequests(ids) }},
	} {
		row.make() // what is made once
		made := make([]any, n)
		before := heapBytes()
		for i := range made {
			made[i] = row.make()
		}
		used := int(heapBytes()-before) / n
		runtime.KeepAlive(made)
		if used > row.counted*21/20 || row.counted > 2*used {
			t.Errorf("%d %s have %d bytes each, %d are counted", many, name, used/many, row.counted/many)
		}
	}
}

// heapBytes is how many bytes of the heap are reachable.
func heapBytes() int64 {
	runtime.GC()
	runtime.GC() // what pools hold
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
