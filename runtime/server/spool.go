package server

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/rpc"
)

// spool is an answer, or the part of one that has placeholders, in a temporary file.
type spool struct {
	file *os.File
	size int64 // bytes
	most int64 // bytes that it may have

	s    *Server
	a    *account
	held int64 // bytes taken from Server.spooled
	kept bool  // a batch has it; whoever takes it from the batch closes it
}

// spool writes the frame with the data of all its placeholders before any of the answer is sent: to a file, or if it is short, to memory.
// Otherwise a slow reader of data would block the connection for all other messages.
func (r *request) spool(frame []byte, most int64) (short []byte, file *spool, err error) {
	s, a := r.reservation.s, r.reservation.account
	r.reservation.giveBack() // nobody who waits for a share of the budget may hold one that others wait for
	if err := s.opened.take(r.ctx, &a.opened, 1); err != nil {
		return nil, nil, err
	}
	defer s.opened.change(&a.opened, -1)
	complete := false // stays false if a reader panics
	defer func() {
		if !complete && file != nil {
			file.close()
			file = nil
		}
	}()
	w := &answerWriter{r: r, buf: make([]byte, 0, streamPiece)}
	w.overflow = func() (io.Writer, error) {
		file, err = r.newSpool(most)
		return file, err
	}
	if err = w.fill(frame); err == nil && file != nil {
		if err = w.flush(); err == nil {
			file.settle()
		}
	}
	complete = err == nil
	return w.buf, file, err
}

// newSpool waits until there is room for another file.
func (r *request) newSpool(most int64) (*spool, error) {
	f := &spool{most: most, s: r.reservation.s, a: r.reservation.account}
	if err := f.s.spooled.take(r.ctx, &f.a.spooled, f.share()); err != nil {
		return nil, err
	}
	f.held = f.share()
	var err error
	if f.file, err = os.CreateTemp("", "mcpkiln-answer-"); err != nil {
		f.s.spooled.change(&f.a.spooled, -f.held)
		return nil, err
	}
	_ = os.Remove(f.file.Name()) // where an open file can not be removed, close does it
	return f, nil
}

// share is what a file takes of the budget at once.
func (f *spool) share() int64 { return f.s.cfg.maxUnread / 2 }

// Write implements io.Writer. A file that gets larger than its share takes another one, and waits for none: others wait for what it has.
func (f *spool) Write(b []byte) (int, error) {
	size := f.size + int64(len(b))
	if size > f.most {
		return 0, fmt.Errorf("server: data of an Opener is larger than half of WithMaxBytesUnread, and has to be in memory at once here: %w",
			rpc.Errorf(rpc.CodeInternalError, "the answer is too large: the limit here is %d bytes", f.most))
	}
	for f.held < size {
		f.s.spooled.change(&f.a.spooled, f.share())
		f.held += f.share()
	}
	n, err := f.file.Write(b)
	f.size += int64(n)
	return n, err
}

// settle gives back the part of its share that a complete file does not need: it may wait long for its client.
func (f *spool) settle() {
	f.s.spooled.change(&f.a.spooled, f.size-f.held)
	f.held = f.size
}

func (f *spool) reader() io.Reader { return io.NewSectionReader(f.file, 0, f.size) }

func (f *spool) close() {
	_ = f.file.Close()
	_ = os.Remove(f.file.Name())
	f.s.spooled.change(&f.a.spooled, -f.held)
}

// Copy implements Copier. Only the part of the answer that is in memory counts.
func (o *connOutlet) Copy(_ rpc.ID, _ bool, answer *LongAnswer) error {
	o.copies.Add(1)
	defer o.copies.Add(-1)
	pieces := &watchedReader{answer.Reader(), o.noteProgress}
	return o.orEnd(o.counted(streamPiece, func() error { return o.copying.CopyFrame(pieces) }))
}

// EndStalledCopies implements Copier: it ends the connection.
func (o *connOutlet) EndStalledCopies(wait time.Duration) (ended bool) {
	if n, ending := o.Stalled(wait); n == 0 || ending || o.copies.Load() == 0 {
		return false
	}
	o.GiveUp(wait)
	return true
}

// freeFiles makes room while others wait for room for their files: batches write the answers that they have in files, and answers whose
// clients read nothing are given up.
func (s *Server) freeFiles(shortages []shortage) {
	if len(shortages) == 0 {
		return
	}
	for _, p := range s.allPeers() {
		for _, b := range p.batches.list() {
			b.writeFiles()
		}
		if out := p.copier(); out != nil && out.EndStalledCopies(maxStall) {
			s.log.Warn("an answer is given up: its client does not read, and others wait for the room of its file", "peer", p.id, "principal", p.principal)
			s.reputations.hasStalled(p.who)
		}
	}
}

// watchedReader calls read before each read: the bytes of the last one have been used then.
type watchedReader struct {
	io.Reader
	read func()
}

// Read implements io.Reader.
func (r *watchedReader) Read(b []byte) (int, error) {
	r.read()
	return r.Reader.Read(b)
}
