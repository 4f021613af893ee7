package streamhttp

import (
	"net/http"
	"strconv"
	"time"
)

// downlink writes one response. One goroutine uses it at a time.
type downlink struct {
	w       http.ResponseWriter
	control http.ResponseController
	wait    time.Duration // write deadline; 0: none
	buf     []byte
	pace    pace
	written bool      // the header is
	length  [1]string // the header Content-Length
}

// Values of headers that are the same for every response. net/http does not change them.
var (
	jsonHeader   = []string{typeJSON}
	eventsHeader = []string{typeEvents}
	noStore      = []string{"no-store"}
	noTransform  = []string{"no-cache, no-transform"}
	noBuffering  = []string{"no"}
)

// init makes d write to w. Its buffer is kept, if it is small: the response may last.
func (d *downlink) init(w http.ResponseWriter, wait time.Duration) {
	d.w, d.control, d.wait, d.buf, d.written = w, *http.NewResponseController(w), wait, trimmed(d.buf), false
}

// keptBuffer is the largest buffer that is kept for another request, in bytes.
const keptBuffer = 64 << 10

func keep(b []byte) []byte {
	if cap(b) > keptBuffer {
		return nil
	}
	return b[:0]
}

// trimmed is an empty buffer that may be held without use.
func trimmed(b []byte) []byte {
	if cap(b) > spareBuffer {
		return nil
	}
	return b[:0]
}

// json writes a whole response.
func (d *downlink) json(status int, frame []byte) error {
	h := d.w.Header()
	h["Content-Type"] = jsonHeader
	h["Cache-Control"] = noStore
	d.length[0] = strconv.Itoa(len(frame))
	h["Content-Length"] = d.length[:]
	d.written = true
	d.w.WriteHeader(status)
	err := d.send(frame)
	d.clearDeadline()
	return err
}

// writeRefusal is json for an error that may be tried again after some seconds; 0: nothing is said about that.
func (d *downlink) writeRefusal(status, retry int, frame []byte) error {
	if retry > 0 {
		d.w.Header().Set("Retry-After", strconv.Itoa(retry))
	}
	return d.json(status, frame)
}

// stream begins a stream of events.
func (d *downlink) stream() {
	h := d.w.Header()
	h["Content-Type"] = eventsHeader
	h["Cache-Control"] = noTransform
	h["X-Accel-Buffering"] = noBuffering
	d.written = true
	d.w.WriteHeader(http.StatusOK)
}

// flush sends what is in buf.
func (d *downlink) flush() error {
	err := d.send(d.buf)
	d.buf = keep(d.buf)
	return err
}

// send writes b to the connection before the deadline.
func (d *downlink) send(b []byte) error {
	if d.wait > 0 {
		_ = d.control.SetWriteDeadline(time.Now().Add(d.wait)) // where it is not supported there is none
	}
	d.pace.begin(d.control)
	defer d.pace.end()
	for len(b) > 0 {
		n := min(len(b), piece)
		if _, err := d.w.Write(b[:n]); err != nil {
			return d.pace.why(err)
		}
		if b = b[n:]; len(b) > 0 {
			d.pace.move()
		}
	}
	if err := d.control.Flush(); err != nil {
		return d.pace.why(err)
	}
	return nil
}

// clearDeadline takes the deadline away: it would be that of the connection's next request.
func (d *downlink) clearDeadline() {
	if d.wait > 0 {
		_ = d.control.SetWriteDeadline(time.Time{})
	}
}
