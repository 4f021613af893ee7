package streamhttp

import (
	"bytes"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/server"
)

// session is the endpoint's own part of a session.
func (f *fixture) session(id string) *session {
	f.h.mu.Lock()
	defer f.h.mu.Unlock()
	return f.h.roster.sessions[id]
}

// What was written to clients that are there gives way first, what they do not read is dropped, and nobody is refused for it.
func TestTSK28ListenersDoNotFillWhatSessionsKeep(t *testing.T) {
	for _, read := range []bool{true, false} {
		f := newFixture(t, WithReplayTotal(1<<20))
		frame := bytes.Repeat([]byte("x"), 30<<10)
		for i := range 10 {
			s := f.session(f.opened(fmt.Sprint("p", i)))
			st := s.listen()
			reader := st.attach(-1)
			s.addReader(st)
			for range 30 {
				if err := s.Write(rpc.ID{}, false, frame); err != nil && (read || err != errUnread) {
					t.Fatal(err)
				}
				if read {
					st.take(reader)
					st.wrote(reader)
				}
			}
			defer s.release(st, reader)
		}
		if got := f.h.kept.Load(); got > 1<<20+int64(len(frame)) {
			t.Errorf("%d bytes are kept", got)
		}
		if f.opened("new") == "" {
			t.Error("a new client was refused")
		}
	}
}

// What is kept is dropped in the order of the roster: those with the most sessions first.
func TestTSK28TheLargestTenantGivesWayFirst(t *testing.T) {
	h := &Endpoint{opts: defaults(), roster: newRoster()}
	const each = 10 + streamSize + eventSize
	h.opts.replayTotal = 5 * each / 2
	for _, principal := range []string{"a", "a", "a", "b", "c", "c"} {
		s := newSession(server.WithPrincipal(t.Context(), principal), h, fmt.Sprint(principal, len(h.roster.sessions)))
		h.roster.add(s)
		h.roster.markIdle(s)
		st := s.newStream()
		st.start()
		reader := st.attach(-1)
		_ = st.add(text10(1), true)
		st.detach(reader)
	}
	h.relieve()
	kept := map[string]int64{}
	for _, s := range h.roster.sessions {
		kept[s.principal] += s.kept.Load()
	}
	if got := fmt.Sprint(kept); got != "map[a:0 b:10 c:10]" || h.kept.Load() != int64(2*each) {
		t.Errorf("kept %s, %d in all", got, h.kept.Load())
	}
}

// What is kept for clients that may come back takes more than its bytes: streams without any, and many small events.
func TestTSK28StreamsCountBesideTheirBytes(t *testing.T) {
	f := newFixture(t, WithReplayTotal(1<<20))
	streams := func() (n int) {
		f.h.mu.Lock()
		defer f.h.mu.Unlock()
		for _, s := range f.h.roster.sessions {
			s.mu.Lock()
			n += s.streams.size()
			s.mu.Unlock()
		}
		return n
	}
	for i := range 20 {
		s := f.session(f.opened(fmt.Sprint("p", i)))
		for range 100 {
			st := s.listen()
			s.release(st, st.attach(-1))
		}
	}
	if n := streams(); n == 0 || n*streamSize > 1<<20 {
		t.Errorf("%d empty streams are kept", n)
	}
	f = newFixture(t, WithReplayTotal(1<<20))
	s := f.session(f.opened("events"))
	st := s.listen()
	reader := st.attach(-1)
	defer s.release(st, reader)
	s.addReader(st)
	const n = 1000
	before := f.h.kept.Load()
	for range n {
		if err := s.Write(rpc.ID{}, false, text10(1)); err != nil {
			t.Fatal(err)
		}
	}
	unread := f.h.kept.Load()
	st.take(reader)
	st.wrote(reader)
	if got := f.h.kept.Load(); unread != before || got != before+int64(n*(10+eventSize)) {
		t.Errorf("%d before, %d unread, %d read", before, unread, got)
	}
}

// A large frame returns when it was written, also when the reader has not begun when it comes, and when more follows.
func TestTSK28ALargeFrameReturnsWhenItWasWritten(t *testing.T) {
	for _, last := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			st := newStream(1, streamLimits{replay: 1 << 20, pending: 1 << 20}, new(atomic.Int64), new(pools).alarm())
			reader := st.attach(-1)
			var added, taken atomic.Bool
			go func() {
				_ = st.add(make([]byte, keptBuffer+1), last)
				taken.Store(st.AwaitRead(keptBuffer + 1))
				added.Store(true)
			}()
			synctest.Wait()
			before := added.Load()
			st.take(reader)
			synctest.Wait()
			if before || added.Load() {
				t.Error("the frame returned before it was written")
			}
			st.wrote(reader)
			synctest.Wait()
			if !added.Load() || !taken.Load() {
				t.Error("the frame was written and did not return")
			}
			st.detach(reader)
		})
	}
}

// The goroutine that reads does not wait for itself.
func TestTSK28AnAnswerFromInsideReceiveDoesNotWait(t *testing.T) {
	h := &Endpoint{opts: defaults(), roster: newRoster()}
	s := newSession(t.Context(), h, "id")
	id := rpc.StringID("1")
	st := s.stream(id)
	reader := st.attach(-1)
	s.AnswersInline(id)
	if err := s.Write(id, true, make([]byte, keptBuffer+1)); err != nil {
		t.Error(err)
	}
	st.AwaitRead(keptBuffer + 1)
	if _, ok := st.alone(); !ok {
		t.Error("there is no answer")
	}
	st.detach(reader)
}

// What a reader is writing stays what it is, however much comes meanwhile, also when another reader takes over.
func TestCAN18AnEventThatIsBeingWrittenStays(t *testing.T) {
	st := newStream(1, streamLimits{replay: 30, pending: 1000}, new(atomic.Int64), new(pools).alarm())
	reader := st.attach(-1)
	add := func(from, to int) {
		for n := from; n <= to; n++ {
			_ = st.add(text10(n), false)
		}
	}
	add(1, 3)
	b := st.take(reader)
	add(4, 9)
	if got := texts(b); got != "1 2 3" {
		t.Errorf("it writes %q", got)
	}
	young := st.attach(-1)
	add(10, 19)
	if got := texts(b); got != "1 2 3" {
		t.Errorf("it writes %q", got)
	}
	st.take(young)
	st.wrote(young)
	add(20, 20)
	if st.bytes > 30 {
		t.Errorf("%d bytes are kept", st.bytes)
	}
}

// An answer that is a response of its own counts as taken once that is written, and not where its reader left.
func TestTSK28AnAnswerAloneIsTakenWhenItWasWritten(t *testing.T) {
	for _, written := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			st := newStream(1, streamLimits{replay: 1 << 20, pending: 1 << 20}, new(atomic.Int64), new(pools).alarm())
			reader := st.attach(-1)
			taken := make(chan bool, 1)
			go func() {
				_ = st.add(make([]byte, keptBuffer+1), true)
				taken <- st.AwaitRead(keptBuffer + 1)
			}()
			synctest.Wait()
			if _, ok := st.alone(); !ok {
				t.Fatal("there is no answer")
			}
			if written {
				st.wrote(reader)
			}
			st.detach(reader)
			if got := <-taken; got != written {
				t.Errorf("written: %t, taken: %t", written, got)
			}
		})
	}
}

// A stream does not give way between the moment when it is made, or found for a client that comes back, and the one when its reader attaches: then the
// answer or a question would be lost, though its client reads (TSK09, CAN30).
func TestCAN30AStreamThatIsAboutToBeReadDoesNotGiveWay(t *testing.T) {
	id := rpc.IntID(7)
	for name, made := range map[string]func(s *session, st *stream) (*stream, uint64){
		"of a request": func(s *session, _ *stream) (*stream, uint64) {
			st := s.stream(id)
			s.dropIdle()
			return st, st.attach(-1)
		},
		"of a listener": func(s *session, _ *stream) (*stream, uint64) {
			st := s.listen()
			s.dropIdle()
			return st, st.attach(-1)
		},
		"that is resumed": func(s *session, st *stream) (*stream, uint64) {
			got := s.resume(string(st.id(0).appendTo(nil)))
			s.dropIdle()
			return got.stream, got.reader
		},
	} {
		s, lost := keptAway(t)
		_ = lost.add(note100(), false)
		st, reader := made(s, lost)
		before := strings.Repeat("1", len(st.events))
		if err := st.add(note100(), false); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if got := contents(st.take(reader).events); got != before+"1" {
			t.Errorf("%s: the client gets %q", name, got)
		}
	}
}
