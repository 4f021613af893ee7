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
	text bool // the data is text and becomes a JSON string; else base64 of it

	data io.ReadCloser // while it is open
	log  *slog.Logger
	stop func() bool // keeps the end of the call from closing data
}

// streamPiece is how much of an answer with placeholders is in memory while it is written, in bytes.
const streamPiece = 64 << 10

// errTooLate is the error of an answer that can not be streamed, because its HTTP response has its answer already, or has ended.
var errTooLate = errors.New("server: it is too late for the answer")

// Streamed is an Outlet that writes an answer piece by piece.
type Streamed interface {
	// Stream begins an answer; nil: its HTTP response has its answer already, or has ended. Nothing else is written about the request from then on.
	Stream(about rpc.ID) AnswerStream
}

// AnswerStream is an answer that is being written.
type AnswerStream interface {
	// Write returns when the piece is on its way to the client.
	io.Writer
	// End is called once. If the answer is not complete, its connection ends.
	End(complete bool)
}

// answerWriter writes an answer with the data of its placeholders. A short one becomes one frame, as any answer; the pieces of a long one
// go to the writer that overflow returns.
type answerWriter struct {
	r        *request
	buf      []byte
	to       io.Writer // gets the pieces; nil: the answer was short so far
	overflow func() (io.Writer, error)
	opens    bool // the first placeholder is opened before anything is written
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

// flush writes what is in memory to the writer of pieces.
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
	w.buf = w.buf[:0]
	return err
}

// fillOrStream returns the frame with the data of its placeholders, if that is short. A long frame with one placeholder is written to the client while
// its data is read, if the outlet is Streamed. A long one with several, or for an outlet that is only a Copier, is put into the file r.spooled: the second
// placeholder could fail to open when the answer has begun. Both ways end the stream of the request, so an answer with a trailer is put into memory, as
// is every answer for other outlets.
func (r *request) fillOrStream(frame []byte) (answer []byte, err error) {
	out, streams := r.p.out.(Streamed)
	switch {
	case streams && len(r.placeholders) == 1 && r.trailer == nil:
		return r.stream(frame, out)
	case r.p.copier() != nil && r.trailer == nil:
		r.dropParts()
		r.reservation.countAnswer(r.ctx, len(frame)) // until the file has it
		if answer, r.spooled, err = r.spool(frame, math.MaxInt64); r.spooled == nil {
			return append(frame[:0], answer...), err
		}
		r.out = nil                       // the answer needs no buffer while the client reads it
		r.reservation.s.large.give(frame) // give the large buffer back (request.go)
		r.reservation.giveBack()
		return nil, err
	}
	return r.fillPlaceholders(frame, 0)
}

// stream writes a long answer to the client while its data is read; a short one it returns.
func (r *request) stream(frame []byte, out Streamed) (answer []byte, err error) {
	var stream AnswerStream
	complete := false // stays false if a reader panics
	defer func() {
		if stream != nil {
			stream.End(r.entry.Retire() && complete) // also if it is incomplete: no other answer may follow
		}
	}()
	w := &answerWriter{r: r, buf: make([]byte, 0, streamPiece), opens: true}
	w.overflow = func() (io.Writer, error) {
		r.reservation.countAnswer(r.ctx, len(frame)+streamPiece)
		if stream = out.Stream(r.requestID()); stream == nil {
			return nil, errTooLate
		}
		r.streamed = true
		return &pausingWriter{stream, r}, nil
	}
	if err = w.fill(frame); err == nil && stream != nil && len(w.buf) > 0 {
		err = w.flush()
	}
	complete = err == nil
	return w.buf, err
}

// pausingWriter pauses the timeout of the call while it writes to the client.
type pausingWriter struct {
	io.Writer
	r *request
}

// Write implements io.Writer.
func (u *pausingWriter) Write(b []byte) (int, error) {
	u.r.entry.Pause()
	defer u.r.entry.Resume()
	return u.Writer.Write(b)
}

// fillPlaceholders returns b with the data of its placeholders, all of which are in b[start:].
func (r *request) fillPlaceholders(b []byte, start int) ([]byte, error) {
	if len(r.placeholders) == 0 {
		return b, nil
	}
	return r.assemble(b, start)
}

// assemble puts the whole answer into memory. A large one waits in a file until it fits into the budget of answers. It may take half of that budget,
// so that one answer leaves something to others.
func (r *request) assemble(b []byte, start int) ([]byte, error) {
	short, file, err := r.spoolForMemory(b[start:])
	if err != nil || file == nil {
		return append(b[:start], short...), err
	}
	defer file.close()
	if err := r.reservation.reserve(r.ctx, int64(start)+file.size); err != nil {
		return b[:start], err
	}
	b = slices.Grow(b[:start], int(file.size)+1) // with room for a newline, see rpc.Lending
	if _, err := io.ReadFull(file.reader(), b[start:start+int(file.size)]); err != nil {
		return b[:start], err
	}
	return b[:start+int(file.size)], nil
}

func (r *request) spoolForMemory(frame []byte) (short []byte, file *spool, err error) {
	defer r.reservation.assembling(len(frame))() // until then the answer counts in Server.coming, not in unread
	return r.spool(frame, r.reservation.s.cfg.maxUnread/2)
}

// maxOpening is how long an answer waits to open its data if no reader of another answer's data ends meanwhile.
const maxOpening = 10 * time.Second

// refuseOpeners refuses answers that wait to open data while no reader of another answer ends: readers may ignore that they are closed, and count
// until they return. All waiters are refused, whatever their shortages.
func (s *Server) refuseOpeners(_ []shortage) {
	if s.opened.total() <= s.openersWaiting.Load() {
		return // every open reader belongs to an answer that waits for space for its file: no reader is at fault
	}
	err := tooOften(time.Second, "busy: data is not opened, because no reader of other data has ended for %v", maxOpening)
	err.Busy = true
	if n := s.opened.refuse(maxOpening, err); n > 0 {
		s.log.Warn("answers are refused, because the readers of other answers do not end: "+
			"Close has to end a Read that blocks", "refused", n, "open", s.opened.total())
	}
}

// fill writes the frame with the data that its placeholders open in turn. An answer that is streamed has one placeholder, opened before the first byte
// so that an error can still be the answer. Readers are closed when they are read, or when the call ends before. Openers and readers are code of the
// application, as handlers are: whoever answers the request, or runs the task, recovers from a panic (TSK25).
func (w *answerWriter) fill(frame []byte) (err error) {
	placeholders := w.r.placeholders
	w.r.placeholders = nil
	defer func() {
		for i := range placeholders {
			placeholders[i].close()
		}
		w.r.closeReaders()
	}()
	if w.opens {
		if err := placeholders[0].openFor(w.r); err != nil {
			return err
		}
	}
	for i := range placeholders {
		at := bytes.IndexByte(frame, placeholderMark[0])
		if _, err := w.Write(frame[:at]); err != nil {
			return err
		}
		if err := w.copyData(&placeholders[i]); err != nil {
			return err
		}
		frame = frame[at+1:]
	}
	_, err = w.Write(frame)
	return err
}

// copyData writes the data of a placeholder.
func (w *answerWriter) copyData(p *placeholder) error {
	if !w.opens {
		if err := p.openFor(w.r); err != nil {
			return err
		}
	}
	defer p.close()
	return p.copyTo(w)
}

// openFor opens the data. The end of the call closes it.
func (p *placeholder) openFor(r *request) (err error) {
	if p.data, err = p.open(); err != nil {
		return orBusy(fmt.Errorf("opening the data of a block: %w", err))
	}
	data, log := p.data, r.log() // copies: the data may be closed after r was reused
	p.stop = context.AfterFunc(r.ctx, func() { closeData(data, log) })
	p.log = log
	return nil
}

// close closes the data, unless the end of the call did, or it is closed already.
func (p *placeholder) close() {
	if p.stop != nil && p.stop() {
		closeData(p.data, p.log)
	}
	p.stop = nil
}

func closeData(data io.Closer, log *slog.Logger) {
	defer logPanics(log)
	_ = data.Close()
}

// logPanics is deferred around code of the application: it recovers from a panic, and logs it.
func logPanics(log *slog.Logger) {
	if v := recover(); v != nil {
		logPanic(log, v)
	}
}

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

// progressing fails once its reader returns nothing again and again: a copy would never end.
type progressing struct{ io.Reader }

func (p progressing) Read(b []byte) (n int, err error) {
	for range maxEmptyReads {
		if n, err = p.Reader.Read(b); n > 0 || err != nil || len(b) == 0 {
			return n, err
		}
	}
	return 0, io.ErrNoProgress
}

// copyText writes the text escaped. It is read in pieces, which may end within a rune.
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
		escaped = check.AppendText(escaped[:0], buf[:complete])
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

// completeRunes returns the length of b without an incomplete rune at its end.
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
