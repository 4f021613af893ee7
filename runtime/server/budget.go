package server

import (
	"container/list"
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/internal/quota"
)

// budget bounds the bytes that all callers hold together, and of which each has a fair part. Those whose part is used up wait without
// keeping others from theirs: one line for each connection, session, or caller without either, and what becomes free goes to them in
// turn (TSK28).
type budget struct {
	limit int64
	fair  func(own, used, n, limit int64) bool
	known *readers     // how callers read; nil: that is all the same
	late  func([]lack) // called at once, and each second, while some wait; nil: not called

	mu    sync.Mutex
	used  int64
	lines list.List // of *part, those with waiting
	last  bool      // the newest line is next, else the oldest
	freed time.Time // when something was given back last while some waited, or the first of them came
	clock *time.Timer
}

// part is what one caller holds of a budget, or one of its connections or sessions.
type part struct {
	of      *part        // the caller's; nil: this is one
	who     Requestor    // of a caller
	held    atomic.Int64 // changed under budget.mu
	waiting []*waiter    // under budget.mu, as what follows
	turn    *list.Element
	served  bool // one of those that waited has gone on
}

type waiter struct {
	n       int64
	is      standing
	err     error         // why it gets nothing; written before granted is closed
	late    bool          // what it is for has not begun: it goes behind what is there
	granted chan struct{} // closed
}

// lack is what somebody waits for.
type lack struct {
	waits *part
	all   bool  // it waits for all others, who hold too much together; else for its own caller's
	n     int64 // how many bytes have to become free
}

// checkEvery is how often late is called.
const checkEvery = time.Second

func (p *part) caller() *part {
	if p.of != nil {
		return p.of
	}
	return p
}

// fits reports whether p may hold n more. A caller that holds nothing may, as long as the limit holds; what is larger than half of it
// needs half of it. Of what one caller may hold, a connection or session has no more than it leaves to the others. With mu.
func (b *budget) fits(p *part, n int64) bool {
	n = min(n, b.limit/2)
	own := p.caller().held.Load()
	if own == 0 {
		return b.used+n <= b.limit
	}
	if !b.fair(own, b.used, n, b.limit) {
		return false
	}
	held := p.held.Load()
	return p.of == nil || held == 0 || held+n <= (b.limit-b.used+own)/4-own-n
}

// add counts n more bytes of p, or fewer. With mu.
func (b *budget) add(p *part, n int64) {
	b.used += n
	p.held.Add(n)
	if p.of != nil {
		p.of.held.Add(n)
	}
}

// take takes n bytes for p as soon as it may hold them.
func (b *budget) take(ctx context.Context, p *part, n int64) error {
	return b.get(ctx, p, 0, n, false)
}

// takeLate is take for what has not begun.
func (b *budget) takeLate(ctx context.Context, p *part, n int64) error {
	return b.get(ctx, p, 0, n, true)
}

// swap is take that gives back what was held before: nobody waits while it has what others wait for. Those who get that see that it waits.
func (b *budget) swap(ctx context.Context, p *part, held, n int64) error {
	return b.get(ctx, p, held, n, false)
}

func (b *budget) get(ctx context.Context, p *part, held, n int64, late bool) error {
	b.mu.Lock()
	b.add(p, -held)
	if b.lines.Len() == 0 && b.fits(p, n) {
		b.add(p, n)
		b.mu.Unlock()
		return nil
	}
	w := &waiter{n: n, is: b.standing(p), late: late, granted: make(chan struct{})}
	b.queue(p, w)
	b.grant()
	b.mu.Unlock()
	select {
	case <-w.granted:
		return w.err
	case <-ctx.Done():
		b.leave(p, w)
		return context.Cause(ctx)
	}
}

// await returns when p may hold n more bytes.
func (b *budget) await(ctx context.Context, p *part, n int64) error {
	if b.has(p, n) {
		return nil
	}
	if err := b.takeLate(ctx, p, n); err != nil {
		return err
	}
	b.change(p, -n)
	return nil
}

// has reports whether p may hold n more bytes.
func (b *budget) has(p *part, n int64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.fits(p, n)
}

// change counts n more bytes of p, or fewer, whether or not it may hold them.
func (b *budget) change(p *part, n int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.add(p, n)
	if n < 0 && b.lines.Len() > 0 {
		b.freed = time.Now()
		b.grant()
	}
}

// queue puts w behind those of its kind that wait for the same part. With mu.
func (b *budget) queue(p *part, w *waiter) {
	at := len(p.waiting)
	for !w.late && at > 0 && p.waiting[at-1].late {
		at--
	}
	p.waiting = slices.Insert(p.waiting, at, w)
	if len(p.waiting) > 1 {
		return
	}
	p.turn = b.lines.PushBack(p)
	if b.lines.Len() == 1 {
		b.freed = time.Now()
	}
	switch {
	case b.late == nil || b.lines.Len() > 1:
	case b.clock == nil:
		b.clock = time.AfterFunc(0, b.check)
	default:
		b.clock.Reset(0)
	}
}

func (b *budget) standing(p *part) standing {
	if b.known == nil {
		return unknown
	}
	return b.known.of(p.caller().who)
}

// grant lets those go on that may: first those who read, last those who do not. Of one standing those are first that have begun: what they wait
// with is in memory. While one of them waits for others alone, nothing large of its standing begins, or it would wait beside it, and
// nothing large of a worse one goes on. With mu.
func (b *budget) grant() {
	owed := false
	for is := range standings {
		better := owed
		owed = b.grantAll(func(w *waiter) bool { return w.is == is && !w.late && !(better && w.n > largeOutput) }) || owed
		left := b.grantAll(func(w *waiter) bool { return w.is == is && w.late && !(owed && w.n > largeOutput) })
		owed = owed || left
	}
}

// grantAll lets those of one kind go on, each line one after the other. It reports whether one that holds nothing is left.
func (b *budget) grantAll(may func(*waiter) bool) (left bool) {
	if b.lines.Len() == 0 {
		return false
	}
	for b.grantTurns(may) {
	}
	for e := b.lines.Front(); e != nil; e = e.Next() {
		p := e.Value.(*part)
		left = left || may(p.waiting[0]) && p.caller().held.Load() == 0
	}
	return left
}

// grantTurns lets one of each line go on that may, and reports whether there was one. The oldest line and the newest one that had no turn are next by
// turns: whoever comes behind many that do not read does not wait for all of them, nor do those who came first wait forever.
func (b *budget) grantTurns(may func(*waiter) bool) (granted bool) {
	first, last := b.lines.Front(), b.lines.Back()
	for first != nil && last != nil {
		e := first
		if b.last && !last.Value.(*part).served {
			e = last
		}
		met := first == last
		if e == first {
			first = e.Next()
		} else {
			last = e.Prev()
		}
		if p := e.Value.(*part); may(p.waiting[0]) && b.fits(p, p.waiting[0].n) {
			b.goOn(p)
			b.last, granted = !b.last, true
		}
		if met {
			break
		}
	}
	return granted
}

// goOn lets the first waiter of a line go on.
func (b *budget) goOn(p *part) {
	w := p.waiting[0]
	b.add(p, w.n)
	close(w.granted)
	p.served = true
	b.lines.MoveToBack(p.turn)
	b.remove(p, 0)
}

// remove removes a waiter. With mu.
func (b *budget) remove(p *part, i int) {
	p.waiting = slices.Delete(p.waiting, i, i+1)
	if len(p.waiting) == 0 {
		b.lines.Remove(p.turn)
		p.waiting, p.turn, p.served = nil, nil, false
	}
}

// leave removes a waiter that gave up.
func (b *budget) leave(p *part, w *waiter) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if i := slices.Index(p.waiting, w); i >= 0 {
		b.remove(p, i)
	} else if w.err == nil {
		b.add(p, -w.n)
	}
	b.grant()
}

// holds is what all hold together.
func (b *budget) holds() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.used
}

// refuse ends the waiting of all if nothing was given back for so long, and returns how many there were.
func (b *budget) refuse(after time.Duration, err error) (n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if time.Since(b.freed) < after {
		return 0
	}
	for e := b.lines.Front(); e != nil; e = b.lines.Front() {
		p := e.Value.(*part)
		w := p.waiting[0]
		w.err = err
		close(w.granted)
		b.remove(p, 0)
		n++
	}
	return n
}

// check says what those lack that wait, until nobody does.
func (b *budget) check() {
	b.late(b.lacks())
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.lines.Len() > 0 {
		b.clock.Reset(checkEvery)
	}
}

// lacks are what all lack together: those that wait for others alone need room beside each other.
func (b *budget) lacks() []lack {
	b.mu.Lock()
	defer b.mu.Unlock()
	all := make([]lack, 0, b.lines.Len())
	left := b.limit - b.used
	for e := b.lines.Front(); e != nil; e = e.Next() {
		p := e.Value.(*part)
		l := lack{waits: p, all: p.caller().held.Load() == 0}
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

// patience is for how long who reads nothing is left alone: not as long if many more wait than there is room for.
func (b *budget) patience(lacks []lack) time.Duration {
	wanted := int64(0)
	for i := range lacks {
		if lacks[i].all {
			wanted += max(0, lacks[i].n)
		}
	}
	if wanted <= b.limit {
		return maxStall
	}
	return max(minStall, time.Duration(float64(maxStall)*float64(b.limit)/float64(wanted)))
}

// maxOpened is how many answers with data of openers are written as a whole at once. Each has an open file or two, and two pieces in memory.
const maxOpened = 1 << 10

// The budgets of answers. Nothing that a caller does not read can be taken back, so it has up to a third of what is left by all: many
// such callers leave something. What is in the making goes on by itself, so it has up to three times what is left.
func (s *Server) openBudgets() {
	s.unread = budget{limit: s.cfg.maxUnread, fair: quota.Third, late: s.endStalled, known: &s.readers}
	s.coming = budget{limit: max(1, s.cfg.maxUnread/2), fair: quota.Fair}
	s.opened = budget{limit: maxOpened, fair: quota.Third, late: s.refuseOpeners}
	s.filed = budget{limit: 4 * s.cfg.maxUnread, fair: quota.Third}
	s.trials.free = firstTrials
	s.encoding = make(chan struct{}, encoders())
	s.decoding = make(chan struct{}, 1)
}
