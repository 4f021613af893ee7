package rpc

import (
	"bytes"
	"errors"
	"io"
)

// CopyFrame implements Copying.
func (l *lines) CopyFrame(r io.Reader) error { return l.w.copy(r) }

// copy is write for a frame that is read from where it is. It waits its turn among the frames for which there is no room, so frames
// arrive in the order in which they were brought.
func (w *lineWriter) copy(from io.Reader) error {
	w.mu.Lock()
	if w.err != nil {
		defer w.mu.Unlock()
		return w.err
	}
	done := w.waiting.add(waitingFrame{from: from})
	if !w.writing {
		_ = w.flush(nil) // done says if it failed
	}
	w.mu.Unlock()
	return <-done
}

// copyFirst writes the frame that has waited longest from where it is, and wakes who brought it. The lock is held, but not while writing; whoever
// writes has the write role.
func (w *lineWriter) copyFirst() error {
	first := w.waiting.pop()
	w.mu.Unlock()
	err := copyLine(w.w, first.from)
	w.mu.Lock()
	first.done <- err
	if err == nil {
		w.admit()
	}
	return err
}

// copyPiece is how much of a frame that is copied is in memory, in bytes.
const copyPiece = 32 << 10

// copyLine writes all of r as appendLine would.
func copyLine(w io.Writer, r io.Reader) error {
	piece, line := make([]byte, copyPiece), make([]byte, 0, copyPiece+copyPiece/8)
	left := 0 // bytes at the beginning of piece, of a line separator that may go on
	for {
		n, err := io.ReadFull(r, piece[left:])
		n += left
		end := err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF)
		if err != nil && !end {
			return err
		}
		whole := n
		if !end {
			whole -= begunSeparator(piece[:n])
		}
		line = appendPart(line[:0], piece[:whole])
		if left = copy(piece, piece[whole:n]); end {
			line = append(line, '\n')
		}
		if err := writeAll(w, line); err != nil || end {
			return err
		}
	}
}

// begunSeparator is how many bytes at the end of b may be the beginning of a line separator.
func begunSeparator(b []byte) int {
	for n := len(lineSeparator); n > 0; n-- {
		if bytes.HasSuffix(b, lineSeparator[:n]) {
			return n
		}
	}
	return 0
}
