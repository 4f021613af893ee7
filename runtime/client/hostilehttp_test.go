package client_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/client"
	"github.com/mcpkiln/mcpkiln/testdata/orders/ordersclient"
)

// mebibyte is of the letter a.
var mebibyte = bytes.Repeat([]byte("a"), 1<<20)

// gib writes a part 2048 times, until the client hangs up.
func gib(w io.Writer, part []byte) {
	for range 2048 {
		if _, err := w.Write(part); err != nil {
			return
		}
	}
}

// counted counts what a client takes, until it hangs up.
type counted struct {
	http.ResponseWriter
	ctx context.Context
	n   *atomic.Int64
}

// Write implements io.Writer.
func (c counted) Write(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := c.ResponseWriter.Write(p)
	c.n.Add(int64(n))
	return n, err
}

func kindOf(w http.ResponseWriter, kind string) { w.Header().Set("Content-Type", kind) }

// floods are answers to a call that have no end, or nearly.
var floods = map[string]struct {
	answer func(w http.ResponseWriter, m message)
	says   string
}{
	"2 GiB": {func(w http.ResponseWriter, m message) {
		kindOf(w, "application/json")
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"x":"`, m.ID)
		gib(w, mebibyte)
	}, "larger than 1048576 bytes"},
	"2 GiB by its length": {func(w http.ResponseWriter, m message) {
		kindOf(w, "application/json")
		w.Header().Set("Content-Length", fmt.Sprint(int64(2<<30)))
		gib(w, mebibyte)
	}, "larger than 1048576 bytes"},
	"2 GiB in 2 MiB": {func(w http.ResponseWriter, m message) {
		kindOf(w, "application/json")
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		fmt.Fprintf(z, `{"jsonrpc":"2.0","id":%s,"result":{"x":"`, m.ID)
		for range 2048 {
			if _, err := z.Write(mebibyte); err != nil || z.Flush() != nil {
				return
			}
		}
	}, "larger than 1048576 bytes"},
	"a line without end": {func(w http.ResponseWriter, m message) {
		kindOf(w, "text/event-stream")
		gib(w, mebibyte)
	}, "larger than 1048576 bytes"},
	"an event without end": {func(w http.ResponseWriter, m message) {
		kindOf(w, "text/event-stream")
		gib(w, bytes.Repeat([]byte("data: "+strings.Repeat("a", 1000)+"\n"), 1000))
	}, "larger than 1048576 bytes"},
	"headers": {func(w http.ResponseWriter, m message) {
		for i := range 3 {
			w.Header().Set(fmt.Sprint("X-", i), string(mebibyte))
		}
	}, "client: Post"}, // HTTP/1.1 has words for it, HTTP/2 a code
	"a page": {func(w http.ResponseWriter, m message) {
		kindOf(w, "text/html")
		gib(w, mebibyte)
	}, "text/html"},
	"an error": {func(w http.ResponseWriter, m message) {
		w.WriteHeader(http.StatusInternalServerError)
		gib(w, mebibyte)
	}, "500 Internal Server Error: aaaaaa"},
	"an error as JSON": {func(w http.ResponseWriter, m message) {
		kindOf(w, "application/json")
		w.WriteHeader(http.StatusInternalServerError)
		gib(w, mebibyte)
	}, "larger than 1048576 bytes"},
	"comments": {func(w http.ResponseWriter, m message) {
		kindOf(w, "text/event-stream")
		for {
			if _, err := io.WriteString(w, strings.Repeat(": here\n\n", 10_000)); err != nil {
				return
			}
		}
	}, "timeout"},
	"notifications": {func(w http.ResponseWriter, m message) {
		kindOf(w, "text/event-stream")
		for {
			if _, err := io.WriteString(w, strings.Repeat(`data: {"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"x"}}`+"\n\n", 1000)); err != nil {
				return
			}
		}
	}, "timeout"},
}

// TestVAL07AFloodOverHTTP: a generated client ends the call with an error that says what came, and takes no more than a message may be, over
// HTTP/1.1 and HTTP/2, from a server with a certificate that it trusts.
func TestVAL07AFloodOverHTTP(t *testing.T) {
	for name, c := range floods {
		for _, two := range []bool{false, true} {
			t.Run(fmt.Sprint(name, " HTTP/2 ", two), func(t *testing.T) {
				var taken atomic.Int64
				ts := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if (r.ProtoMajor == 2) != two {
						t.Errorf("it came over %s", r.Proto)
					}
					m := readMessage(r)
					if m.Method != "tools/call" {
						answer(w, m, modernAnswers[m.Method])
						return
					}
					c.answer(counted{w, r.Context(), &taken}, m)
				}))
				ts.EnableHTTP2 = two
				ts.Config.ErrorLog = log.New(io.Discard, "", 0)
				ts.StartTLS()
				defer ts.Close()
				endpoint := client.HTTP(ts.URL)
				endpoint.Client = ts.Client()
				endpoint.Client.Transport.(*http.Transport).MaxResponseHeaderBytes = 1 << 20
				s, err := client.Connect(t.Context(), endpoint, client.WithMaxFrame(1<<20))
				if err != nil {
					t.Fatal(err)
				}
				defer s.Close()
				var opts []client.CallOption
				if c.says == "timeout" {
					opts = append(opts, client.Timeout(300*time.Millisecond, 0))
				}
				_, err = ordersclient.New(s).PlaceOrder(t.Context(), order(1), opts...)
				var status *client.StatusError
				if err == nil || !known(err) && !errors.As(err, &status) || !strings.Contains(err.Error(), c.says) || len(err.Error()) > 1000 {
					t.Errorf("%T: %.1000v", err, err)
				}
				if n := taken.Load(); c.says != "timeout" && n > 32<<20 {
					t.Errorf("the client took %d bytes", n)
				}
			})
		}
	}
}

// modernAnswers are those of a server without floods.
var modernAnswers = map[string]string{
	"server/discover": `{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"ttlMs":0,"cacheScope":"private"}`,
	"tools/list":      `{"resultType":"complete","tools":[],"ttlMs":0,"cacheScope":"private"}`,
}

// frame is one of HTTP/2.
func frame(kind, flags byte, stream uint32, payload []byte) []byte {
	b := append(binary.BigEndian.AppendUint32(nil, uint32(len(payload)))[1:], kind, flags)
	return append(binary.BigEndian.AppendUint32(b, stream), payload...)
}

// HTTP/2's kinds of frames.
const (
	h2Data, h2Headers, h2Reset, h2Settings, h2Push, h2Ping, h2GoAway, h2Window, h2Continuation = 0, 1, 3, 4, 5, 6, 7, 8, 9
)

// framed are attacks on the level of HTTP/2's frames: what comes first, and what then comes again and again.
var framed = map[string]struct{ first, again []byte }{
	"headers without end":   {frame(h2Headers, 0, 1, []byte{0x88}), frame(h2Continuation, 0, 1, append([]byte{0, 1, 'a', 0x7f, 0x81, 0x7b}, mebibyte[:16000]...))},
	"empty continuations":   {frame(h2Headers, 0, 1, []byte{0x88}), frame(h2Continuation, 0, 1, nil)},
	"pings":                 {nil, frame(h2Ping, 0, 0, []byte("12345678"))},
	"settings":              {nil, frame(h2Settings, 0, 0, []byte{0, 3, 0, 0, 0, 100})},
	"data before headers":   {frame(h2Data, 0, 1, mebibyte[:100]), nil},
	"it resets":             {frame(h2Reset, 0, 1, []byte{0, 0, 0, 11}), nil},
	"it goes away":          {frame(h2GoAway, 0, 0, []byte{0, 0, 0, 0, 0, 0, 0, 2}), nil},
	"a window too wide":     {frame(h2Window, 0, 0, []byte{0x7f, 0xff, 0xff, 0xff}), nil},
	"a push":                {frame(h2Push, 4, 1, []byte{0, 0, 0, 2, 0x82}), nil},
	"a frame too large":     {[]byte{0xff, 0xff, 0xff, h2Data, 0, 0, 0, 0, 1}, mebibyte[:16000]},
	"another protocol":      {[]byte("SSH-2.0-OpenSSH_9\r\n"), nil},
	"headers no HPACK has":  {frame(h2Headers, 4, 1, bytes.Repeat([]byte{0xff}, 100)), nil},
	"a table without limit": {frame(h2Headers, 4, 1, []byte{0x3f, 0xff, 0xff, 0xff, 0x7f, 0x88}), nil},
}

// TestVAL07AttacksByFrames: a session with a server that breaks HTTP/2 does not begin, and says why or that its time is over.
func TestVAL07AttacksByFrames(t *testing.T) {
	log.SetOutput(io.Discard) // of net/http, which has no other
	defer log.SetOutput(os.Stderr)
	trusted := httptest.NewTLSServer(nil)
	defer trusted.Close()
	roots := x509.NewCertPool()
	roots.AddCert(trusted.Certificate())
	for name, c := range framed {
		t.Run(name, func(t *testing.T) {
			l, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: trusted.TLS.Certificates, NextProtos: []string{"h2"}})
			if err != nil {
				t.Fatal(err)
			}
			var attacks sync.WaitGroup
			defer attacks.Wait()
			defer l.Close()
			ctx, end := context.WithCancel(t.Context())
			defer end()
			attacks.Go(func() { attack(ctx, &attacks, l, append(frame(h2Settings, 0, 0, nil), c.first...), c.again) })
			endpoint := client.HTTP("https://" + l.Addr().String())
			transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}, ForceAttemptHTTP2: true}
			endpoint.Client = &http.Client{Transport: transport}
			_, err = client.Connect(t.Context(), endpoint, client.WithTimeout(500*time.Millisecond, 0))
			var lost *client.TransportError
			var cause *client.Cause
			if !errors.As(err, &lost) && !(errors.As(err, &cause) && errors.Is(cause, context.DeadlineExceeded)) || len(err.Error()) > 1000 {
				t.Errorf("%T: %.1000v", err, err)
			}
			transport.CloseIdleConnections()
		})
	}
}

// attack writes to whoever connects, and takes what comes, until the client hangs up or ctx ends.
func attack(ctx context.Context, all *sync.WaitGroup, l net.Listener, first, again []byte) {
	for {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		context.AfterFunc(ctx, func() { _ = conn.Close() })
		all.Go(func() {
			_, _ = io.Copy(io.Discard, conn)
			_ = conn.Close()
		})
		all.Go(func() {
			_, err := conn.Write(first)
			for err == nil && again != nil {
				_, err = conn.Write(again)
			}
		})
	}
}

// TestVAL07Certificates: one that does not verify is an error that says so, and nothing was sent.
func TestVAL07Certificates(t *testing.T) {
	asked := 0
	ts := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked++ }))
	ts.Config.ErrorLog = log.New(io.Discard, "", 0)
	ts.StartTLS()
	defer ts.Close()
	roots := x509.NewCertPool()
	roots.AddCert(ts.Certificate())
	for want, config := range map[string]*tls.Config{
		"certificate signed by unknown authority": nil,
		"not other.test": {RootCAs: roots, ServerName: "other.test"},
		"expired":        {RootCAs: roots, Time: func() time.Time { return time.Now().AddDate(200, 0, 0) }},
	} {
		endpoint := client.HTTP(ts.URL)
		if config != nil {
			endpoint.Client = &http.Client{Transport: &http.Transport{TLSClientConfig: config}}
		}
		_, err := client.Connect(t.Context(), endpoint)
		var lost *client.TransportError
		var bad *tls.CertificateVerificationError
		if !errors.As(err, &lost) || !errors.As(err, &bad) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %T: %v", want, err, err)
		}
	}
	if asked > 0 {
		t.Errorf("the server got %d requests", asked)
	}
}

// TestVAL07ARedirectTakesNothingAlong: neither arguments nor credentials, whatever it leads to.
func TestVAL07ARedirectTakesNothingAlong(t *testing.T) {
	reached := 0
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached++ }))
	defer elsewhere.Close()
	for _, to := range []string{elsewhere.URL, elsewhere.URL + "/mcp", "/elsewhere", "file:///etc/passwd", "ftp://127.0.0.1/", "//elsewhere.test/", "javascript:1"} {
		for _, status := range []int{301, 302, 303, 307, 308} {
			var paths []string
			ts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				m := readMessage(r)
				if paths = append(paths, r.URL.Path); m.Method != "tools/call" {
					answer(w, m, modernAnswers[m.Method])
					return
				}
				w.Header().Set("Location", to)
				w.WriteHeader(status)
			}))
			endpoint := client.HTTP(ts.URL + "/mcp")
			endpoint.Header = http.Header{"Authorization": {"Bearer secret"}}
			s, err := client.Connect(t.Context(), endpoint)
			if err != nil {
				t.Fatal(err)
			}
			_, err = ordersclient.New(s).PlaceOrder(t.Context(), order(1))
			var refused *client.StatusError
			if !errors.As(err, &refused) || refused.Status != status || !strings.Contains(err.Error(), "redirects are not followed") {
				t.Errorf("%d to %q: %v", status, to, err)
			}
			_ = s.Close()
			ts.Close()
			for _, path := range paths {
				if path != "/mcp" {
					t.Errorf("%d to %q: %s was asked for", status, to, path)
				}
			}
		}
	}
	if reached > 0 {
		t.Errorf("the other server got %d requests", reached)
	}
}
