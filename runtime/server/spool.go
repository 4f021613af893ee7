package server

import (
	"fmt"
	"io"
	"os"

	"github.com/mcpkiln/mcpkiln/runtime/rpc"
)

// spool is an answer, or the part of one that has placeholders, in a temporary file.
type spool struct {
	file *os.File
	size int64 // bytes
	most int64 // that it may have

	s    *Server
	a    *account
	held int64 // of Server.spooled
}

// spool writes the frame with the data of all its placeholders before any of the answer is sent: to a file, or if it is short, to memory. A
// connection could not say anything else while a reader of others is slow.
func (r *request) spool(frame []byte, most int64) (short []byte, file *spool, err error) {
	s, a := r.reservation.s, r.reservation.account
	r.reservation.giveBack() // nobody who waits for a share of the budget may hold one that others wait for
	if err := s.opened.take(r.ctx, &a.opened, 1); err != nil {
		return nil, nil, err
	}
	defer s.opened.change(&a.opened, -1)
	complete := false // as long as the readers have not returned: they may panic
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
		err = w.flush()
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
	_ = os.Remove(f.file.Name()) // where an open file can not be removed, it is at the end
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

// reader reads the file from its beginning.
func (f *spool) reader() io.Reader { return io.NewSectionReader(f.file, 0, f.size) }

func (f *spool) close() {
	_ = f.file.Close()
	_ = os.Remove(f.file.Name())
	f.s.spooled.change(&f.a.spooled, -f.held)
}

// copied reports whether the answer goes to the client from a file. One of a batch is kept in memory until the others are there.
func (r *request) copied() bool {
	out, ok := r.p.out.(*connOutlet)
	return ok && out.copying != nil && r.p.batchOf(r.id) == nil
}

// copyAnswer writes an answer from its file, and calls taken with each piece that the peer has taken. What is in memory of it counts.
func (o *connOutlet) copyAnswer(f *spool, taken func()) error {
	o.copies.Add(1)
	defer o.copies.Add(-1)
	pieces := &watchedReader{f.reader(), func() { o.noteProgress(); taken() }}
	return o.orEnd(o.counted(streamPiece, func() error { return o.copying.CopyFrame(pieces) }))
}

// endStalledCopies ends connections whose peers take nothing of an answer that is copied, while others wait for the room that its file has.
func (s *Server) endStalledCopies(shortages []shortage) {
	if len(shortages) == 0 {
		return
	}
	for _, p := range s.stalled(maxStall) {
		if out, ok := p.out.(*connOutlet); ok && !p.ending && out.copies.Load() > 0 {
			s.log.Warn("an answer is given up: its client does not read, and others wait for the room of its file", "peer", p.id, "principal", p.principal)
			s.reputations.hasStalled(p.who)
			p.out.GiveUp(maxStall)
		}
	}
}

// watchedReader calls read before each read: what was read before is needed no more.
type watchedReader struct {
	io.Reader
	read func()
}

// Read implements io.Reader.
func (r *watchedReader) Read(b []byte) (int, error) {
	r.read()
	return r.Reader.Read(b)
}
