package client

import (
	"bufio"
	"bytes"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/rpc"
)

// eventReader reads server-sent events. Its fields are kept from one response to the next, which resumes the stream.
type eventReader struct {
	max   int64  // bytes of the data of one event
	id    string // of the last event, "" for none
	retry time.Duration
	// tooLarge is called in place of each for an event whose data were thrown away because they are too many.
	tooLarge func(*rpc.FrameError)
	heard    func() // called when a part of an event was read, but not for comments; nil: nobody wants to know
	// returned: the last line ended in \r, and a \n that follows belongs to it. The reader does not wait for the \n, since there may be none.
	returned bool
}

// byteOrderMark may begin a stream, and is no part of its first line.
const byteOrderMark = "\ufeff"

// read calls each for the data of every event, which each may keep, until the stream ends. An event without end is a *rpc.FrameError.
func (e *eventReader) read(body io.Reader, each func(data []byte)) error {
	r := bufio.NewReaderSize(body, 4<<10)
	e.returned = false
	if mark, _ := r.Peek(len(byteOrderMark)); string(mark) == byteOrderMark {
		_, _ = r.Discard(len(byteOrderMark))
	}
	var ev streamEvent
	for {
		line, ended, err := e.line(r, nil, max(int(e.max)-len(ev.data), minLine)+len("data: ")+1)
		whole := ended || err != nil
		if !whole {
			err = e.skipLine(r, line, &ev)
		}
		switch {
		case err == io.EOF:
			return nil // an event without its blank line is ignored
		case err != nil:
			return err
		case ev.skipped > maxSkipped*int(e.max):
			return &rpc.FrameError{Limit: int(e.max)}
		case !whole:
			continue
		case len(line) > 0:
			e.field(line, &ev)
			continue
		}
		if ev.id != nil {
			e.id = *ev.id
		}
		switch {
		case ev.large != nil:
			e.tooLarge(ev.large.TooLarge(int(e.max)))
		case len(bytes.TrimSpace(ev.data)) > 0:
			each(ev.data)
		}
		ev = streamEvent{}
	}
}

// streamEvent is what was read of one event.
type streamEvent struct {
	id    *string // nil: it has none
	data  []byte  // nil: it has none, or large has them
	large *rpc.Skim
	// skipped is how many bytes of the event were thrown away.
	skipped int
}

// maxSkipped is how much of one event is thrown away at most, in messages of the largest size: the rest of a stream is worth no more (VAL07).
const maxSkipped = 8

// minLine is how long a line may be at least, however much of the event's data there is: its other fields are short.
const minLine = 4 << 10

// add adds a line of data. If there are more bytes than most, only large keeps what matters of them.
func (ev *streamEvent) add(value []byte, most int) {
	switch {
	case ev.large != nil:
		ev.large.Add([]byte{'\n'})
		ev.large.Add(value)
		ev.skipped += len(value)
	case ev.data == nil:
		ev.data = append([]byte{}, value...)
	default:
		ev.data = append(append(ev.data, '\n'), value...)
	}
	if len(ev.data) > most {
		ev.large = new(rpc.Skim)
		ev.large.Add(ev.data)
		ev.data = nil
	}
}

// skipLine reads the rest of a line that is too long, and adds it to the event if it is of data.
func (e *eventReader) skipLine(r *bufio.Reader, line []byte, ev *streamEvent) error {
	isData := bytes.HasPrefix(line, []byte("data:"))
	if isData {
		e.field(line, ev)
	}
	for ended := false; !ended && ev.skipped <= maxSkipped*int(e.max); {
		var err error
		if line, ended, err = e.line(r, line[:1], minLine); err != nil {
			return err
		}
		ev.skipped += len(line)
		if isData {
			ev.large.Add(line[1:])
		}
	}
	return nil
}

// line appends the next line, without its end, which is any of \n, \r\n and \r. It stops when the line has most bytes, and then ended is false.
func (e *eventReader) line(r *bufio.Reader, line []byte, most int) (_ []byte, ended bool, err error) {
	for len(line) < most {
		c, err := r.ReadByte()
		second := e.returned && c == '\n'
		e.returned = c == '\r' && err == nil
		switch {
		case err != nil:
			return nil, false, err
		case second:
			continue
		case c == '\n' || c == '\r':
			return line, true, nil
		}
		line = e.more(r, append(line, c), most)
	}
	return line, false, nil
}

// more appends the rest of the line as far as it is buffered, and there is room.
func (e *eventReader) more(r *bufio.Reader, line []byte, most int) []byte {
	ready, _ := r.Peek(min(r.Buffered(), most-len(line)))
	if i := bytes.IndexAny(ready, "\r\n"); i >= 0 {
		ready = ready[:i]
	}
	line = append(line, ready...)
	if e.heard != nil && line[0] != ':' {
		e.heard()
	}
	_, _ = r.Discard(len(ready))
	return line
}

// isControl reports whether a character can not be in an HTTP header, so that a stream can not be resumed after an event with it in its id.
func isControl(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }

// field handles one line. Comments and unknown fields are ignored.
func (e *eventReader) field(line []byte, ev *streamEvent) {
	name, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimPrefix(value, []byte(" "))
	switch string(name) {
	case "data":
		ev.add(value, int(e.max))
	case "id":
		if text := string(value); !strings.Contains(text, "\x00") {
			if strings.ContainsFunc(text, isControl) {
				text = ""
			}
			ev.id = &text
		}
	case "retry":
		if ms, err := strconv.ParseUint(string(value), 10, 31); err == nil {
			e.retry = time.Duration(ms) * time.Millisecond
		}
	}
}
