package rpc

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"time"
)

// LineOptions are the limits of Lines. Zero fields stand for the defaults.
type LineOptions struct {
	MaxFrame   int           // bytes of a frame that is read; DefaultMaxFrame
	MaxPending int           // bytes accepted before WriteFrame blocks; DefaultMaxPending
	CloseWait  time.Duration // how long Close waits until accepted frames are written; 1s
	// Local says that the peer is the one who started this process: all such connections have the same peer, also after a
	// restart. Never set it for a connection that strangers can open.
	Local bool
}

func (o LineOptions) withDefaults() LineOptions {
	if o.MaxFrame == 0 {
		o.MaxFrame = DefaultMaxFrame
	}
	if o.MaxPending == 0 {
		o.MaxPending = DefaultMaxPending
	}
	if o.CloseWait == 0 {
		o.CloseWait = time.Second
	}
	return o
}

// readChunk is the size of one read. A pipe holds as much.
const readChunk = 64 << 10

// Lines returns a Conn whose frames are lines. It reads lines that end in \n or \r\n, the last one also without, and skips blank ones. A message that
// is broken off at the end is a *BrokenOffError. A frame is written as one line: raw newlines, which in JSON can only be between tokens, become spaces.
// Close closes c, which may be nil, and this must end a pending read of r. If w is a pipe, do not call its Fd any more: that would make
// it blocking.
func Lines(r io.Reader, w io.Writer, c io.Closer, opts LineOptions) Conn {
	opts = opts.withDefaults()
	return &lines{r: bufio.NewReaderSize(r, readChunk), closer: c, opts: opts, w: newLineWriter(w, opts.MaxPending)}
}

type lines struct {
	r      *bufio.Reader
	w      *lineWriter
	opts   LineOptions
	closed atomic.Bool
	once   sync.Once
	closer io.Closer
	err    error // of Close
}

// ReadFrame implements Conn.
func (l *lines) ReadFrame(buf []byte) ([]byte, error) {
	for {
		line, err := l.readLine(buf[:0])
		if l.closed.Load() {
			return line[:0], ErrClosed
		}
		switch {
		case err != nil && (err != io.EOF || blank(line)):
			return line[:0], err
		case err != nil && brokenOff(line):
			return line[:0], &BrokenOffError{Bytes: len(line)}
		}
		if !blank(line) {
			return trimEnd(line), nil
		}
		buf = line
	}
}

// readLine appends a line with its newline. A line over the limit is read to its end and dropped.
func (l *lines) readLine(line []byte) ([]byte, error) {
	for {
		chunk, err := l.r.ReadSlice('\n')
		if len(line)+len(trimEnd(chunk)) > l.opts.MaxFrame {
			var s Skim
			s.Add(line)
			s.Add(chunk)
			return line[:0], l.skipLine(err, &s)
		}
		line = append(line, chunk...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}

// skipLine reads the rest of a line over the limit, of which s has the beginning; err is the error of the last read.
func (l *lines) skipLine(err error, s *Skim) error {
	for errors.Is(err, bufio.ErrBufferFull) {
		var chunk []byte
		chunk, err = l.r.ReadSlice('\n')
		s.Add(chunk)
	}
	if err != nil && err != io.EOF {
		return err
	}
	return s.TooLarge(l.opts.MaxFrame)
}

func trimEnd(line []byte) []byte {
	for n := len(line); n > 0 && (line[n-1] == '\n' || line[n-1] == '\r'); n-- {
		line = line[:n-1]
	}
	return line
}

func blank(line []byte) bool {
	for _, c := range line {
		if c != ' ' && c != '\t' && c != '\r' && c != '\n' {
			return false
		}
	}
	return true
}

// brokenOff reports whether a last line, which has no newline, is the beginning of a message that its writer did not finish.
func brokenOff(line []byte) bool {
	start := bytes.TrimLeft(line, " \t\r")
	var message json.RawMessage
	return (start[0] == '{' || start[0] == '[') && errors.Is(json.NewDecoder(bytes.NewReader(line)).Decode(&message), io.ErrUnexpectedEOF)
}

// Local returns LineOptions.Local.
func (l *lines) Local() bool { return l.opts.Local }

// Gone implements Watched, if w does.
func (l *lines) Gone() <-chan struct{} {
	if w, ok := l.w.w.(Watched); ok {
		return w.Gone()
	}
	return nil
}

// Close implements Conn. It waits no longer than CloseWait for accepted frames, so that a peer that stopped reading can not hold it up.
func (l *lines) Close() error {
	l.once.Do(func() {
		l.closed.Store(true)
		l.err = l.w.close(l.opts.CloseWait)
		if l.closer != nil {
			l.err = errors.Join(l.err, l.closer.Close())
		}
	})
	return l.err
}
