package streamhttp

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/server"
)

// longSize is more than the servers of these tests may have in memory of an answer.
const longSize = 1 << 20

// newLongBubble has the tool "send", whose result has longSize bytes of an Opener, over connections in memory. Less than two such answers fit
// into the budget of files.
func newLongBubble(t *testing.T, fails error, opts ...Option) *fixture {
	sends := tool("send", func(ctx context.Context, call *server.Call, in *input) (*output, error) {
		if in.text == "progress" {
			call.Progress(ctx, 1, 2, "reading")
		}
		if in.text == "poll" {
			if !ClosePolling(ctx) {
				return nil, errors.New("there is no stream to close")
			}
			time.Sleep(time.Second) // of the bubble: the response has ended by then
		}
		call.Content(server.BlobResourceFrom("x://y", "", func() (io.ReadCloser, error) { return &source{left: longSize, fails: fails}, nil }))
		return &output{}, nil
	})
	f := &fixture{t: t, began: make(chan struct{}, 9), release: make(chan struct{})}
	f.srv = newServer(t, []server.Tool{sends, tool("several", f.blocks.several), tool("echo", f.echo), tool("gate", f.gate)}, server.WithMaxBytesUnread(300<<10), server.WithGrace(time.Second))
	f.h = Handler(f.srv, append(opts, WithKeepAlive(0))...)
	l := newPipes()
	f.ts = &httptest.Server{Listener: l, Config: &http.Server{Handler: f.h}}
	f.ts.Start()
	f.ts.Client().Transport.(*http.Transport).DialContext = l.dial
	t.Cleanup(f.shutDown)
	return f
}

// wantLong fails unless text is an answer of "send" to the request, as a whole.
func (f *fixture) wantLong(text, id string) {
	f.t.Helper()
	blob := base64.StdEncoding.EncodeToString(make([]byte, longSize))
	if field(text, "id") != id || field(text, "result", "structuredContent") != `{"text":""}` || !strings.Contains(text, `"blob":"`+blob+`"`) {
		f.t.Errorf("%.300q, %d bytes", text, len(text))
	}
}

// array are the answers in an array.
func (f *fixture) array(text string) (parts []string) {
	f.t.Helper()
	var all []json.RawMessage
	if err := json.Unmarshal([]byte(text), &all); err != nil {
		f.t.Fatalf("%v: %.300q, %d bytes", err, text, len(text))
	}
	for _, part := range all {
		parts = append(parts, string(part))
	}
	return parts
}

// wantRoom fails unless files of answers that are over take no room.
func (f *fixture) wantRoom(session string) {
	f.t.Helper()
	began := time.Now()
	for range 3 {
		f.wantLong(body(f.post(callBody("9", "send", ""), session)), "9")
	}
	if waited := time.Since(began); waited > 0 {
		f.t.Errorf("waited %v for the room of files", waited)
	}
}

// A long answer goes to its client from its file, whatever the response is: in a session, alone and behind progress, without one, and in a batch.
func TestSRV04ALongAnswerIsCopiedFromItsFile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newLongBubble(t, nil)
		session, march := f.initialize(), f.march()
		resp := f.post(callBody("1", "send", ""), session)
		if resp.ContentLength < longSize || resp.Header.Get("Content-Type") != typeJSON {
			t.Errorf("%d bytes of %s", resp.ContentLength, resp.Header.Get("Content-Type"))
		}
		f.wantLong(body(resp), "1")
		s := f.events(f.post(callBody("2", "send", "progress"), session))
		if e := s.message(); field(e.data, "method") != `"notifications/progress"` {
			t.Errorf("%.300s", e.data)
		}
		f.wantLong(s.message().data, "2")
		s.end()
		array := body(f.post(`[`+callBody("3", "send", "")+`,`+callBody("4", "echo", "x")+`]`, march))
		for _, part := range f.array(array) {
			if id := field(part, "id"); id == "3" {
				f.wantLong(part, id)
			} else if id != "4" || field(part, "result", "structuredContent") != `{"text":"x"}` {
				t.Errorf("%.300s", part)
			}
		}
		f.wantRoom(session)
		f.wantLong(body(newLongBubble(t, nil, WithoutSessions()).post(callBody("5", "send", ""), "MCP-Protocol-Version: 2025-11-25")), "5")
	})
}

// A client that loses its connection within a long answer gets it from its beginning when it comes back, until it was written once.
func TestSRV04ALongAnswerIsResumedFromItsFile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newLongBubble(t, nil)
		session := f.initialize()
		s, lose := f.lost(callBody("1", "send", "progress"), session)
		primed, _ := s.next()
		told := s.message()
		for range 2 {
			if _, err := s.r.Discard(longSize / 2); err != nil {
				t.Fatal(err)
			}
			lose()
			s, lose = f.comeBack(session, told.id)
		}
		answer := s.message()
		f.wantLong(answer.data, "1")
		s.end()
		again := f.back(session, primed.id)
		if e, _ := again.next(); !e.comment {
			t.Errorf("not told that something is missing: %.300q", e.data)
		}
		if e := again.message(); e.data != told.data {
			t.Errorf("%.300q", e.data)
		}
		if e := again.message(); e.id != answer.id || !strings.Contains(e.data, "it was in a file") { // it may have been lost on its way
			t.Errorf("%.300q", e.data)
		}
		again.end()
		f.wantRoom(session)
	})
}

// One that was let go meanwhile gets it when it comes back, also after a while.
func TestSRV04ALongAnswerWaitsForAClientThatPolls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newLongBubble(t, nil)
		session := f.initialize()
		s := f.events(f.post(callBody("1", "send", "poll"), session))
		primed, _ := s.next()
		s.end()
		time.Sleep(time.Minute)
		f.wantLong(f.back(session, primed.id).message().data, "1")
		f.wantRoom(session)
	})
}

// CAN02: a client that cancels within a long answer gets no more of it, and what it read is not made whole.
func TestCAN02SRV04ACancellationEndsALongAnswer(t *testing.T) {
	for _, away := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			f := newLongBubble(t, nil)
			session := f.initialize()
			s, lose := f.lost(callBody("1", "send", "progress"), session)
			primed, _ := s.next()
			s.message()
			if _, err := s.r.Discard(longSize / 2); err != nil {
				t.Fatal(err)
			}
			if away {
				lose()
			}
			f.want(f.post(cancelOne, session), 202)
			synctest.Wait()
			if n, err := io.Copy(io.Discard, s.r); err == nil || n > longSize/2 {
				t.Errorf("%d more bytes, %v", n, err)
			}
			f.back(session, primed.id).end()
			f.wantRoom(session)
		})
	}
}

// CAN02: one of a batch leaves the array as long as that waits.
func TestCAN02SRV04ALongAnswerLeavesTheArray(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newLongBubble(t, nil)
		session := f.march()
		s, lose := f.lost(`[`+callBody("1", "send", "progress")+`,`+callBody("2", "echo", "x")+`]`, session)
		told := s.message()
		lose()
		f.want(f.post(cancelOne, session), 202)
		if array := f.array(f.back(session, told.id).message().data); len(array) != 1 || field(array[0], "id") != "2" {
			t.Errorf("%.300q", array)
		}
		f.wantRoom(session)
	})
}

// A reader that fails half-way fails before anything is sent.
func TestSRV04AReaderThatFailsInASession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newLongBubble(t, errors.New("broken"))
		session := f.initialize()
		for range 3 {
			if got := body(f.post(callBody("1", "send", ""), session)); field(got, "error", "code") != "-32603" || strings.Contains(got, "broken") {
				t.Errorf("%.300q", got)
			}
		}
	})
}

// The end of a session does not tear a long answer that is read (CAN21), and keeps none for a client that can not come back.
func TestCAN21SRV04TheEndOfASessionWithALongAnswer(t *testing.T) {
	for _, away := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			f := newLongBubble(t, nil)
			session := f.initialize()
			s, lose := f.lost(callBody("1", "send", "progress"), session)
			s.message()
			synctest.Wait()
			if away {
				lose()
			}
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				f.want(f.do(f.request(http.MethodDelete, "", session)), 204)
			}()
			synctest.Wait()
			began := time.Now()
			if !away {
				f.wantLong(s.message().data, "1")
				s.end()
			}
			if <-ended; time.Since(began) > 0 {
				t.Errorf("ended after %v", time.Since(began))
			}
			f.wantRoom(f.initialize())
		})
	}
}

// Clients that read nothing of a long answer, or do not come back for it, give way to others that wait for the room of files.
func TestTSK28SRV04WhoDoesNotReadALongAnswerBlocksNobody(t *testing.T) {
	for _, away := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			f := newLongBubble(t, nil)
			for i := range 5 {
				session := f.initialize()
				s, lose := f.lost(callBody(fmt.Sprint(i), "send", "progress"), session)
				s.message()
				if away {
					lose()
				}
			}
			began := time.Now()
			f.wantLong(f.events(f.post(callBody("9", "send", ""), f.initialize())).message().data, "9")
			if waited := time.Since(began); waited > time.Minute {
				t.Errorf("waited %v", waited)
			}
		})
	}
}

// While others wait for the room of files, what a batch has in some goes before the rest, which follows.
func TestTSK28CAN24ALongAnswerOfABatchDoesNotWaitForTheOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newLongBubble(t, nil)
		session := f.march()
		s := f.events(f.post(`[`+callBody("1", "send", "progress")+`,`+callBody("2", "gate", "x")+`]`, session))
		s.message()
		synctest.Wait()
		got := make(chan string)
		go func() { got <- body(f.post(callBody("9", "send", ""), f.initialize())) }()
		for _, part := range f.array(s.message().data) {
			f.wantLong(part, "1")
		}
		f.wantLong(<-got, "9")
		f.release <- struct{}{}
		if array := f.array(s.message().data); len(array) != 1 || field(array[0], "id") != "2" {
			t.Errorf("%.300q", array)
		}
		s.end()
		f.wantRoom(session)
	})
}

// CAN12: an array that is being written when all its requests are cancelled is written to its end, and what is left of the batch follows. A client
// that does not read it then gives way like any other.
func TestCAN12CAN24ACancellationWithinAnArrayDoesNotLoseTheOthers(t *testing.T) {
	for _, reads := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			f := newLongBubble(t, nil)
			session := f.march()
			s := f.events(f.post(`[`+callBody("1", "send", "progress")+`,`+callBody("2", "gate", "x")+`]`, session))
			s.message()
			synctest.Wait()
			got := make(chan string)
			go func() {
				other := f.events(f.post(callBody("9", "send", "progress"), f.initialize()))
				other.message()
				got <- other.message().data
			}()
			if _, err := s.r.Discard(longSize / 2); err != nil {
				t.Fatal(err)
			}
			f.want(f.post(cancelOne, session), 202)
			synctest.Wait()
			if reads {
				if rest, err := s.r.ReadString('\n'); err != nil || !strings.HasSuffix(rest, "}]\n") {
					t.Errorf("the array ends after %d bytes with %.100q, %v", len(rest), rest[max(0, len(rest)-100):], err)
				}
			}
			f.wantLong(<-got, "9")
			f.release <- struct{}{}
			if reads {
				if array := f.array(s.message().data); len(array) != 1 || field(array[0], "id") != "2" {
					t.Errorf("%.300q", array)
				}
				s.end()
			}
			f.wantRoom(session)
		})
	}
}

// A client that does not read it then, or is away, gives way.
func TestTSK28CAN24WhoDoesNotReadALongBatchBlocksNobody(t *testing.T) {
	for _, away := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			f := newLongBubble(t, nil)
			for range 5 {
				s, lose := f.lost(`[`+callBody("1", "send", "progress")+`,`+callBody("2", "gate", "x")+`]`, f.march())
				s.message()
				if away {
					lose()
				}
			}
			began := time.Now()
			s := f.events(f.post(callBody("9", "send", "progress"), f.initialize()))
			s.message()
			f.wantLong(s.message().data, "9")
			if waited := time.Since(began); waited > time.Minute {
				t.Errorf("waited %v", waited)
			}
			close(f.release)
		})
	}
}

// A session is not kept from new answers by its own ones that nobody comes back for.
func TestTSK28LostLongAnswersMakeRoomForTheirOwnSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newLongBubble(t, nil)
		session := f.initialize()
		for i := range 4 {
			s, lose := f.lost(callBody(fmt.Sprint(i+1), "send", "progress"), session)
			s.message()
			lose()
		}
		began := time.Now()
		s := f.events(f.post(callBody("9", "send", "progress"), session))
		s.message()
		f.wantLong(s.message().data, "9")
		if waited := time.Since(began); waited > 20*time.Second {
			t.Errorf("waited %v", waited)
		}
	})
}

// LET13: the request whose long answer was given up ends with an error for a client that comes back, also in a batch.
func TestLET13TSK28ALongAnswerThatWasGivenUpIsAnError(t *testing.T) {
	for _, batched := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			f := newLongBubble(t, nil)
			session, request := f.initialize(), callBody("1", "send", "progress")
			if batched {
				session, request = f.march(), "["+request+"]"
			}
			s, lose := f.lost(request, session)
			told := s.message()
			lose()
			for i := range 4 { // others want the room
				other := f.events(f.post(callBody(fmt.Sprint(i+2), "send", "progress"), f.initialize()))
				other.message()
				other.message()
			}
			time.Sleep(10 * time.Second)
			hungry, starve := f.lost(callBody("8", "send", "progress"), session)
			hungry.message()
			for i := range 4 {
				more, leave := f.lost(callBody(fmt.Sprint(i+20), "send", "progress"), session)
				more.message()
				leave()
			}
			starve()
			time.Sleep(20 * time.Second)
			again := f.back(session, told.id)
			if m := again.message().data; !strings.Contains(m, "it was in a file") || !strings.Contains(m, `"id":1`) || strings.HasPrefix(m, "[") != batched {
				t.Errorf("%.300q", m)
			}
			again.end()
		})
	}
}

// CAN03: where streams do not begin with an id, a client that left before an event was whole can not come back. Nothing is kept for it, and its
// requests are served.
func TestCAN03SRV04NothingIsKeptForAClientThatKnowsNoEvent(t *testing.T) {
	for _, within := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			f := newLongBubble(t, nil)
			session := f.march()
			s, lose := f.lost(`[`+callBody("1", "send", "")+`,`+callBody("2", "gate", "x")+`]`, session)
			if within {
				f.release <- struct{}{}
				if _, err := s.r.Discard(longSize / 2); err != nil {
					t.Fatal(err)
				}
				lose()
			} else {
				lose()
				f.release <- struct{}{}
			}
			synctest.Wait()
			if left := f.srv.InFlight(); len(left) != 0 {
				t.Errorf("still in flight: %v", left)
			}
			f.wantRoom(session)
		})
	}
}

// Over HTTP/2 a long answer is whole, or its stream is reset.
func TestSRV04ALongAnswerOverHTTP2(t *testing.T) {
	size := int64(longSize)
	f := sourceServer(t, func() (io.ReadCloser, error) { return &source{left: size}, nil }, nil)
	f.ts.Close()
	f.ts = httptest.NewUnstartedServer(f.h)
	f.ts.EnableHTTP2 = true
	f.ts.StartTLS()
	session := f.initialize()
	for range 2 {
		resp := f.post(callBody("1", "send", "progress"), session)
		if resp.ProtoMajor != 2 {
			t.Fatal(resp.Proto)
		}
		events := f.events(resp)
		events.message()
		if got := events.message().data; !strings.Contains(got, base64.StdEncoding.EncodeToString(make([]byte, longSize))) {
			t.Errorf("%.300q", got)
		}
	}
	size = 32 << 20 // more than the client takes unread
	resp := f.post(callBody("2", "send", "progress"), session)
	if _, err := io.ReadFull(resp.Body, make([]byte, 1<<20)); err != nil {
		t.Fatal(err)
	}
	f.want(f.post(strings.Replace(cancelOne, ":1}", ":2}", 1), session), 202)
	if n, err := io.Copy(io.Discard, resp.Body); err == nil {
		t.Errorf("%d more bytes, and no error", n)
	}
}
