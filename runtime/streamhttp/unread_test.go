package streamhttp

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/server"
)

// newLargeBubble is a bubble with a tool of answers of half a MiB, and 8 MiB for those that are not read.
func newLargeBubble(t *testing.T, opts ...Option) (f *fixture, dial func(request string) (answer *bufio.Reader)) {
	f = &fixture{t: t, began: make(chan struct{}, 16), causes: make(chan error, 16)}
	text := func(n int) run {
		return func(context.Context, *server.Call, *input) (*output, error) {
			return &output{text: strings.Repeat("x", n)}, nil
		}
	}
	f.srv = newServer(t, []server.Tool{tool("large", text(1<<18)), tool("huge", text(2<<20)), tool("echo", f.echo), tool("chatty", f.steps)}, server.WithMaxBytesUnread(8<<20), server.WithGrace(time.Second))
	f.h = Handler(f.srv, append(opts, WithKeepAlive(0))...) // a comment would hold the lock of its stream, which a bubble does not see through
	l := newPipes()
	f.ts = &httptest.Server{Listener: l, Config: &http.Server{Handler: f.h}}
	f.ts.Start()
	f.ts.Client().Transport.(*http.Transport).DialContext = l.dial
	t.Cleanup(f.shutDown)
	return f, func(request string) *bufio.Reader {
		conn, err := l.dial(t.Context(), "", "")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
		if _, err := io.WriteString(conn, request); err != nil {
			t.Fatal(err)
		}
		return bufio.NewReader(conn)
	}
}

// A client that reads nothing of its responses for five seconds loses one or some of them while others wait for a large answer, also
// if it counts as the same caller. Small answers wait for nobody.
func TestTSK28ResponsesThatNobodyReadsGiveWay(t *testing.T) {
	for name, request := range map[string]func(f *fixture, tool string) string{
		"2026-07-28": func(_ *fixture, tool string) string {
			return rawRequest("1.1", callBody2026("1", tool, "x"), append(headers2026("tools/call", tool), accept)...)
		},
		"2025-11-25": func(f *fixture, tool string) string {
			return rawRequest("1.1", callBody("1", tool, "x"), f.initialize(), accept)
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f, dial := newLargeBubble(t)
				var stuck []*bufio.Reader
				for range 5 {
					stuck = append(stuck, dial(request(f, "large")))
					synctest.Wait()
				}
				start := time.Now()
				if status, b := f.response(dial(request(f, "echo"))); status != http.StatusOK || time.Since(start) > 0 {
					t.Errorf("a small answer took %v: %d %s", time.Since(start), status, b)
				}
				status, b := f.response(dial(request(f, "large")))
				if took := time.Since(start); status != http.StatusOK || took == 0 || took > 7*time.Second {
					t.Errorf("a large answer took %v: %d %.200s", took, status, b)
				}
				lost := 0
				for _, r := range stuck {
					resp, err := http.ReadResponse(r, nil)
					if err == nil {
						_, err = io.Copy(io.Discard, resp.Body)
						resp.Body.Close()
					}
					if err != nil {
						lost++
					}
				}
				if lost == 0 || lost == len(stuck) {
					t.Errorf("%d of %d responses were lost", lost, len(stuck))
				}
			})
		})
	}
}

const accept = "Accept: application/json, text/event-stream"

// Questions do not count among what clients leave unread while they are open; all else on their stream does, and a question that is over while it
// is written.
func TestTSK28UnreadQuestionsDoNotCount(t *testing.T) {
	const note, question = 100, 1000
	f := newFixture(t)
	s := f.session(f.opened("ada"))
	id := rpc.StringID("1")
	st := s.stream(id)
	reader := st.attach(-1)
	st.start()
	var open []server.Carrier
	add := func(kinds string) {
		for _, kind := range kinds {
			if kind == '1' {
				_ = s.Write(id, false, make([]byte, note))
				continue
			}
			c, err := s.Ask(id, make([]byte, question), func(err error) { t.Error(err) })
			if err != nil {
				t.Fatal(err)
			}
			open = append(open, c)
		}
	}
	want := func(what string, notes, over int64) {
		t.Helper()
		if n := f.h.unread.Used(); n != notes*note+over*question {
			t.Errorf("%s: %d bytes count, %d notes are unread", what, n, notes)
		}
	}
	add("1?1?1")
	want("five messages", 3, 0)
	open[0].Close()
	want("one question is over", 3, 0)
	st.take(reader)
	want("all are being written", 3, 0)
	add("?1")
	open[1].Close()
	want("one that is being written is over", 4, 1)
	st.wrote(reader)
	want("the first five are written", 1, 0)
	reader = st.attach(0)
	want("the client reads all again", 4, 0)
	s.release(st, reader)
	want("the client is away", 0, 0)
	st.attach(0)
	want("it reads all again", 4, 0)
	_ = s.Write(id, true, make([]byte, note))
	want("the answer counts elsewhere", 4, 0)
	st.drop()
	want("nobody can read it", 0, 0)
}

// The client hears that a question is over however much others leave unread: on the stream that has it, and on a listener once its call is cancelled.
func TestCAN19WithdrawalsAreNotDroppedForWhatOthersLeaveUnread(t *testing.T) {
	for _, cancelled := range []string{"never", "before", "after"} {
		f := newFixture(t)
		s := f.session(f.opened("ada"))
		id := rpc.StringID("1")
		st, listener := s.stream(id), s.listen()
		st.received = true
		reader, listening := st.attach(-1), listener.attach(-1)
		st.start()
		s.addReader(st)
		s.addReader(listener)
		c, err := s.Ask(id, []byte("question"), func(err error) { t.Error(err) })
		if err != nil {
			t.Fatal(err)
		}
		st.take(reader)
		st.wrote(reader)

		var others atomic.Int64
		f.h.unread.Add(&others, f.h.unread.Max)
		if err := s.Write(id, false, []byte("note")); err != errUnread {
			t.Fatalf("a note: %v", err)
		}
		cancel := func(when string) {
			if cancelled == when {
				s.mu.Lock()
				s.freeIDs(st)
				s.mu.Unlock()
				s.Cancelled(id)
			}
		}
		cancel("before")
		c.Close()
		if err := c.Withdraw([]byte("withdrawn")); err != nil {
			t.Errorf("cancelled %s: %v", cancelled, err)
		}
		cancel("after")
		if n := f.h.unread.Used() - others.Load(); n != int64(len("withdrawn")) {
			t.Errorf("cancelled %s: %d bytes count", cancelled, n)
		}
		if cancelled != "never" {
			st, reader = listener, listening
		}
		if got := st.take(reader).events; len(got) != 1 || string(got[0]) != "withdrawn" {
			t.Errorf("cancelled %s: the client gets %q", cancelled, got)
		}
		f.h.unread.Give(&others, f.h.unread.Max)
	}
}

// An array that comes before the last of a batch is of answers: their calls have run, so it is not dropped for what others leave unread. The server
// counts it until it is written, and it alone, also where a cancellation drops it meanwhile.
func TestTSK28AnEarlyArrayIsNotDroppedForWhatOthersLeaveUnread(t *testing.T) {
	f := newFixture(t)
	synctest.Test(t, func(t *testing.T) {
		s := newSession(server.WithPrincipal(t.Context(), "ada"), f.h, "s")
		s.tenant = &tenant{}
		about, id := rpc.StringID("batch"), rpc.IntID(1)
		st := s.batchStream(about, []rpc.ID{id, rpc.IntID(2)})
		st.received = true
		reader := st.attach(-1)
		var others atomic.Int64
		f.h.unread.Add(&others, f.h.unread.Max)
		defer f.h.unread.Give(&others, f.h.unread.Max)
		if err := s.Write(id, false, []byte(`{"method":"note"}`)); err != errUnread {
			t.Errorf("a note: %v", err)
		}
		array := `[{"id":1,"result":"` + strings.Repeat("x", keptBuffer) + `"}]`
		if err := s.Write(about, false, []byte(array)); err != nil {
			t.Errorf("the array: %v", err)
		}
		if n := f.h.unread.Used() - others.Load(); n != 0 {
			t.Errorf("%d bytes of the array count twice", n)
		}
		var returned atomic.Bool
		go func() {
			st.AwaitRead(len(array))
			returned.Store(true)
		}()
		if got := st.take(reader).events; len(got) != 1 || string(got[0]) != array {
			t.Errorf("the client gets %.60q", got)
		}
		s.Cancelled(id)
		if synctest.Wait(); returned.Load() {
			t.Error("the array was not waited for while it was being written")
		}
		st.wrote(reader)
		if synctest.Wait(); !returned.Load() {
			t.Error("the array is waited for after it was written")
		}
		s.release(st, reader)
	})
}
