package server

import (
	"cmp"
	"context"
	"slices"
	"time"
)

// growth is work that takes its bytes in steps, and waits with what it has for the next one: the file of an answer. So that such work does not wait
// for other such work for ever, one of all, one of each caller and one of each of its connections and sessions has precedence until it is complete:
// there the others count as if they held nothing. What has precedence among all waits for nothing but what is complete, which clients read, or are
// given up on.
type growth struct {
	of   *share
	age  uint64 // how many began before
	held int64  // under budget.mu
}

// growing is the growth of one share, of one caller, or of all together. It is under budget.mu.
type growing struct {
	by     []*growth // oldest first
	held   int64     // bytes
	first  *growth   // has precedence
	newest bool      // a newest one is first next, else an oldest
}

// choose chooses who has precedence. It is the oldest of its share, behind which the share's others wait. The share is one of those that read best,
// if possible one that has nothing left to read, by turns that of the oldest and that of the newest: who comes behind many that do not read does not
// wait for all of them.
func (b *budget) choose(all *growing) {
	all.first = nil
	if len(all.by) == 0 {
		return
	}
	order := slices.Clone(all.by)
	if all.newest {
		slices.Reverse(order)
	}
	all.newest = !all.newest
	rank := func(g *growth) int {
		return 2*int(b.reputationOf(g.of)) + int(min(g.of.complete(), 1))
	}
	all.first = slices.MinFunc(order, func(g, h *growth) int { return cmp.Compare(rank(g), rank(h)) }).of.growing.by[0]
}

// complete is how much p holds that does not grow. The caller holds mu.
func (p *share) complete() int64 { return p.held.Load() - p.growing.held }

// whereCounted returns where what grows of a share is counted: of all, of its caller, and of itself if it is not the caller.
func (b *budget) whereCounted(p *share) []*growing {
	if p.of == nil {
		return []*growing{&b.growing, &p.growing}
	}
	return []*growing{&b.growing, &p.of.growing, &p.growing}
}

// ceded returns how much of what all, its caller and its share hold does not count for g: what it holds itself, and where it has precedence, what the
// others hold that grow. The caller holds mu.
func (b *budget) ceded(g *growth) (all, caller, own int64) {
	var ceded [3]int64
	first := false
	for i, where := range b.whereCounted(g.of) {
		first = first || where.first == g
		ceded[i] = g.held
		if first {
			ceded[i] = where.held
		}
	}
	return ceded[0], ceded[1], ceded[2]
}

// begin takes the first n bytes of work that grows.
func (b *budget) begin(ctx context.Context, p *share, n int64) (*growth, error) {
	if err := b.get(ctx, p, 0, waiter{n: n, notBegun: true, grows: true}); err != nil {
		return nil, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	g := &growth{of: p, age: b.begun, held: n}
	b.begun++
	for _, where := range b.whereCounted(p) {
		where.by = append(where.by, g)
		where.held += n
		if where.first == nil {
			where.first = g
		}
	}
	return g, nil
}

// grow takes the next n bytes of g.
func (b *budget) grow(ctx context.Context, g *growth, n int64) error {
	return b.get(ctx, g.of, 0, waiter{n: n, growth: g})
}

// give counts n bytes for w, which may be negative. The caller holds mu.
func (b *budget) give(p *share, w *waiter, n int64) {
	b.add(p, n)
	if g := w.growth; g != nil {
		g.held += n
		for _, where := range b.whereCounted(p) {
			where.held += n
		}
	}
}

// grown notes that g is complete, and holds n bytes from now on. It may be called again.
func (b *budget) grown(g *growth, n int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, where := range b.whereCounted(g.of) {
		if i := slices.Index(where.by, g); i >= 0 {
			where.by = slices.Delete(where.by, i, i+1)
			where.held -= g.held
		}
	}
	for _, where := range b.whereCounted(g.of) {
		if where.first == g {
			b.choose(where)
		}
	}
	b.add(g.of, n-g.held)
	g.held = n
	if b.queues.Len() > 0 {
		b.freed = time.Now()
		b.grant()
	}
	if b.queues.Len() > 0 && n > 0 && !b.hurried {
		b.hurried = true
		b.clock.Reset(soon)
	}
}

// soon is how long after work is complete onShortage is called while others wait, which may want it to go: its answer is being written by then, or
// waits with those of its batch.
const soon = 20 * time.Millisecond
