package server

import (
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/mcpkiln/mcpkiln/runtime/rpc"
)

// batches finds the batch of a request. Its zero value is ready to use.
type batches struct {
	came atomic.Bool  // the client has sent a batch; read without mu
	open atomic.Int32 // len(of), to be read without mu
	mu   sync.Mutex
	of   rpc.ByID[*batch]
	all  map[*batch]struct{} // batches that have not ended: they still count for the client
}

// batchOf returns the batch of a request whose answer is not written yet, nil for none.
func (p *peer) batchOf(id rpc.ID) *batch {
	if p.batches.open.Load() == 0 {
		return nil
	}
	p.batches.mu.Lock()
	defer p.batches.mu.Unlock()
	return p.batches.of.Get(id)
}

// free forgets the batch of a request, if it is still b: a later request may have the same id.
func (all *batches) free(id rpc.ID, b *batch) {
	all.mu.Lock()
	defer all.mu.Unlock()
	if all.of.Get(id) == b {
		all.forget(id)
	}
}

// forget forgets the batch of a request. The caller holds all.mu.
func (all *batches) forget(id rpc.ID) {
	if all.of.Get(id) != nil {
		all.of.Delete(id)
		all.open.Add(-1)
	}
}

func (all *batches) add(b *batch) {
	all.came.Store(true)
	all.mu.Lock()
	defer all.mu.Unlock()
	if all.all == nil {
		all.of, all.all = rpc.ByID[*batch]{}, map[*batch]struct{}{}
	}
	all.all[b] = struct{}{}
}

func (all *batches) remove(b *batch) {
	all.mu.Lock()
	defer all.mu.Unlock()
	delete(all.all, b)
}

// list returns the batches that have not ended.
func (all *batches) list() []*batch {
	if !all.came.Load() {
		return nil
	}
	all.mu.Lock()
	defer all.mu.Unlock()
	return slices.Collect(maps.Keys(all.all))
}

// withdraw drops from all batches those held answers to a cancelled request that selected returns true for (CAN02).
func (all *batches) withdraw(id rpc.ID, selected func(heldAnswer) bool) {
	for _, b := range all.list() {
		b.withdraw(id, selected)
	}
}
