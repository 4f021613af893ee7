package streamhttp

import (
	"errors"
	"io"
	"net/http"
	"os"
	"time"
)

// readBody reads a body of at most limit bytes within timeout. The limits of http.Server are of no use here: its ReadTimeout
// would also end the watch for the client's disconnect.
func (h *Endpoint) readBody(w http.ResponseWriter, r *http.Request) (*frame, *refusal) {
	limit := h.opts.maxBody
	if r.ContentLength > int64(limit) {
		return nil, tooLarge(limit)
	}
	control := http.NewResponseController(w)
	if h.opts.bodyTimeout > 0 {
		_ = control.SetReadDeadline(time.Now().Add(h.opts.bodyTimeout)) // where it is not supported there is none
		defer func() { _ = control.SetReadDeadline(time.Time{}) }()
	}
	f := h.pools.frame()
	if err := f.fill(r.Body, limit, int(r.ContentLength)); err != nil {
		h.pools.putFrame(f)
		return nil, bodyRefusal(err, limit)
	}
	return f, nil
}

var errTooLarge = errors.New("body too large")

// fill reads until the end or one byte more than limit.
func (f *frame) fill(body io.Reader, limit, expected int) error {
	if room := min(max(expected, 0), keptBuffer) + 1; cap(f.data) < room {
		f.data = make([]byte, 0, max(room, 512))
	}
	for {
		if len(f.data) == cap(f.data) {
			f.data = append(f.data, 0)[:len(f.data)]
		}
		n, err := body.Read(f.data[len(f.data):cap(f.data)])
		f.data = f.data[:len(f.data)+n]
		switch {
		case len(f.data) > limit:
			return errTooLarge
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		}
	}
}

func bodyRefusal(err error, limit int) *refusal {
	var max *http.MaxBytesError
	switch {
	case errors.Is(err, errTooLarge), errors.As(err, &max):
		return tooLarge(limit)
	case errors.Is(err, os.ErrDeadlineExceeded):
		return refuse(http.StatusRequestTimeout, "the body took too long")
	}
	return refuse(http.StatusBadRequest, "the body ended early")
}

func tooLarge(limit int) *refusal {
	return refuse(http.StatusRequestEntityTooLarge, "the body is larger than %d bytes", limit)
}
