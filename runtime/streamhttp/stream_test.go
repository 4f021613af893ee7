package streamhttp

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/rpc"
)

func text10(n int) []byte { return fmt.Appendf(nil, "%010d", n) }

func texts(b chunk) string {
	var s []string
	for _, e := range b.events {
		s = append(s, strings.TrimLeft(string(e), "0"))
	}
	return strings.Join(s, " ")
}

func TestStreamKeepsTheNewestForAClientThatIsAway(t *testing.T) {
	var kept atomic.Int64
	s := newStream(1, streamLimits{replay: 30, pending: 100}, &kept, new(pools).alarm())
	reader := s.attach(-1)
	s.start()
	_ = s.add(text10(1), false)
	if got := texts(s.take(reader)); got != "1" {
		t.Errorf("took %s", got)
	}
	s.detach(reader)
	for n := 2; n <= 6; n++ {
		_ = s.add(text10(n), n == 6)
	}
	if kept.Load() != 30 {
		t.Errorf("%d bytes are kept", kept.Load())
	}
	b := s.take(s.attach(1)) // 2 and 3 are gone
	if texts(b) != "4 5 6" || b.first != 4 || !b.ended {
		t.Errorf("resumed with %s from %d, ended %v", texts(b), b.first, b.ended)
	}
	if b := s.take(s.attach(5)); texts(b) != "6" || b.first != 6 {
		t.Errorf("resumed with %s from %d", texts(b), b.first)
	}
	if !s.over(6) || s.over(5) {
		t.Error("the end is not where it is")
	}
	if err := s.add(text10(7), false); err != errGone {
		t.Errorf("after the end: %v", err)
	}
}

// A reader writes what it took while more is added: nothing of that may be forgotten under it.
func TestStreamLeavesAReaderWhatItTook(t *testing.T) {
	s := newStream(1, streamLimits{replay: 20, pending: 1000}, new(atomic.Int64), new(pools).alarm())
	reader := s.attach(-1)
	for n := 1; n <= 3; n++ {
		_ = s.add(text10(n), false)
	}
	taken := s.take(reader)
	for n := 4; n <= 9; n++ {
		_ = s.add(text10(n), false)
	}
	if got := texts(taken) + " " + texts(s.take(reader)); got != "1 2 3 4 5 6 7 8 9" {
		t.Errorf("the client gets %s", got)
	}
}

func TestStreamKeepsAnAnswerAboveTheLimit(t *testing.T) {
	s := newStream(1, streamLimits{replay: 5, pending: 5}, new(atomic.Int64), new(pools).alarm())
	s.start()
	_ = s.add(text10(1), false)
	_ = s.add(text10(2), true)
	if got := texts(s.take(s.attach(0))); got != "2" {
		t.Errorf("took %s", got)
	}
}

func TestStreamIsReadByTheNewestConnection(t *testing.T) {
	s := newStream(1, streamLimits{replay: 100, pending: 100}, new(atomic.Int64), new(pools).alarm())
	old := s.attach(-1)
	young := s.attach(-1)
	if !s.take(old).takenOver || s.take(young).takenOver {
		t.Error("the older connection reads")
	}
	s.detach(old)
	_ = s.add(text10(1), false)
	if got := texts(s.take(young)); got != "1" {
		t.Errorf("took %s", got)
	}
}

func TestStreamWithoutAnIDIsDropped(t *testing.T) {
	var kept atomic.Int64
	s := newStream(1, streamLimits{replay: 100, pending: 100}, &kept, new(pools).alarm())
	reader := s.attach(-1)
	_ = s.add(text10(1), false)
	s.detach(reader)
	_ = s.add(text10(2), true)
	if kept.Load() != 0 {
		t.Errorf("%d bytes are kept for nobody", kept.Load())
	}
}

func TestStreamHoldsItsWriterBackUntilTheReaderIsThere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStream(1, streamLimits{replay: 1000, pending: 25}, new(atomic.Int64), new(pools).alarm())
		reader := s.attach(-1)
		added := 0
		go func() {
			for n := range 10 {
				s.AwaitRoom(10)
				_ = s.add(text10(n+1), n == 9)
				added++
			}
		}()
		synctest.Wait()
		if added != 3 {
			t.Errorf("%d frames were taken from a writer that is ahead", added)
		}
		s.take(reader)
		synctest.Wait()
		if added != 6 {
			t.Errorf("%d frames after the reader came", added)
		}
		s.detach(reader) // nobody waits for a reader that is gone
		synctest.Wait()
		if added != 10 {
			t.Errorf("%d frames after the reader left", added)
		}
	})
}

// Notifications give way before answers, and those in the order in which they came.
func TestSessionForgetsTheOldestStreams(t *testing.T) {
	h := &Endpoint{opts: defaults()}
	h.opts.replay = 10
	s := newSession(t.Context(), h, "id")
	away := func(ended bool) *stream {
		st := s.newStream()
		reader := st.attach(-1)
		st.start()
		_ = st.add(text10(1), ended)
		s.release(st, reader)
		return st
	}
	waiting, first := away(false), away(true)
	for range 4 {
		away(true)
	}
	if s.find(waiting.number) == nil || !waiting.lacks(0) || s.find(first.number) != nil || s.kept.Load() != 40 {
		t.Errorf("kept %d bytes in %d streams", s.kept.Load(), s.streams.size())
	}
}

func TestStreamsThatAreNotStartedCanNotBeResumed(t *testing.T) {
	h := &Endpoint{opts: defaults()}
	s := newSession(t.Context(), h, "id")
	st := s.newStream()
	if s.find(st.number) != nil {
		t.Error("a stream without an id was found")
	}
	st.start()
	if s.find(st.number) != st {
		t.Error("a stream with one was not")
	}
}

func TestEventIDs(t *testing.T) {
	for _, id := range []eventID{
		{1, 0, false, rpc.ID{}}, {7, 12, true, rpc.ID{}}, {1 << 40, 1 << 30, false, rpc.ID{}}, {1, 2, false, rpc.IntID(-7)}, {1, 2, false, rpc.StringID("a.ü\n")},
	} {
		if got, ok := parseEventID(string(id.appendTo(nil))); !ok || got != id {
			t.Errorf("%v became %v", id, got)
		}
	}
	for _, text := range []string{"", "r", "x1.1", "r0.1", "r1", "r.1", "r1.", "r+1.1", "r1.-1", "r1.99999999999", "r01.1", "r2.00", "l1.01", "r1.1.", "r1.1.x", "r1.1.MQ.MQ", "r1.1.MQ==", "r1.1.bnVsbA", "r1.1.IjFc", strings.Repeat("r", 100)} {
		if id, ok := parseEventID(text); ok {
			t.Errorf("%q became %v", text, id)
		}
	}
}

func TestEventsAreOneLine(t *testing.T) {
	got := string(appendEvent(nil, eventID{1, 2, false, rpc.ID{}}, []byte("{\n\"a\":\r\n1}")))
	if want := "id: r1.2\nevent: message\ndata: { \"a\":  1}\n\n"; got != want {
		t.Errorf("got %q", got)
	}
	if got := string(appendPriming(nil, eventID{1, 0, false, rpc.ID{}}, time.Second)); got != "id: r1.0\nretry: 1000\ndata: \n\n" {
		t.Errorf("got %q", got)
	}
}
