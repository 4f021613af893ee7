package server

import (
	"context"
	"sync/atomic"

	"github.com/mcpkiln/mcpkiln/runtime/internal/quota"
)

// fileRoom bounds the disk space of the temporary files with answers (spool.go): one budget for each size class of files.
//
// A file reserves the size of its class before it is written. One that gets larger gives that back, and waits for a place in the next class. So no file
// waits for one that waits itself, those in the largest class wait for none, and small answers of slow openers do not wait for large ones, however many
// of these wait (TSK28). What a file has on disk while it waits counts nowhere: Server.opened bounds how many files
// wait.
type fileRoom [3]fileClass

// fileClass is a size class of files.
type fileClass struct {
	size  int64 // bytes that a file reserves before it is written
	least int64 // bytes that each file counts as, however small it is
	budget
}

// openFileRoom makes the size classes, each for so many files at most. The larger its files, the fewer a class has, but the quarter that one caller
// gets is always a few. All classes together hold more than answers may take in memory, since files are on disk.
func (s *Server) openFileRoom(filesPerClass int64) {
	unread := s.cfg.maxUnread
	for i, c := range [len(s.files)]struct{ size, limit int64 }{
		{unread / 512, unread / 2}, // 256 files
		{unread / 32, unread},      // 32
		{unread / 4, 4 * unread},   // 16
	} {
		of := &s.files[i]
		of.budget = budget{limit: c.limit, fair: quota.Third, onShortage: func(all []shortage) { s.freeFiles(i, all) }}
		of.least = max(1, c.limit/filesPerClass)
		of.size = max(c.size, of.least)
	}
}

// total is how many bytes all files take.
func (f *fileRoom) total() (n int64) {
	for i := range f {
		n += f[i].budget.total()
	}
	return n
}

// lacking reports whether a file waits for space.
func (f *fileRoom) lacking() bool {
	for i := range f {
		if f[i].lacking() {
			return true
		}
	}
	return false
}

// classOf is the index of the smallest class for files of that many bytes that is not below from, or that of the largest class.
func (f *fileRoom) classOf(size int64, from int) int {
	for from < len(f)-1 && f[from].size < size {
		from++
	}
	return from
}

// fileShares are the shares of one caller, connection, session or exchange in Server.opened and Server.files.
type fileShares struct {
	opened share    // of Server.opened
	files  [3]share // of Server.files
}

// in makes the shares parts of the caller's.
func (f *fileShares) in(caller *fileShares) *fileShares {
	f.opened.of = &caller.opened
	for i := range f.files {
		f.files[i].of = &caller.files[i]
	}
	return f
}

// fileShares are those that the answer counts in. A connection, session or exchange has shares of its own once it has such an answer.
func (r *reservation) fileShares() *fileShares {
	if r.p == nil {
		return &r.account.files
	}
	if own := r.p.files.Load(); own != nil {
		return own
	}
	r.p.files.CompareAndSwap(nil, new(fileShares).in(&r.account.files))
	return r.p.files.Load()
}

// fileClaim is what one file holds of a fileRoom.
type fileClaim struct {
	of    *fileRoom
	by    *fileShares
	class int
	held  int64 // bytes of that class

	waiting *atomic.Int64 // Server.openersWaiting
	over    int64         // bytes beyond the size of the largest class
}

// grow waits for the space of a file of that many bytes. Bytes beyond the largest class are not waited for, and count for the file's caller alone.
func (c *fileClaim) grow(ctx context.Context, size int64) error {
	if c.held > 0 && size <= c.of[c.class].size {
		return nil
	}
	if class := c.of.classOf(size, c.class); c.held == 0 || class > c.class {
		c.settle(0)
		c.class = class
		if err := c.take(ctx); err != nil {
			return err
		}
	}
	if over := size - c.of[c.class].size; over > c.over {
		c.changeOver(over - c.over)
	}
	return nil
}

// changeOver counts n more bytes beyond the largest class: they use up the share of the file's caller, and nobody else's.
func (c *fileClaim) changeOver(n int64) {
	c.over += n
	c.of[c.class].changeOwn(&c.by.files[c.class], n)
}

// take reserves the size of the claim's class.
func (c *fileClaim) take(ctx context.Context) error {
	c.waiting.Add(1)
	defer c.waiting.Add(-1)
	room := &c.of[c.class]
	err := room.budget.take(ctx, &c.by.files[c.class], room.size)
	if err == nil {
		c.held = room.size
	}
	return err
}

// settle gives back what a file that is complete, with that many bytes, does not need: it may wait long for its client. A size of 0 gives back all.
func (c *fileClaim) settle(size int64) {
	room := &c.of[c.class]
	if size > 0 {
		size = min(max(size, room.least), c.held)
	} else if c.over > 0 {
		c.changeOver(-c.over)
	}
	room.change(&c.by.files[c.class], size-c.held)
	c.held = size
}

// freeFiles frees space while answers wait for it: batches write the answers that they have in files, and answers whose clients read nothing are
// given up if that helps. A connected client whose answers hold up only its own others is not given up: it may read them later.
func (s *Server) freeFiles(class int, shortages []shortage) {
	if len(shortages) == 0 {
		return
	}
	for _, p := range s.allPeers() {
		for _, b := range p.batches.list() {
			b.writeFiles()
		}
		any, others := p.hinders(class, shortages)
		if out := p.copier(); out != nil && any && out.EndStalledCopies(maxStall, others) {
			s.log.Warn("an answer is given up: its client does not read, and others wait for the room of its file", "peer", p.id, "principal", p.who.principal)
			s.reputations.hasStalled(p.who)
		}
	}
}

// hinders reports whether files of p, of the size class, take space that any answer waits for, and whether one of these answers is another peer's.
func (p *peer) hinders(class int, shortages []shortage) (any, others bool) {
	own := p.files.Load()
	if own == nil || own.files[class].held.Load() == 0 {
		return false, false
	}
	for i := range shortages {
		if l := &shortages[i]; l.all || l.waiting.caller() == own.files[class].of {
			any = true
			others = others || l.waiting != &own.files[class]
		}
	}
	return any, others
}
