package streamhttp

import (
	"errors"
	"io"
	"net/http"
	"os"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/server"
)

// readBody reads a body within the limits of its size, its time, and all bodies together. The ReadTimeout of http.Server is of no use
// here: it would also end the watch for the client's disconnect.
func (h *Endpoint) readBody(w http.ResponseWriter, r *http.Request) (*frame, *refusal) {
	limit := h.opts.maxBody
	if r.ContentLength > int64(limit) {
		return nil, tooLarge(limit)
	}
	f := h.pools.frame()
	f.who = server.RequestorFrom(r.Context())
	if refused := h.countBody(f, bodyCost+cap(f.data)); refused != nil {
		h.drop(f)
		return nil, refused
	}
	f.from, f.stopped = w, false
	setReadDeadline(w, time.Time{}) // that of http.Server does not count
	h.arriving.add(&f.arrival, time.Now())
	err := h.fill(f, r.Body, int(r.ContentLength))
	late, draining := h.arriving.remove(&f.arrival)
	f.stopping.Wait()
	if f.from = nil; late {
		setReadDeadline(w, time.Time{})
	}
	if err == nil && f.stopped { // at its end: net/http was already watching for the client's disconnect, and may have taken the deadline for that
		err = os.ErrDeadlineExceeded
	}
	if err != nil {
		h.drop(f)
		if draining && errors.Is(err, os.ErrDeadlineExceeded) {
			err = errDraining
		}
		return nil, bodyRefusal(err, limit)
	}
	h.pools.fit(f)
	return f, nil
}

// limitArrival starts the time limit for a body, whoever reads it.
func (h *Endpoint) limitArrival(r *http.Request) {
	if a, ok := r.Body.(*arrival); ok && !a.arrived.Load() && h.opts.bodyTimeout > 0 {
		a.limited = setReadDeadline(a.w, time.Now().Add(h.opts.bodyTimeout))
	}
}

// stopReading ends the reading of a body that has not arrived in time, or before the shutdown, which does not wait for it (CAN21). It does not wait for
// the application's http.ResponseWriter, because other bodies need the lock that its caller holds; readBody does.
func (f *frame) stopReading() {
	f.stopping.Go(func() { f.stopped = setReadDeadline(f.from, time.Unix(1, 0)) })
}

// setReadDeadline sets the deadline for reading from the client, and reports whether that is supported. If not, there is none.
func setReadDeadline(w http.ResponseWriter, t time.Time) bool {
	return http.NewResponseController(w).SetReadDeadline(t) == nil
}

var (
	errTooLarge = errors.New("body too large")
	errDraining = errors.New("the server is shutting down")
)

// fill reads to the end of the body, or one byte more than the limit. expected is the Content-Length, -1: not known.
func (h *Endpoint) fill(f *frame, body io.Reader, expected int) error {
	for {
		if len(f.data) == cap(f.data) {
			if err := h.grow(f, expected); err != nil {
				return err
			}
		}
		n, err := body.Read(f.data[len(f.data):cap(f.data)])
		f.data = f.data[:len(f.data)+n]
		switch {
		case len(f.data) > h.opts.maxBody:
			return errTooLarge
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		}
	}
}

// bodyCost is about what a request takes while its body arrives, beside the body: a goroutine, and buffers of its connection or of
// its stream over HTTP/2.
const bodyCost = 16 << 10

// countBody counts n more bytes for a body that is being read (TSK28).
func (h *Endpoint) countBody(f *frame, n int) *refusal {
	refused := take(h.bodies, f.who, int64(n), "bytes of bodies that are being read")
	if refused != nil {
		refused.unread = true
		return refused
	}
	f.counted += int64(n)
	return nil
}

// grow makes more room for a body. Its Content-Length is not trusted: the room grows with what has come, and is counted before it is
// allocated.
func (h *Endpoint) grow(f *frame, expected int) error {
	enough := expected + 1
	size := max(2*cap(f.data), min(enough, keptBuffer))
	if cap(f.data) < enough {
		size = min(size, enough)
	}
	size = min(size, h.opts.maxBody+1)
	if refused := h.countBody(f, size-cap(f.data)); refused != nil {
		return refused
	}
	f.data = append(make([]byte, 0, size), f.data...)
	return nil
}

// uncountBody stops counting a body, when the server has copied it, or counts it among the requests in flight.
func (h *Endpoint) uncountBody(f *frame) {
	if f.counted > 0 {
		h.bodies.Give(f.who, f.counted)
		f.counted = 0
	}
}

// drop frees a body at the end of its request.
func (h *Endpoint) drop(f *frame) {
	h.uncountBody(f)
	h.pools.putFrame(f)
}

func bodyRefusal(err error, limit int) *refusal {
	var max *http.MaxBytesError
	var refused *refusal
	switch {
	case errors.As(err, &max): // the application's limit
		return tooLarge(int(max.Limit))
	case errors.Is(err, errTooLarge):
		return tooLarge(limit)
	case errors.As(err, &refused): // of countBody
	case errors.Is(err, errDraining):
		refused = unavailable(err.Error())
	case errors.Is(err, os.ErrDeadlineExceeded):
		refused = refuse(http.StatusRequestTimeout, "the body took too long")
	default:
		refused = refuse(http.StatusBadRequest, "the body ended early")
	}
	refused.unread = true
	return refused
}

func tooLarge(limit int) *refusal {
	refused := refuse(http.StatusRequestEntityTooLarge, "the body is larger than %d bytes", limit)
	refused.unread = true
	return refused
}
