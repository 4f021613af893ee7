package streamhttp

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// withheld is the end of a body that does not come.
type withheld chan struct{}

// Read implements io.Reader.
func (w withheld) Read([]byte) (int, error) {
	<-w
	return 0, io.ErrUnexpectedEOF
}

// upload posts size bytes without the last one, and returns the answer.
func (f *fixture) upload(user string, size int, chunked bool, rest withheld) <-chan *http.Response {
	r := f.request(http.MethodPost, "", "X-User: "+user)
	r.Body = io.NopCloser(io.MultiReader(strings.NewReader(strings.Repeat(" ", size-1)), rest))
	r.ContentLength = int64(size)
	if chunked {
		r.ContentLength = -1
	}
	answer := make(chan *http.Response, 1)
	go func() { answer <- f.do(r) }()
	return answer
}

// Uploads that do not end hold no more than they may have together, and leave something for others; after their time they hold nothing.
func TestTSK28BodiesThatAreBeingReadAreBounded(t *testing.T) {
	for name, chunked := range map[string]bool{"with a length": false, "chunked": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newBubble(t, WithMaxBodyTotal(16<<20))
				rest := make(withheld)
				defer close(rest)
				var waiting []<-chan *http.Response
				for range 40 {
					answer := f.upload("mallory", 1<<20, chunked, rest)
					synctest.Wait()
					if len(answer) == 0 {
						waiting = append(waiting, answer)
						continue
					}
					resp := <-answer
					if f.want(resp, 429, "limit"); resp.Header.Get("Retry-After") == "" {
						t.Error("no Retry-After")
					}
				}
				if n := len(waiting); n < 6 || n > 12 {
					t.Errorf("%d uploads of 1 MiB are being read, 12 are three quarters of what there is", n)
				}
				call := callBody2026("1", "echo", strings.Repeat("x", 1<<20))
				f.want(f.post(call, append(headers2026("tools/call", "echo"), "X-User: bob")...), 200)
				time.Sleep(31 * time.Second)
				synctest.Wait()
				for _, answer := range waiting {
					if resp := <-answer; resp.StatusCode != 408 {
						t.Errorf("status %d", resp.StatusCode)
					}
				}
				if n := f.h.bodies.Used(); n != 0 {
					t.Errorf("%d bytes are still counted", n)
				}
			})
		})
	}
}

// Of a body that has hardly begun its request counts, so that over HTTP/2 nobody has any number of them: what one caller may not have is
// refused with 429, what all may not have with 503.
func TestTSK28RequestsWhoseBodyArrivesCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newBubble(t, WithMaxBodyTotal(1<<20))
		rest := make(withheld)
		defer close(rest)
		var waiting []<-chan *http.Response
		fill := func(user string) (refused *http.Response, reading int) {
			for range 80 {
				answer := f.upload(user, 100, false, rest)
				synctest.Wait()
				if len(answer) > 0 {
					return <-answer, reading
				}
				waiting = append(waiting, answer)
				reading++
			}
			t.Fatalf("%d bodies of %s are being read", reading, user)
			return nil, 0
		}
		for _, user := range []string{"mallory", "ada"} {
			refused, reading := fill(user)
			if refused.Header.Get("Retry-After") == "" || reading == 0 || reading > 48 {
				t.Errorf("%d bodies of %s are being read: %v", reading, user, refused.Header)
			}
			f.want(refused, 429, "limit", "one caller")
			f.want(f.post(callBody2026("1", "echo", "x"), append(headers2026("tools/call", "echo"), "X-User: bob")...), 200)
		}
		for user := 0; ; user++ {
			if refused, reading := fill(fmt.Sprint("eve", user)); reading == 0 {
				f.want(refused, 503, "limit")
				break
			}
		}
		time.Sleep(31 * time.Second)
		for _, answer := range waiting {
			f.want(<-answer, 408)
		}
		if n := f.h.bodies.Used(); n != 0 {
			t.Errorf("%d bytes are still counted", n)
		}
	})
}

// A body counts until its request does: a call that takes long holds nothing of what is there for bodies.
func TestTSK28BodiesCountUntilTheirRequestsDo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newBubble(t)
		session := f.initialize()
		text := strings.Repeat("x", 1<<20)
		answers := make(chan string, 2)
		go func() { answers <- body(f.call2026("1", "gate", text)) }()
		go func() { answers <- body(f.post(callBody("2", "gate", text), session)) }()
		for range cap(answers) {
			<-f.began
		}
		synctest.Wait() // a session has received its message
		if n := f.h.bodies.Used(); n != 0 {
			t.Errorf("%d bytes are counted while the calls run", n)
		}
		for range cap(answers) {
			f.release <- struct{}{}
		}
		for range cap(answers) {
			if a := <-answers; !strings.Contains(a, text) {
				t.Error("not what was sent")
			}
		}
		f.want(f.post(text), 400)
		f.want(f.post(strings.Replace(callBody("3", "none", text), "tools/call", "tools/none", 1), session), 200, "-32601")
		if n := f.h.bodies.Used(); n != 0 {
			t.Errorf("%d bytes are counted of what was refused", n)
		}
	})
}

// A body that is still arriving is refused when the shutdown begins: it does not hold up the graceful stop.
func TestCAN21AWithheldBodyDoesNotHoldUpTheShutdown(t *testing.T) {
	for name, chunked := range map[string]bool{"with a length": false, "chunked": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newBubble(t)
				rest := make(withheld)
				defer close(rest)
				answer := f.upload("mallory", 1<<20, chunked, rest)
				synctest.Wait()
				begun := time.Now()
				if err := f.h.Shutdown(context.Background()); err != nil || time.Since(begun) > 0 {
					t.Errorf("%v after %v", err, time.Since(begun))
				}
				f.want(<-answer, 503, "shutting down")
			})
		})
	}
}

// The header that names a session says one.
func TestREV02ARepeatedSessionHeaderIsRefused(t *testing.T) {
	f := newFixture(t)
	session := f.initialize()
	r := f.request(http.MethodPost, `{"jsonrpc":"2.0","id":1,"method":"ping"}`, session)
	r.Header.Add("Mcp-Session-Id", "another")
	f.want(f.do(r), 400, "repeated")
}

// A limit of the application that a body exceeds is named, not the endpoint's.
func TestTSK28TheLimitThatABodyExceedsIsNamed(t *testing.T) {
	f := newFixture(t, WithMaxBody(400), WithMiddleware(func(next http.Handler) http.Handler { return http.MaxBytesHandler(next, 300) }))
	for size, limit := range map[int]string{200: "300", 450: "400"} {
		resp := f.post(callBody("1", "echo", strings.Repeat("x", size)))
		if b := body(resp); resp.StatusCode != http.StatusRequestEntityTooLarge || !strings.Contains(b, "larger than "+limit+" bytes") {
			t.Errorf("%d bytes: %d %s", size, resp.StatusCode, b)
		}
	}
}
