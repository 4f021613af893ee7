package server

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/rpc"
)

// spool is an answer, or the part of one that has placeholders, in a temporary file.
type spool struct {
	file  *os.File
	size  int64           // bytes
	most  int64           // the largest size that it may have
	ctx   context.Context // of the request, while the file is written
	claim fileClaim
	kept  bool // a batch has it; whoever takes it from the batch closes it
}

// spool writes the frame with the data of all its placeholders before any of the answer is sent: to a file, or if it is short, to memory.
// Otherwise a slow reader of data would block the connection for all other messages.
func (r *request) spool(frame []byte, most int64) (short []byte, file *spool, err error) {
	s, shares := r.reservation.s, r.reservation.fileShares()
	if err := s.opened.take(r.ctx, &shares.opened, 1); err != nil {
		return nil, nil, err
	}
	defer s.opened.change(&shares.opened, -1)
	complete := false // stays false if a reader panics
	defer func() {
		if !complete && file != nil {
			file.close()
			file = nil
		}
	}()
	w := &answerWriter{r: r, buf: make([]byte, 0, streamPiece)}
	w.overflow = func() (io.Writer, error) {
		file, err = r.newSpool(shares, most)
		return file, err
	}
	if err = w.fill(frame); err == nil && file != nil {
		if err = w.flush(); err == nil {
			file.claim.settle(file.size)
			file.ctx = nil
		}
	}
	complete = err == nil
	return w.buf, file, err
}

// orBusy returns err, or if the process has no descriptor left for a file, an error that says to try again and wraps err, whose text is not sent.
func orBusy(err error) error {
	if !lacksDescriptors(err) {
		return err
	}
	busy := tooOften(time.Second, "busy: too many files are open")
	busy.Busy = true
	return fmt.Errorf("%w: %w", busy, err)
}

// newSpool makes a temporary file, as soon as there is space for another one.
func (r *request) newSpool(shares *fileShares, most int64) (*spool, error) {
	s := r.reservation.s
	f := &spool{most: most, ctx: r.ctx, claim: fileClaim{of: &s.files, by: shares, waiting: &s.openersWaiting}}
	if err := f.claim.grow(f.ctx, streamPiece); err != nil {
		return nil, err
	}
	var err error
	if f.file, err = os.CreateTemp("", "mcpkiln-answer-"); err != nil {
		f.claim.settle(0)
		return nil, orBusy(err)
	}
	_ = os.Remove(f.file.Name()) // where an open file can not be removed, close does it
	return f, nil
}

// Write implements io.Writer. A file that gets too large for its size class (fileRoom) waits for space in the next one.
func (f *spool) Write(b []byte) (int, error) {
	size := f.size + int64(len(b))
	if size > f.most {
		return 0, fmt.Errorf("server: data of an Opener is larger than half of WithMaxBytesUnread, and has to be in memory at once here: %w",
			rpc.Errorf(rpc.CodeInternalError, "the answer is too large: the limit here is %d bytes", f.most))
	}
	if err := f.claim.grow(f.ctx, size); err != nil {
		return 0, err
	}
	n, err := f.file.Write(b)
	f.size += int64(n)
	return n, err
}

func (f *spool) reader() io.Reader { return io.NewSectionReader(f.file, 0, f.size) }

func (f *spool) close() {
	_ = f.file.Close()
	_ = os.Remove(f.file.Name())
	f.claim.settle(0)
}

// Copy implements Copier. Only the part of the answer that is in memory counts.
func (o *connOutlet) Copy(_ rpc.ID, _ bool, answer *LongAnswer) error {
	o.copies.Add(1)
	defer o.copies.Add(-1)
	pieces := &watchedReader{answer.Reader(), o.noteProgress}
	return o.orEnd(o.counted(streamPiece, func() error { return o.copying.CopyFrame(pieces) }))
}

// EndStalledCopies implements Copier: it ends the connection.
func (o *connOutlet) EndStalledCopies(wait time.Duration, connected bool) (ended bool) {
	if n, ending := o.Stalled(wait); !connected || n == 0 || ending || o.copies.Load() == 0 {
		return false
	}
	o.GiveUp(wait)
	return true
}

// watchedReader calls read before each Read: by then the bytes of the last Read have been used.
type watchedReader struct {
	io.Reader
	read func()
}

// Read implements io.Reader.
func (r *watchedReader) Read(b []byte) (int, error) {
	r.read()
	return r.Reader.Read(b)
}
