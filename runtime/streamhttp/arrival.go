package streamhttp

import (
	"io"
	"net/http"
	"sync/atomic"
	"time"
)

// arrival is a request over HTTP/1 whose body may not arrive. What a handler has left of a body, net/http reads without a deadline: before the response if the
// connection can be used again, else after it.
type arrival struct {
	io.ReadCloser // the body
	request       http.Request
	original      *http.Request
	w             http.ResponseWriter
	limited       bool        // limitArrival has set a deadline
	arrived       atomic.Bool // the body was read to its end
}

// arriving returns the arrival of r, whose request is to be served in place of r; nil if r has no body, or is that of an arrival.
func arriving(w http.ResponseWriter, r *http.Request) *arrival {
	if r.ContentLength == 0 || r.ProtoMajor != 1 {
		return nil
	}
	if _, ok := r.Body.(*arrival); ok {
		return nil
	}
	a := &arrival{ReadCloser: r.Body, request: *r, original: r, w: w} // a copy, because net/http looks at the type of its own request's body
	a.request.Body = a
	return a
}

// Read implements io.Reader.
func (a *arrival) Read(p []byte) (int, error) {
	n, err := a.ReadCloser.Read(p)
	if err == io.EOF {
		a.arrived.Store(true)
		if a.limited { // net/http would take its end for the client's disconnect. It removes it itself at the end of its own body, which middleware may have replaced
			setReadDeadline(a.w, time.Time{})
		}
	}
	return n, err
}

// leave ends the wait for what the handler has left of the body. A client that is sending it still can end that, and read the response.
func (a *arrival) leave() {
	a.original.MultipartForm = a.request.MultipartForm // net/http removes its files
	if !a.arrived.Load() {
		setReadDeadline(a.w, time.Now().Add(lingerTime)) // where it is not supported, net/http reads on
	}
}

// awaited reports whether a part of the body is still to come.
func awaited(r *http.Request) bool {
	a, ok := r.Body.(*arrival)
	return ok && !a.arrived.Load()
}
