package server

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// shortage is how much the waiters of one share need.
type shortage struct {
	waiting *share
	all     bool  // all callers together use up the budget; else the waiters' own caller uses up its share
	n       int64 // how many bytes have to become free
}

// checkEvery is the time between two calls of onShortage.
const checkEvery = time.Second

// reportShortage calls onShortage at once and then each second, until nobody waits.
func (b *budget) reportShortage() {
	b.onShortage(b.shortages())
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.queues.Len() > 0 {
		b.clock.Reset(checkEvery)
	}
}

// shortages returns one for each share with waiters. What is free counts for the first share whose caller holds nothing, what that leaves for the next.
func (b *budget) shortages() []shortage {
	b.mu.Lock()
	defer b.mu.Unlock()
	all := make([]shortage, 0, b.queues.Len())
	left := b.limit - b.used
	for e := b.queues.Front(); e != nil; e = e.Next() {
		p := e.Value.(*share)
		l := shortage{waiting: p, all: p.caller().held.Load() == 0}
		if l.all {
			l.n = min(p.waiting[0].n, b.limit/2) - left
			left = max(0, -l.n)
		} else {
			for _, w := range p.waiting {
				l.n += w.n
			}
		}
		all = append(all, l)
	}
	return all
}

// How long a client may read nothing: maxStall while others wait for the bytes that its answers hold, down to minStall if they wait for many;
// LateStall at the end, after the grace period (CAN21).
const (
	maxStall  = 5 * time.Second
	minStall  = time.Second
	LateStall = time.Second
)

// stallLimit returns how long a client may read nothing: less if the waiters need more than the whole budget.
func (b *budget) stallLimit(all []shortage) time.Duration {
	wanted := int64(0)
	for i := range all {
		if all[i].all {
			wanted += max(0, all[i].n)
		}
	}
	if wanted <= b.limit {
		return maxStall
	}
	return max(minStall, time.Duration(float64(maxStall)*float64(b.limit)/float64(wanted)))
}

// stalledPeer is a peer whose client reads nothing of some of its answers.
type stalledPeer struct {
	*peer
	out    Unread
	bytes  int64 // of the answers
	ending bool  // these answers were given up already
}

// endStalled gives up answers that clients do not read, the largest first, until that is enough for the waiters.
func (s *Server) endStalled(shortages []shortage) {
	if len(shortages) == 0 {
		return
	}
	wait := s.unread.stallLimit(shortages)
	all := s.stalled(wait)
	slices.SortFunc(all, func(a, b stalledPeer) int { return cmp.Compare(b.bytes, a.bytes) })
	for i := range all {
		if p := &all[i]; p.ending {
			p.relieves(shortages)
		}
	}
	for i := range all {
		if p := &all[i]; !p.ending && p.relieves(shortages) {
			s.log.Warn("answers are given up: their client does not read, and others wait", "peer", p.id, "principal", p.who.principal, "bytes", p.bytes)
			s.reputations.hasStalled(p.who)
			p.out.GiveUp(wait)
		}
	}
}

// stalled returns the peers whose clients have read nothing for that long.
func (s *Server) stalled(wait time.Duration) (all []stalledPeer) {
	for _, p := range s.allPeers() {
		if out, ok := p.out.(Unread); ok {
			if n, ending := out.Stalled(wait); n > 0 {
				all = append(all, stalledPeer{p, out, n, ending})
			}
		}
	}
	return all
}

func (s *Server) allPeers() []*peer {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Values(s.peers))
}

// relieves reports whether giving up p's answers helps a waiter other than p, and takes their bytes off the shortages, one after the other.
func (p *stalledPeer) relieves(shortages []shortage) (useful bool) {
	free := p.bytes
	for i := range shortages {
		l := &shortages[i]
		if l.n > 0 && free > 0 && l.waiting != p.unread.Load() && (l.all || l.waiting.caller() == &p.account.unread) {
			n := min(l.n, free)
			l.n, free, useful = l.n-n, free-n, true
		}
	}
	return useful
}

// giveUp gives up the answers that a client does not read at the end of its session.
func (p *peer) giveUp() {
	out, ok := p.out.(Unread)
	if !ok {
		return
	}
	if n, _ := out.Stalled(LateStall); n > 0 {
		p.s.log.Warn("answers are given up: their client does not read, and the grace period is over", "peer", p.id, "principal", p.who.principal, "bytes", n)
		out.GiveUp(LateStall)
	}
}
