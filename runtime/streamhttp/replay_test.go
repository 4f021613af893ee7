package streamhttp

import (
	"bytes"
	"fmt"
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
			s.join(st)
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
	h.opts.replayTotal = 24
	for _, principal := range []string{"a", "a", "a", "b", "c", "c"} {
		s := newSession(server.WithPrincipal(t.Context(), principal), h, fmt.Sprint(principal, len(h.roster.sessions)))
		h.roster.add(s)
		h.roster.rest(s)
		st := s.newStream()
		st.start()
		_ = st.add(text10(1), true)
	}
	h.relieve()
	kept := map[string]int64{}
	for _, s := range h.roster.sessions {
		kept[s.principal] += s.kept.Load()
	}
	if got := fmt.Sprint(kept); got != "map[a:0 b:10 c:10]" || h.kept.Load() != 20 {
		t.Errorf("kept %s, %d in all", got, h.kept.Load())
	}
}

// A large frame returns when it was written, also when the reader has not begun when it comes, and when more follows.
func TestTSK28ALargeFrameReturnsWhenItWasWritten(t *testing.T) {
	for _, last := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			st := newStream(1, streamLimits{replay: 1 << 20, pending: 1 << 20}, new(atomic.Int64), new(pools).alarm())
			reader := st.attach(-1)
			var added atomic.Bool
			go func() {
				_ = st.add(make([]byte, keptBuffer+1), last)
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
			if !added.Load() {
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
