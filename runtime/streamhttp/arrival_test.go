package streamhttp

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// protected is a server with a handler that asks for a token, around its endpoint and within it.
func protected(t *testing.T) *pipes {
	refuse := func(text string, refused func(*http.Request) bool) func(http.Handler) http.Handler {
		return func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if refused(r) {
					http.Error(w, text, http.StatusUnauthorized)
					return
				}
				next.ServeHTTP(w, r)
			})
		}
	}
	within := refuse(strings.Repeat("a token is required ", 200), func(r *http.Request) bool { return r.Header.Get("Authorization") == "" })
	outside := refuse("no", func(r *http.Request) bool { return r.Host == "outside" })
	h := Handler(newServer(t, nil), WithMiddleware(within), WithMaxBody(5000), WithCORS("https://app.example.com"))
	mux := http.NewServeMux()
	mux.Handle("/mcp", h)
	mux.Handle("/healthz", h.Health())
	web, l := Server("", outside(mux)), newPipes()
	served := make(chan error, 1)
	go func() { served <- web.Serve(l) }()
	t.Cleanup(func() {
		begun := time.Now()
		if err := errors.Join(h.Shutdown(context.Background()), web.Shutdown(context.Background())); err != nil || time.Since(begun) > 2*time.Second {
			t.Errorf("the shutdown took %v: %v", time.Since(begun), err)
		}
		<-served
	})
	return l
}

// TSK28, CAN21: a body that does not arrive holds neither the response nor the connection, whoever refuses it and whether or not anybody reads it.
func TestTSK28ABodyThatDoesNotArriveHoldsNoConnection(t *testing.T) {
	const moment, timeout = lingerTime, 30 * time.Second
	for name, row := range map[string]struct {
		start  string // of the request
		header string
		status int
		within time.Duration
	}{
		"a foreign host":       {"POST /mcp", "Host: evil.example.com", 403, 0},
		"a foreign page":       {"POST /mcp", "Host: localhost\r\nOrigin: https://evil.example.com", 403, 0},
		"a content type":       {"POST /mcp", "Host: localhost\r\nAuthorization: x\r\nContent-Type: text/plain", 415, 0},
		"an unknown method":    {"PUT /mcp", "Host: localhost\r\nAuthorization: x", 408, timeout},
		"too large":            {"POST /mcp", "Host: localhost\r\nAuthorization: x\r\nContent-Type: application/json", 413, 0},
		"a slow body":          {"POST /mcp", "Host: localhost\r\nAuthorization: x\r\nContent-Type: application/json", 408, timeout},
		"a listener":           {"GET /mcp", "Host: localhost\r\nAuthorization: x", 408, timeout},
		"the end of a session": {"DELETE /mcp", "Host: localhost\r\nAuthorization: x", 408, timeout},
		"a preflight":          {"OPTIONS /mcp", "Host: localhost\r\nOrigin: https://app.example.com\r\nAccess-Control-Request-Method: POST", 204, moment},
		"middleware":           {"POST /mcp", "Host: localhost", 401, timeout},
		"middleware outside":   {"POST /mcp", "Host: outside", 401, moment},
		"an unknown path":      {"POST /other", "Host: localhost", 404, moment},
		"a probe":              {"POST /healthz", "Host: localhost", 200, moment},
		"100-continue":         {"POST /healthz", "Host: localhost\r\nExpect: 100-continue", 200, 0},
	} {
		length := "Content-Length: 1000"
		if row.status == 413 {
			length = "Content-Length: 6000"
		}
		for _, length := range []string{length, "Transfer-Encoding: chunked"} {
			if row.status == 413 && length == "Transfer-Encoding: chunked" {
				continue // its length is not known
			}
			t.Run(name+", "+length, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					l := protected(t)
					conn, err := l.dial(t.Context(), "", "")
					if err != nil {
						t.Fatal(err)
					}
					defer conn.Close()
					begun := time.Now()
					go func() { _, _ = fmt.Fprintf(conn, "%s HTTP/1.1\r\n%s\r\n%s\r\n\r\n", row.start, row.header, length) }()
					r := bufio.NewReader(conn)
					resp, err := http.ReadResponse(r, nil)
					if err != nil {
						t.Fatal(err)
					}
					if took := time.Since(begun); resp.StatusCode != row.status || took > row.within || !resp.Close {
						t.Errorf("%s after %v, which ends the connection: %v", resp.Status, took, resp.Close)
					}
					if _, err := io.Copy(io.Discard, resp.Body); err != nil {
						t.Error(err)
					}
					if _, err := r.ReadByte(); err != io.EOF || time.Since(begun) > row.within+2*moment {
						t.Errorf("the connection ends after %v: %v", time.Since(begun), err)
					}
				})
			})
		}
	}
}

// A client whose body does arrive keeps its connection, whoever has refused it, and its requests take as long as they take.
func TestTSK28ABodyThatArrivesKeepsItsConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := protected(t)
		conn, err := l.dial(t.Context(), "", "")
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		r := bufio.NewReader(conn)
		for _, path := range []string{"/mcp", "/other", "/healthz"} {
			go func() {
				_, _ = fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\n\r\nab", path)
				time.Sleep(lingerTime / 2)
				_, _ = io.WriteString(conn, "cd")
			}()
			resp, err := http.ReadResponse(r, nil)
			if err != nil {
				t.Fatalf("%s: %v", path, err)
			}
			if _, err := io.Copy(io.Discard, resp.Body); err != nil || resp.Close {
				t.Errorf("%s: %v, the connection ends: %v", path, err, resp.Close)
			}
		}
	})
}

// The time that a body has is none for the call.
func TestTSK28TheTimeOfABodyIsNotThatOfTheCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newBubble(t, WithBodyTimeout(time.Second), WithMiddleware(func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				b, err := io.ReadAll(r.Body)
				if err != nil {
					t.Error(err)
				}
				time.Sleep(2 * time.Second)
				if r.Context().Err() != nil {
					t.Error("the request has ended")
				}
				r.Body = io.NopCloser(strings.NewReader(string(b)))
				next.ServeHTTP(w, r)
			})
		}))
		f.want(f.call2026("1", "echo", "x"), 200)
	})
}

// Nor where an outer handler has replaced the body: net/http, which watches for the client's disconnect by then, does not remove that time itself.
func TestTSK28TheTimeOfAReplacedBodyIsNotThatOfTheCall(t *testing.T) {
	replaced := func(r *http.Request) *http.Request {
		b, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		r.Body = io.NopCloser(strings.NewReader(string(b)))
		return r
	}
	synctest.Test(t, func(t *testing.T) {
		f := newBubble(t, WithBodyTimeout(time.Second), WithMiddleware(func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				r = replaced(r)
				time.Sleep(2 * time.Second)
				if r.Context().Err() != nil {
					t.Error("the request has ended")
				}
				next.ServeHTTP(w, r)
			})
		}))
		inner := f.ts.Config.Handler
		f.ts.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { inner.ServeHTTP(w, replaced(r)) })
		f.want(f.call2026("1", "echo", "x"), 200)
	})
}

// slowEnd is a body whose end takes a while to be seen.
type slowEnd struct{ io.ReadCloser }

// Read implements io.Reader.
func (s slowEnd) Read(b []byte) (int, error) {
	n, err := s.ReadCloser.Read(b)
	if err == io.EOF {
		time.Sleep(2 * time.Second)
	}
	return n, err
}

// A body that arrives as its time runs out is refused: net/http may have taken the end of that time for the client's disconnect.
func TestTSK28ABodyThatArrivesAsItsTimeRunsOutIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newBubble(t, WithBodyTimeout(time.Second), WithMiddleware(func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				r.Body = slowEnd{r.Body}
				next.ServeHTTP(w, r)
			})
		}))
		f.want(f.call2026("1", "echo", "x"), http.StatusRequestTimeout, "took too long")
		session := f.request(http.MethodPost, initialize2025)
		f.want(f.do(session), http.StatusRequestTimeout, "took too long")
	})
}

// CAN21: nor does it hold up the shutdown of the http.Server.
func TestCAN21ABodyThatDoesNotArriveHoldsUpNoShutdown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var conn net.Conn
		t.Cleanup(func() { conn.Close() }) // after the shutdown
		l := protected(t)                  // which shuts down at the end of the test
		conn, _ = l.dial(t.Context(), "", "")
		go func() { _, _ = io.Copy(io.Discard, conn) }()
		_, _ = io.WriteString(conn, "POST /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: x\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{")
		synctest.Wait() // the body is being read
	})
}
