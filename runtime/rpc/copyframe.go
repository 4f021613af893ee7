package rpc

import (
	"bytes"
	"errors"
	"io"
)

// CopyFrame implements Copying.
func (l *lines) CopyFrame(r io.Reader) error { return l.w.copy(r) }

// copy is write for a frame that is read from a Reader. The frame waits in the backlog, so frames arrive in the order of the calls.
func (w *lineWriter) copy(from io.Reader) error {
	w.mu.Lock()
	if w.err != nil {
		defer w.mu.Unlock()
		return w.err
	}
	done := w.waiting.add(waitingFrame{from: from})
	if !w.writing {
		_ = w.flush(nil) // an error also goes to done
	}
	w.mu.Unlock()
	return <-done
}

// copyFirst copies the frame that has waited longest from its Reader, and wakes the goroutine in copy that waits for this. The lock is held, but not
// while writing; the caller of copyFirst has the write role.
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

// copyPiece is how much of a copied frame is in memory at once, in bytes.
const copyPiece = 32 << 10

// copyLine writes all that r has as one line, as appendLine would make it.
func copyLine(w io.Writer, r io.Reader) error {
	piece, line := make([]byte, copyPiece), make([]byte, 0, copyPiece+copyPiece/8)
	left := 0 // how many bytes at the beginning of piece may begin a line separator
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

// begunSeparator returns how many bytes at the end of b may begin a line separator.
func begunSeparator(b []byte) int {
	for n := len(lineSeparator); n > 0; n-- {
		if bytes.HasSuffix(b, lineSeparator[:n]) {
			return n
		}
	}
	return 0
}
