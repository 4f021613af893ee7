package streamhttp

import (
	"errors"
	"io"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/server"
)

// downlink writes one response. One goroutine uses it at a time.
type downlink struct {
	h       *Endpoint
	w       http.ResponseWriter
	control http.ResponseController
	at      place[*downlink] // in Endpoint.writing, while something is written
	stuck   bool             // a write was given up
	buf     []byte
	pace    pace
	written bool      // the header was written
	plain   bool      // no stream: what is written may wait until the handler returns
	length  [1]string // the value of the header Content-Length
}

// Values of headers that are the same for every response. net/http does not change them.
var (
	jsonHeader   = []string{typeJSON}
	eventsHeader = []string{typeEvents}
	noStore      = []string{"no-store"}
	noTransform  = []string{"no-cache, no-transform"}
	noBuffering  = []string{"no"}
)

// writing is the responses that are being written.
type writing struct {
	mu  sync.Mutex
	all list[*downlink]
}

// place implements element.
func (d *downlink) place() *place[*downlink] { return &d.at }

func (l *writing) add(d *downlink) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all.push(d)
}

func (l *writing) remove(d *downlink) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all.remove(d)
}

// each visits all, with mu held.
func (l *writing) each(visit func(*downlink)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for d := l.all.first; d != nil; d = d.at.after {
		visit(d)
	}
}

// init makes d write to w, for h. Its buffer is kept, if it is small: the response may last.
func (d *downlink) init(h *Endpoint, w http.ResponseWriter) {
	d.h, d.w, d.control, d.buf, d.written, d.plain, d.stuck = h, w, *http.NewResponseController(w), trimmed(d.buf), false, false, false
}

// keptBuffer is the largest buffer that is kept for a use that comes soon, such as another event or request, in bytes.
const keptBuffer = 64 << 10

// keep returns b emptied for reuse, nil if it is too large.
func keep(b []byte) []byte {
	if cap(b) > keptBuffer {
		return nil
	}
	return b[:0]
}

// trimmed is keep for a buffer that may not be used for long: of at most spareBuffer bytes.
func trimmed(b []byte) []byte {
	if cap(b) > spareBuffer {
		return nil
	}
	return b[:0]
}

// json writes a whole response of JSON.
func (d *downlink) json(status int, frame []byte) error {
	d.beginJSON(status, int64(len(frame)))
	err := d.send(frame)
	d.clearDeadline()
	return err
}

func (d *downlink) beginJSON(status int, size int64) {
	h := d.w.Header()
	h["Content-Type"] = jsonHeader
	h["Cache-Control"] = noStore
	d.length[0] = strconv.FormatInt(size, 10)
	h["Content-Length"] = d.length[:]
	d.written, d.plain = true, true
	d.w.WriteHeader(status)
}

// copyJSON is json for an answer that is in files.
func (d *downlink) copyJSON(answer *server.LongAnswer) error {
	d.beginJSON(http.StatusOK, answer.Size())
	err := d.copy(answer.Reader(), func([]byte) {})
	d.clearDeadline()
	return err
}

// copyEvent sends what is in buf and an answer that is in files, as one event of st. A client takes note of an event's id only at the event's end.
func (d *downlink) copyEvent(st *stream, number int, answer *server.LongAnswer) error {
	d.buf = appendEventHead(d.buf, st.id(number))
	if err := d.flush(); err != nil {
		return err
	}
	if err := d.copy(answer.Reader(), oneLine); err != nil {
		return err
	}
	st.start() // before the tail, with which the client knows the id
	d.buf = append(d.buf, eventTail...)
	return d.flush()
}

// copy sends what r has, piece by piece, each as change has changed it.
func (d *downlink) copy(r io.Reader, change func(piece []byte)) error {
	b := make([]byte, piece)
	for {
		n, err := r.Read(b)
		change(b[:n])
		if failed := d.send(b[:n]); failed != nil {
			return failed
		}
		switch {
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		}
	}
}

// writeAnswer is json with the header Retry-After, in seconds; 0: without it.
func (d *downlink) writeAnswer(status, retry int, frame []byte) error {
	if retry > 0 {
		d.w.Header().Set("Retry-After", strconv.Itoa(retry))
	}
	return d.json(status, frame)
}

// beginStream writes the header of a response with server-sent events. It writes nothing where these would wait for the end of the response.
func (d *downlink) beginStream() error {
	if !canFlush(d.w) {
		d.h.warnUnflushed()
		return errUnflushed
	}
	h := d.w.Header()
	h["Content-Type"] = eventsHeader
	h["Cache-Control"] = noTransform
	h["X-Accel-Buffering"] = noBuffering
	d.written = true
	d.w.WriteHeader(http.StatusOK)
	return nil
}

func (d *downlink) flush() error {
	err := d.send(d.buf)
	d.buf = keep(d.buf)
	return err
}

// send writes b to the connection before the deadline.
func (d *downlink) send(b []byte) error {
	d.begin()
	defer d.end()
	for len(b) > 0 {
		n := min(len(b), piece)
		if _, err := d.w.Write(b[:n]); err != nil {
			return d.pace.why(err)
		}
		if b = b[n:]; len(b) > 0 {
			d.pace.move()
		}
	}
	err := d.control.Flush()
	switch {
	case err == nil:
		return nil
	case errors.Is(err, errors.ErrUnsupported):
		if d.h.warnUnflushed(); d.plain {
			return nil
		}
		return errUnflushed
	}
	return d.pace.why(err)
}

// begin sets the deadline of a write. The goroutine that writes does it, before it writes: the application's http.ResponseWriter may have one lock for
// both, so a write that waits for the client would keep another goroutine from setting it.
func (d *downlink) begin() {
	now := time.Now()
	var ends bool // without support for deadlines the write goes on
	if wait := d.h.opts.writeWait; wait > 0 {
		ends = d.control.SetWriteDeadline(now.Add(wait)) == nil
	} else {
		ends = canEndWrites(d.w)
	}
	d.h.writing.add(d)
	d.pace.begin(d.control, now, ends)
}

func (d *downlink) end() {
	d.h.writing.remove(d)
	d.stuck = d.pace.end() || d.stuck
}

// writeTimeout returns the WriteTimeout of the http.Server that the request came to, 0 for none. It is removed when the request arrives, not when
// something is written: over HTTP/2 it resets a response that nobody writes to.
func writeTimeout(r *http.Request) time.Duration {
	if srv, ok := r.Context().Value(http.ServerContextKey).(*http.Server); ok {
		return max(srv.WriteTimeout, 0)
	}
	return 0
}

// setWriteDeadline sets the deadline for writing to the client. Where it is not supported, there is none.
func setWriteDeadline(w http.ResponseWriter, t time.Time) {
	_ = http.NewResponseController(w).SetWriteDeadline(t)
}

// clearDeadline removes the deadline of the writes, which would hold for the connection's next request, too.
func (d *downlink) clearDeadline() {
	if d.stuck || d.h.opts.writeWait > 0 {
		_ = d.control.SetWriteDeadline(time.Time{})
	}
}
