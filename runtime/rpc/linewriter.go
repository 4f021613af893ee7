package rpc

import (
	"bytes"
	"errors"
	"io"
	"sync"
	"time"
)

// keepBuffer is the largest buffer that is kept for reuse, in bytes.
const keepBuffer = 256 << 10

var errNotDrained = errors.New("rpc: closed before the peer took all frames")

// lineWriter commits in groups: who comes while somebody writes leaves the frame in pending and goes; the one who writes goes
// on until nothing is pending. So no goroutine is needed, a lone writer writes at once, and under load one Write carries many
// frames.
type lineWriter struct {
	w     io.Writer
	limit int

	mu      sync.Mutex
	room    sync.Cond // pending was taken, or err is set
	pending []byte
	spare   []byte        // the other buffer, when nobody writes it
	writing bool          // somebody has the write role
	idle    chan struct{} // made by close; closed when the role is given up
	err     error         // why nothing is accepted any more
}

func newLineWriter(w io.Writer, limit int) *lineWriter {
	lw := &lineWriter{w: w, limit: limit}
	lw.room.L = &lw.mu
	return lw
}

func (w *lineWriter) write(frame []byte) error {
	if blank(frame) {
		return errEmptyFrame
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for w.err == nil && len(w.pending) > 0 && len(w.pending)+len(frame) >= w.limit {
		w.room.Wait()
	}
	if w.err != nil {
		return w.err
	}
	w.pending = appendLine(w.pending, frame)
	if w.writing {
		return nil
	}
	return w.flush()
}

// flush holds the write role until nothing is pending. The lock is held, but not while writing.
func (w *lineWriter) flush() error {
	w.writing = true
	var failed error
	for len(w.pending) > 0 && failed == nil {
		batch := w.pending
		w.pending, w.spare = w.spare[:0], nil
		w.room.Broadcast()
		w.mu.Unlock()
		n, err := w.w.Write(batch)
		w.mu.Lock()
		if err == nil && n < len(batch) {
			err = io.ErrShortWrite
		}
		failed = err
		if cap(batch) <= keepBuffer {
			w.spare = batch[:0]
		}
	}
	w.writing = false
	if failed != nil {
		w.fail(failed)
	}
	if w.idle != nil {
		close(w.idle)
		w.idle = nil
	}
	return failed
}

// fail is sticky; the first error stays.
func (w *lineWriter) fail(err error) {
	if w.err == nil {
		w.err = err
	}
	w.pending = nil
	w.room.Broadcast()
}

// close refuses further frames and waits until those accepted are written. It returns why some may not be.
func (w *lineWriter) close(wait time.Duration) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	broken := w.err
	if w.err == nil {
		w.err = ErrClosed
	}
	w.room.Broadcast()
	if !w.writing {
		return broken
	}
	idle := make(chan struct{})
	w.idle = idle
	w.mu.Unlock()
	timer := time.NewTimer(wait)
	defer timer.Stop()
	var err error
	select {
	case <-idle:
	case <-timer.C:
		err = errNotDrained
	}
	w.mu.Lock()
	return err
}

// appendLine appends frame as one line.
func appendLine(b, frame []byte) []byte {
	at := len(b)
	b = append(b, frame...)
	for {
		i := bytes.IndexByte(b[at:], '\n')
		if i < 0 {
			return append(b, '\n')
		}
		at += i
		b[at] = ' '
	}
}
