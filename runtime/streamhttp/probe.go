package streamhttp

import (
	"io"
	"net/http"
)

// Health returns a handler that answers 200 as long as the process serves HTTP. Host and Origin are not checked: probes use addresses.
func (h *Endpoint) Health() http.Handler {
	return probe(func() bool { return true })
}

// Ready returns a handler that answers 200 until Shutdown of the endpoint or of its server begins, then 503, so that a load balancer sends new
// requests elsewhere.
func (h *Endpoint) Ready() http.Handler {
	return probe(func() bool {
		select {
		case <-h.draining:
			return false
		case <-h.srv.Done():
			return false
		default:
			return true
		}
	})
}

func probe(fine func() bool) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		status, text := http.StatusOK, "ok\n"
		if !fine() {
			status, text = http.StatusServiceUnavailable, "shutting down\n"
		}
		header := w.Header()
		header.Set("Content-Type", "text/plain; charset=utf-8")
		header["Cache-Control"] = noStore
		w.WriteHeader(status)
		_, _ = io.WriteString(w, text)
	})
}
