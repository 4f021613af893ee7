package rpc

import (
	"errors"
	"io"
	"slices"
	"sync"
	"time"
)

// keepBuffer is the largest buffer that is kept for reuse, in bytes.
const keepBuffer = 256 << 10

var errNotDrained = errors.New("rpc: closed before the peer took all frames")

// lineWriter writes frames in groups: a caller that comes while another one writes leaves its frame in pending and returns; the one that
// writes goes on until nothing is pending. So no extra goroutine is needed, a lone writer writes at once, and under load one Write has many
// frames.
type lineWriter struct {
	w     io.Writer
	pipe  *promptPipe // w, if it is a pipe that can be written to without waiting; else nil
	limit int         // of pending, in bytes
	wrote func()      // see Reporting; nil: nobody wants to know

	mu      sync.Mutex
	waiting backlog    // frames that do not fit into pending yet
	pending []byte     // accepted lines that nobody writes yet
	spare   []byte     // a second buffer: pending gets it when its own is written, and the line of a lone frame is made in it
	writing bool       // a goroutine has the write role
	idle    chan error // made by close, with a buffer of one; gets the outcome of flush when the write role is given up
	err     error      // why nothing is accepted any more
}

func newLineWriter(w io.Writer, limit int) *lineWriter {
	return &lineWriter{w: w, pipe: newPromptPipe(w), limit: limit}
}

// WriteFrame implements Conn.
func (l *lines) WriteFrame(frame []byte) error {
	if blank(frame) {
		return errEmptyFrame
	}
	return l.w.write(frame)
}

// WriteFrames implements Batched.
func (l *lines) WriteFrames(frames [][]byte) error {
	if slices.ContainsFunc(frames, blank) {
		return errEmptyFrame
	}
	return l.w.writeTogether(frames)
}

// WriteLent implements Lending.
func (l *lines) WriteLent(frame []byte) error {
	if blank(frame) {
		return errEmptyFrame
	}
	return l.w.writeLent(frame)
}

// TryWrite implements Trying, for small frames, which a pipe takes as a whole or not at all.
func (l *lines) TryWrite(frame []byte) (taken bool) {
	if l.w.pipe == nil || len(frame) >= l.w.pipe.atomic || blank(frame) {
		return false
	}
	return l.w.try(frame)
}

func (w *lineWriter) try(frame []byte) (taken bool) {
	plain := isPlainLine(frame)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != nil || w.writing || !w.waiting.empty() || len(w.pending) > 0 {
		return false
	}
	w.spare = appendLine(w.spare[:0], frame, plain)
	return len(w.spare) <= w.pipe.atomic && w.pipe.write(w.spare)
}

func (w *lineWriter) write(frame []byte) error {
	plain := isPlainLine(frame)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err == nil && !w.writing && len(w.pending) == 0 && w.waiting.empty() {
		line := appendLine(w.spare[:0], frame, plain)
		if w.spare = line; cap(line) > keepBuffer {
			w.spare = nil
		}
		return w.flush(line) // alone, as most frames are
	}
	if err := w.accept(frame, plain); err != nil || w.writing {
		return err
	}
	return w.flush(nil)
}

func (w *lineWriter) writeTogether(frames [][]byte) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, frame := range frames {
		if err := w.accept(frame, isPlainLine(frame)); err != nil {
			return err
		}
	}
	if w.writing {
		return nil
	}
	return w.flush(nil)
}

// writeLent is write for a frame in a buffer that may be changed: a lone writer writes the frame from that buffer.
func (w *lineWriter) writeLent(frame []byte) error {
	if !isPlainLine(frame) {
		if hasLineSeparator(frame) {
			return w.write(frame) // the escapes of line separators are longer than these, so the buffer may be too small
		}
		spaces(frame, '\n')
		spaces(frame, '\r')
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err == nil && !w.writing {
		return w.flush(append(frame, '\n'))
	}
	return w.accept(frame, true)
}

// accept makes a frame pending as soon as it fits. The lock is held, but not while waiting.
func (w *lineWriter) accept(frame []byte, plain bool) error {
	for w.err == nil && (!w.waiting.empty() || !w.fits(frame)) {
		if w.writing {
			return w.waiting.wait(&w.mu, frame) // the goroutine with the write role will accept it
		}
		_ = w.flush(nil) // the caller's frames before this one; a failure is in w.err
	}
	if w.err == nil {
		w.pending = appendLine(w.pending, frame, plain)
	}
	return w.err
}

func (w *lineWriter) fits(frame []byte) bool {
	return len(w.pending) == 0 || len(w.pending)+len(frame) < w.limit
}

// admit makes frames of the backlog pending, those that have waited longest first, as far as they fit.
func (w *lineWriter) admit() {
	for !w.waiting.empty() && !w.waiting.copies() && w.fits(w.waiting.first()) {
		w.pending = appendLine(w.pending, w.waiting.first(), isPlainLine(w.waiting.first()))
		w.waiting.accepted()
	}
}

// flush has the write role until nothing is pending. It first writes alone, a line that is not in pending but lent, or made in spare; nil: there is none.
// The lock is held, but not while writing.
func (w *lineWriter) flush(alone []byte) error {
	w.writing = true
	var failed error
	for (alone != nil || len(w.pending) > 0 || w.waiting.copies()) && failed == nil {
		if alone == nil && len(w.pending) == 0 {
			failed = w.copyFirst()
			continue
		}
		batch := alone
		if alone == nil {
			batch = w.pending
			w.pending, w.spare = w.spare[:0], nil
			w.admit()
		}
		w.mu.Unlock()
		failed = w.writeParts(batch)
		w.mu.Lock()
		if alone == nil && cap(batch) <= keepBuffer {
			w.spare = batch[:0]
		}
		alone = nil
	}
	w.writing = false
	if failed != nil {
		w.fail(failed)
	}
	if w.idle != nil {
		w.idle <- failed
		w.idle = nil
	}
	return failed
}

// writePart is the most that one Write has, in bytes, if OnWrite was called.
const writePart = 64 << 10

// OnWrite implements Reporting.
func (l *lines) OnWrite(f func()) { l.w.wrote = f }

func (w *lineWriter) writeParts(b []byte) error {
	for w.wrote != nil && len(b) > writePart {
		if err := writeAll(w.w, b[:writePart]); err != nil {
			return err
		}
		w.wrote()
		b = b[writePart:]
	}
	return writeAll(w.w, b)
}

func writeAll(w io.Writer, b []byte) error {
	n, err := w.Write(b)
	if err == nil && n < len(b) {
		err = io.ErrShortWrite
	}
	return err
}

// fail refuses all further frames; the first error stays.
func (w *lineWriter) fail(err error) {
	if w.err == nil {
		w.err = err
	}
	w.pending = nil
	w.waiting.refuse(w.err)
}

// close refuses further frames and waits until the accepted ones are written. An error says that some may not be.
func (w *lineWriter) close(wait time.Duration) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	broken := w.err
	if w.err == nil {
		w.err = ErrClosed
	}
	w.waiting.refuse(w.err)
	if !w.writing {
		return broken
	}
	idle := make(chan error, 1)
	w.idle = idle
	w.mu.Unlock()
	timer := time.NewTimer(wait)
	defer timer.Stop()
	var err error
	select {
	case err = <-idle: // w.err stays ErrClosed
	case <-timer.C:
		err = errNotDrained
	}
	w.mu.Lock()
	return err
}

// waitingFrame is a frame that is not accepted yet.
type waitingFrame struct {
	frame []byte
	from  io.Reader  // has the frame, if it is not in memory; else nil
	done  chan error // gets the outcome, for which it has a buffer of one
}

// backlog has the frames that wait until there is room for them, in order. Each writer is woken once: when its frame is accepted, or when it
// never will be. Waking all of them for each frame would cost the square of their number when a peer begins to read again.
type backlog struct{ waiting []waitingFrame }

func (b *backlog) empty() bool { return len(b.waiting) == 0 }

// first returns the frame that has waited longest.
func (b *backlog) first() []byte { return b.waiting[0].frame }

// wait returns when the frame is accepted, or with the reason why it will not be. The lock is held, but not while waiting.
func (b *backlog) wait(mu *sync.Mutex, frame []byte) error {
	done := b.add(waitingFrame{frame: frame})
	mu.Unlock()
	defer mu.Lock()
	return <-done
}

// add appends a frame and returns the channel that gets its outcome.
func (b *backlog) add(w waitingFrame) (done <-chan error) {
	w.done = make(chan error, 1)
	b.waiting = append(b.waiting, w)
	return w.done
}

// copies reports whether there is a frame, and the one that has waited longest is not in memory, so that it has to be copied from its Reader.
func (b *backlog) copies() bool { return len(b.waiting) > 0 && b.waiting[0].from != nil }

// accepted removes the first frame and wakes its writer.
func (b *backlog) accepted() { b.pop().done <- nil }

// pop removes and returns the first frame, whose writer still waits.
func (b *backlog) pop() waitingFrame {
	w := b.waiting[0]
	b.waiting[0] = waitingFrame{}
	b.waiting = b.waiting[1:]
	return w
}

// refuse wakes all writers, with an error.
func (b *backlog) refuse(err error) {
	for _, w := range b.waiting {
		w.done <- err
	}
	b.waiting = nil
}
