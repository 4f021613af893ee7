package server

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/mcpkiln/mcpkiln/runtime/check"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
)

// placeholder is where the data of an Opener belongs in an answer. The frame has a placeholderMark (a zero byte, block.go) there; marks and
// placeholders are in the same order.
type placeholder struct {
	open Opener
	text bool // a JSON text; else base64

	data io.ReadCloser
}

// streamPiece is how much of an answer with placeholders is in memory while it is written, in bytes.
const streamPiece = 64 << 10

// errTooLate is why an answer can not be streamed.
var errTooLate = errors.New("server: it is too late for the answer")

// Streamed is an Outlet that takes an answer piece by piece.
type Streamed interface {
	// Stream begins an answer, nil if it is too late for one. Nothing else is written about the request from then on.
	Stream(about rpc.ID) AnswerStream
}

// AnswerStream is an answer that is being written.
type AnswerStream interface {
	// Write returns when the piece is on its way to the client.
	io.Writer
	// End is called once. An answer that is not complete ends with its connection.
	End(complete bool)
}

// answerWriter writes an answer with the data of its placeholders. A short one is one frame, as any answer; the pieces of a long one go where overflow says.
type answerWriter struct {
	r        *request
	buf      []byte
	to       io.Writer // where full pieces go; nil: the answer was short so far
	overflow func() (io.Writer, error)
	size     int64 // of what went there
}

// Write implements io.Writer.
func (w *answerWriter) Write(b []byte) (n int, err error) {
	for n < len(b) {
		if len(w.buf) == cap(w.buf) {
			if err := w.flush(); err != nil {
				return n, err
			}
		}
		k := copy(w.buf[len(w.buf):cap(w.buf)], b[n:])
		w.buf, n = w.buf[:len(w.buf)+k], n+k
	}
	return n, nil
}

// flush hands a full piece on.
func (w *answerWriter) flush() (err error) {
	if err := context.Cause(w.r.ctx); err != nil {
		return err
	}
	if w.to == nil {
		if w.to, err = w.overflow(); err != nil {
			return err
		}
	}
	_, err = w.to.Write(w.buf)
	w.size += int64(len(w.buf))
	w.buf = w.buf[:0]
	return err
}

// fillOrStream returns the frame with the data of its placeholders. Where the outlet takes an answer piece by piece, a long one is written instead,
// and where it copies one, that waits in r.spooled.
func (r *request) fillOrStream(frame []byte) (answer []byte, err error) {
	out, streams := r.p.out.(Streamed)
	switch {
	case streams && r.p.exchange && r.trailer == nil:
		return r.stream(frame, out)
	case r.p.copier() != nil && r.trailer == nil:
		answer, r.spooled, err = r.spool(frame, math.MaxInt64)
		return append(frame[:0], answer...), err
	}
	return r.fillPlaceholders(frame, 0)
}

// stream writes a long answer to the client while its data is read; a short one it returns.
func (r *request) stream(frame []byte, out Streamed) (answer []byte, err error) {
	var stream AnswerStream
	complete := false // as long as the readers have not returned: they may panic
	defer func() {
		if stream != nil {
			stream.End(r.entry.Retire() && complete) // nobody else answers it: it has begun
		}
	}()
	w := &answerWriter{r: r, buf: make([]byte, 0, streamPiece)}
	w.overflow = func() (io.Writer, error) {
		r.reservation.countAnswer(r.ctx, streamPiece)
		if stream = out.Stream(r.id); stream == nil {
			return nil, errTooLate
		}
		r.streamed = true
		return &unclocked{stream, r}, nil
	}
	if err = w.fill(frame); err == nil && stream != nil && len(w.buf) > 0 {
		err = w.flush()
	}
	complete = err == nil
	return w.buf, err
}

// unclocked writes to a client while the clock of the call stands still.
type unclocked struct {
	io.Writer
	r *request
}

// Write implements io.Writer.
func (u *unclocked) Write(b []byte) (int, error) {
	u.r.entry.Pause()
	defer u.r.entry.Resume()
	return u.Writer.Write(b)
}

// fillPlaceholders returns b with the data of its placeholders, all of which stand in b[start:].
func (r *request) fillPlaceholders(b []byte, start int) ([]byte, error) {
	if len(r.placeholders) == 0 {
		return b, nil
	}
	return r.assemble(b, start)
}

// assemble has the whole answer in memory. What is large waits in a file until it fits into the budget of answers, of which it may have half:
// one answer leaves something to others, and its file takes one share (spool.share).
func (r *request) assemble(b []byte, start int) ([]byte, error) {
	short, file, err := r.spool(b[start:], r.reservation.s.cfg.maxUnread/2)
	if err != nil || file == nil {
		return append(b[:start], short...), err
	}
	defer file.close()
	if err := r.reservation.reserve(r.ctx, int64(start)+file.size); err != nil {
		return b[:start], err
	}
	b = slices.Grow(b[:start], int(file.size)+1) // and the end of a line, see rpc.Lending
	if _, err := io.ReadFull(file.reader(), b[start:start+int(file.size)]); err != nil {
		return b[:start], err
	}
	return b[:start+int(file.size)], nil
}

// maxOpening is how long an answer waits to open its data while no reader of another answer ends.
const maxOpening = 10 * time.Second

// refuseOpeners refuses answers that wait to open data while no reader of another answer ends: readers may ignore that they are closed, and count
// until they return. How much is waited for makes no difference.
func (s *Server) refuseOpeners(_ []shortage) {
	err := tooOften(time.Second, "busy: data is not opened, because no reader of other data has ended for %v", maxOpening)
	err.Busy = true
	if n := s.opened.refuse(maxOpening, err); n > 0 {
		s.log.Warn("answers are refused, because the readers of other answers do not end: "+
			"Close has to end a Read that blocks", "refused", n, "open", s.opened.total())
	}
}

// fill writes the frame with what its placeholders open. Their readers are closed when it returns, or earlier to end them with the call. They are
// code of others, like handlers: whoever answers, or runs the task, takes care of a panic (TSK25).
func (w *answerWriter) fill(frame []byte) (err error) {
	placeholders, opened, stop := w.r.placeholders, 0, func() bool { return true }
	w.r.placeholders = nil
	log := w.r.log() // readers may be closed later than the request is used again
	defer func() {
		if stop() {
			closeAll(log, placeholders[:opened])
		}
	}()
	for i := range placeholders {
		if placeholders[i].data, err = placeholders[i].open(); err != nil {
			return fmt.Errorf("opening the data of a block: %w", err)
		}
		opened++
	}
	stop = context.AfterFunc(w.r.ctx, func() { closeAll(log, placeholders) })
	for i := range placeholders {
		at := bytes.IndexByte(frame, placeholderMark[0])
		if _, err := w.Write(frame[:at]); err != nil {
			return err
		}
		if err := placeholders[i].copyTo(w); err != nil {
			return err
		}
		frame = frame[at+1:]
	}
	_, err = w.Write(frame)
	return err
}

func closeAll(log *slog.Logger, placeholders []placeholder) {
	for i := range placeholders {
		placeholders[i].close(log)
	}
}

func (p *placeholder) close(log *slog.Logger) {
	defer func() {
		if v := recover(); v != nil {
			logPanic(log, v)
		}
	}()
	_ = p.data.Close()
}

// copyTo writes the data as a JSON string.
func (p *placeholder) copyTo(w io.Writer) error {
	if _, err := io.WriteString(w, `"`); err != nil {
		return err
	}
	copied := copyText
	if !p.text {
		copied = copyBase64
	}
	if err := copied(w, p.data); err != nil {
		return err
	}
	_, err := io.WriteString(w, `"`)
	return err
}

func copyBase64(w io.Writer, r io.Reader) error {
	encoder := base64.NewEncoder(base64.StdEncoding, w)
	if _, err := io.Copy(encoder, progressing{r}); err != nil {
		return err
	}
	return encoder.Close()
}

// maxEmptyReads is how often a reader may return nothing, neither bytes nor an error, one after the other.
const maxEmptyReads = 100

// progressing is a reader that fails once it returns nothing again and again, which nobody could end.
type progressing struct{ io.Reader }

func (p progressing) Read(b []byte) (n int, err error) {
	for range maxEmptyReads {
		if n, err = p.Reader.Read(b); n > 0 || err != nil || len(b) == 0 {
			return n, err
		}
	}
	return 0, io.ErrNoProgress
}

// copyText escapes the text, which is read in pieces that end anywhere.
func copyText(w io.Writer, r io.Reader) error {
	r = progressing{r}
	buf, left := make([]byte, 32<<10), 0
	var escaped []byte
	for {
		n, err := r.Read(buf[left:])
		n += left
		complete := n
		if err == nil {
			complete = completeRunes(buf[:n])
		}
		escaped = check.AppendString(escaped[:0], text(buf[:complete]))
		if _, err := w.Write(escaped[1 : len(escaped)-1]); err != nil {
			return err
		}
		left = copy(buf, buf[complete:n])
		switch {
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		}
	}
}

// completeRunes is how much of b is left without a rune at its end whose other bytes are still to come.
func completeRunes(b []byte) int {
	for i := len(b) - 1; i >= 0 && i >= len(b)-utf8.UTFMax; i-- {
		if utf8.RuneStart(b[i]) {
			if !utf8.FullRune(b[i:]) {
				return i
			}
			break
		}
	}
	return len(b)
}
