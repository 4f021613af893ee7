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
	max   int64  // bytes of one event
	id    string // of the last event, "" for none
	retry time.Duration
	heard func() // called when a part of an event was read, but not for comments; nil: nobody wants to know
	// returned: the last line ended in \r, and a \n that follows belongs to it. The reader does not wait for the \n, since there may be none.
	returned bool
}

// byteOrderMark may begin a stream, and is no part of its first line.
const byteOrderMark = "\ufeff"

// read calls each for the data of every event, which each may keep, until the stream ends.
func (e *eventReader) read(body io.Reader, each func(data []byte)) error {
	r := bufio.NewReaderSize(body, 4<<10)
	e.returned = false
	if mark, _ := r.Peek(len(byteOrderMark)); string(mark) == byteOrderMark {
		_, _ = r.Discard(len(byteOrderMark))
	}
	var data []byte
	var id *string
	for {
		line, err := e.line(r, int64(len(data)))
		if err != nil {
			if err == io.EOF {
				return nil // an event without its blank line is ignored
			}
			return err
		}
		if len(line) > 0 {
			data, id = e.field(line, data, id)
			continue
		}
		if id != nil {
			e.id, id = *id, nil
		}
		if len(bytes.TrimSpace(data)) > 0 {
			each(data)
		}
		data = nil
	}
}

// line returns the next line without its end, which is any of \n, \r\n and \r.
func (e *eventReader) line(r *bufio.Reader, before int64) (line []byte, err error) {
	for {
		c, err := r.ReadByte()
		second := e.returned && c == '\n'
		e.returned = c == '\r' && err == nil
		switch {
		case err != nil:
			return nil, err
		case second:
			continue
		case c == '\n' || c == '\r':
			return line, nil
		case before+int64(len(line)) >= e.max:
			return nil, &rpc.FrameError{Limit: int(e.max)}
		}
		line = append(line, c)
		line, err = e.more(r, line, before)
		if err != nil {
			return nil, err
		}
	}
}

// more appends the rest of the line as far as it is buffered.
func (e *eventReader) more(r *bufio.Reader, line []byte, before int64) ([]byte, error) {
	ready, _ := r.Peek(r.Buffered())
	if i := bytes.IndexAny(ready, "\r\n"); i >= 0 {
		ready = ready[:i]
	}
	if before+int64(len(line)+len(ready)) > e.max {
		return nil, &rpc.FrameError{Limit: int(e.max)}
	}
	line = append(line, ready...)
	if e.heard != nil && line[0] != ':' {
		e.heard()
	}
	_, _ = r.Discard(len(ready))
	return line, nil
}

// isControl reports whether a character can not be in an HTTP header, so that a stream can not be resumed after an event with it in its id.
func isControl(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }

// field handles one line. Comments and unknown fields are ignored.
func (e *eventReader) field(line, data []byte, id *string) ([]byte, *string) {
	name, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimPrefix(value, []byte(" "))
	switch string(name) {
	case "data":
		if data != nil {
			data = append(data, '\n')
		}
		data = append(data, value...)
		if data == nil {
			data = []byte{}
		}
	case "id":
		if text := string(value); !strings.Contains(text, "\x00") {
			if strings.ContainsFunc(text, isControl) {
				text = ""
			}
			id = &text
		}
	case "retry":
		if ms, err := strconv.ParseUint(string(value), 10, 31); err == nil {
			e.retry = time.Duration(ms) * time.Millisecond
		}
	}
	return data, id
}
