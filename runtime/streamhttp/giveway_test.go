package streamhttp

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"weak"

	"github.com/mcpkiln/mcpkiln/runtime/rpc"
)

// keptAway is a session that keeps 1,000 bytes of a stream, and its stream for request 1, whose client is away.
func keptAway(t *testing.T) (*session, *stream) {
	h := &Endpoint{opts: defaults(), roster: newRoster()}
	h.opts.replay = 1000
	s := newSession(t.Context(), h, "id")
	st := lostStream(s)
	s.mu.Lock()
	s.active.set(rpc.IntID(1), st)
	s.mu.Unlock()
	return s, st
}

// asked asks about the request, or none if about is 0, in size bytes. lost has the reason once the question is lost.
func (s *session) asked(t *testing.T, about int64, size int) (lost *atomic.Value) {
	t.Helper()
	lost = new(atomic.Value)
	id := rpc.ID{}
	if about != 0 {
		id = rpc.IntID(about)
	}
	if _, err := s.Ask(id, []byte(strings.Repeat("?", size)), func(err error) { lost.Store(err) }); err != nil {
		t.Fatal(err)
	}
	return lost
}

func note100() []byte { return []byte(strings.Repeat("1", 100)) }

// contents are the kinds of the frames: ? for a question, 1 for a note.
func contents(frames [][]byte) (all string) {
	for _, f := range frames {
		if len(f) > 0 {
			all += string(f[:1])
		}
	}
	return all
}

// CAN30: who asks while the client is away waits for an answer only as long as the question is kept. Everything else gives way before it.
func TestCAN30AQuestionGivesWayLast(t *testing.T) {
	for name, row := range map[string]struct {
		events string // ? a question, 1 a note, of 100 bytes each
		want   string // what the client that comes back gets
		lost   int    // how many questions
	}{
		"a question before others":   {"?" + strings.Repeat("1", 30), "?111111111", 0},
		"a question among others":    {"11111?" + strings.Repeat("1", 6), "1111?11111", 0},
		"several":                    {"?1?1?" + strings.Repeat("1", 40), "???1111111", 0},
		"questions alone":            {strings.Repeat("?", 13), strings.Repeat("?", 10), 3},
		"a note between too many":    {"?????1" + strings.Repeat("?", 8), strings.Repeat("?", 10), 3},
		"less than what is kept":     {"?1?", "?1?", 0},
		"exactly what is kept":       {"?" + strings.Repeat("1", 9), "?111111111", 0},
		"far more than what is kept": {"?" + strings.Repeat("1", 5000), "?111111111", 0},
	} {
		s, st := keptAway(t)
		var lost []*atomic.Value
		for _, kind := range row.events {
			if kind == '?' {
				lost = append(lost, s.asked(t, 1, 100))
			} else if err := s.Write(rpc.IntID(1), false, note100()); err != nil {
				t.Fatal(err)
			}
			if n := s.kept.Load(); n > 1000 {
				t.Fatalf("%s: %d bytes are kept", name, n)
			}
		}
		lost = slices.DeleteFunc(lost, func(l *atomic.Value) bool { return l.Load() != errAway })
		if len(lost) != row.lost {
			t.Errorf("%s: %d questions are lost, want %d", name, len(lost), row.lost)
		}
		got := []byte(contents(st.take(st.attach(0)).events))
		want := []byte(row.want)
		if strings.Contains(row.events, "1") { // where among the notes a question comes does not matter
			slices.Sort(got)
			slices.Sort(want)
		}
		if string(got) != string(want) {
			t.Errorf("%s: the client gets %s, want %s", name, got, want)
		}
	}
}

// A question that the client read before it went away is not sent again, wherever it stands by now; one that it did not read is, also the second time.
func TestCAN30AMovedQuestionIsSentToWhoHasNotReadIt(t *testing.T) {
	for after, want := range map[int]int{0: 1, 1: 1, 2: 0, 9: 0} {
		s, st := keptAway(t)
		reader := st.attach(-1)
		write := func(n int) {
			for range n {
				if err := s.Write(rpc.IntID(1), false, note100()); err != nil {
					t.Fatal(err)
				}
			}
		}
		write(1)
		s.asked(t, 1, 100) // is event 2
		write(7)
		st.take(reader)
		st.wrote(reader)
		s.release(st, reader)
		write(20)
		reader = st.attach(after)
		if got := strings.Count(contents(st.take(reader).events), "?"); got != want {
			t.Errorf("a client that has read event %d is asked %d times", after, got)
		}
		s.release(st, reader) // which wrote nothing
		write(20)
		if got := strings.Count(contents(st.take(st.attach(after)).events), "?"); got != want {
			t.Errorf("a client that has read event %d is asked %d times when it comes back again", after, got)
		}
	}
}

// CAN30: whatever the reason for which nobody will read a question, whoever asks hears it.
func TestCAN30AQuestionThatIsNotKeptIsLost(t *testing.T) {
	for name, lose := range map[string]func(t *testing.T, s *session, st *stream) *atomic.Value{
		"larger than all that is kept": func(t *testing.T, s *session, _ *stream) *atomic.Value { return s.asked(t, 1, 5000) },
		"larger, for a listener":       func(t *testing.T, s *session, _ *stream) *atomic.Value { return s.asked(t, 0, 5000) },
		"its stream gives way": func(t *testing.T, s *session, _ *stream) *atomic.Value {
			lost := s.asked(t, 1, 100)
			s.dropIdle()
			return lost
		},
		"the backlog gives way": func(t *testing.T, s *session, _ *stream) *atomic.Value {
			lost := s.asked(t, 0, 100)
			s.dropIdle()
			return lost
		},
		"later questions in the backlog": func(t *testing.T, s *session, _ *stream) *atomic.Value {
			lost := s.asked(t, 0, 100)
			for range 12 {
				s.asked(t, 0, 100)
			}
			return lost
		},
		"its stream can not be resumed": func(t *testing.T, s *session, st *stream) *atomic.Value {
			st.started = false
			reader := st.attach(-1)
			lost := s.asked(t, 1, 100)
			s.release(st, reader)
			return lost
		},
		"its stream could not be resumed": func(t *testing.T, s *session, st *stream) *atomic.Value {
			st.started = false
			s.release(st, st.attach(-1))
			return s.asked(t, 1, 100)
		},
	} {
		s, st := keptAway(t)
		if err := lose(t, s, st).Load(); err != errAway {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A question that was written may have been read, so the answer is waited for whatever becomes of the stream, until the client shows that it has not
// read it.
func TestCAN30AQuestionThatWasWrittenIsLostIfTheClientHasNotReadIt(t *testing.T) {
	away := func(s *session, st *stream, reader uint64) { s.release(st, reader) }
	for name, row := range map[string]struct {
		size   int
		forget func(t *testing.T, s *session, st *stream, reader uint64)
	}{
		"its stream gives way": {100, func(_ *testing.T, s *session, st *stream, reader uint64) {
			away(s, st, reader)
			s.dropIdle()
		}},
		"its stream gives way after it was moved": {100, func(t *testing.T, s *session, st *stream, reader uint64) {
			away(s, st, reader)
			for range 12 {
				if err := s.Write(rpc.IntID(1), false, note100()); err != nil {
					t.Fatal(err)
				}
			}
			s.dropIdle()
		}},
		"it gives way to questions that are written after it": {100, func(t *testing.T, s *session, st *stream, reader uint64) {
			for range 12 {
				s.asked(t, 1, 100)
				st.take(reader)
				st.wrote(reader)
			}
		}},
		"it is too large": {5000, func(_ *testing.T, s *session, st *stream, reader uint64) { away(s, st, reader) }},
	} {
		for _, listener := range []bool{false, true} {
			for last := range 3 {
				s, st := keptAway(t)
				if st.listener = listener; listener && name != "it is too large" {
					continue // those are about the stream of a request
				}
				reader := st.attach(-1)
				if listener {
					s.addReader(st)
				}
				if err := st.add(note100(), false); err != nil {
					t.Fatal(err)
				}
				about := int64(1)
				if listener {
					about = 0
				}
				lost := s.asked(t, about, row.size) // event 2
				st.take(reader)
				st.wrote(reader)
				row.forget(t, s, st, reader)
				if err := lost.Load(); err != nil {
					t.Errorf("%s: %v", name, err)
				}
				s.resume(string(eventID{stream: st.number, number: last, listener: listener}.appendTo(nil)))
				if got := lost.Load() == errAway; got != (last < 2) {
					t.Errorf("%s: a client comes back that has read event %d: lost %v", name, last, got)
				}
			}
		}
	}
}

// Notes that wait for a listener give way before questions.
func TestCAN30TheBacklogKeepsQuestions(t *testing.T) {
	s, _ := keptAway(t)
	lost := s.asked(t, 0, 100)
	for range 50 {
		if err := s.Write(rpc.ID{}, false, note100()); err != nil {
			t.Fatal(err)
		}
	}
	if s.backlogged > 1000 {
		t.Errorf("%d bytes are kept", s.backlogged)
	}
	st := s.listen()
	reader := st.attach(-1)
	s.addReader(st)
	if got := contents(st.take(reader).events); strings.Count(got, "?") != 1 || lost.Load() != nil {
		t.Errorf("a listener gets %s", got)
	}
}

// CAN30: progress that a client misses does not cost it the question, which it answers when it comes back; if it is lost all the same, the handler
// hears that at once.
func TestCAN30AClientThatIsAwayIsAskedWhenItComesBack(t *testing.T) {
	for _, kept := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			f := newBubble(t, WithKeepAlive(0), WithReplay(1<<14))
			f.unanswered = make(chan error, 1)
			session := f.initialize()
			s, lose := f.lost(callBody("1", "strict", "ask"), session)
			told := s.message()
			lose()
			<-f.began
			f.release <- struct{}{}
			synctest.Wait() // the handler has asked
			for i := range 1000 {
				note := fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":%d}}`, i+2)
				if err := f.only().Write(rpc.IntID(1), false, []byte(note)); err != nil {
					t.Fatal(err)
				}
			}
			if !kept {
				f.only().dropIdle()
				if err := <-f.unanswered; !strings.Contains(err.Error(), "the client is away") {
					t.Error(err)
				}
				return
			}
			again := f.back(session, told.id)
			f.accept(session, again.question())
			for m := ""; !strings.Contains(m, "accept yes"); {
				if m = again.message().data; !strings.Contains(m, "accept yes") && field(m, "method") != `"notifications/progress"` {
					t.Fatal(m)
				}
			}
			again.end()
		})
	}
}

// The lost question of a task is asked again when somebody reads (TSK19).
func TestTSK19CAN30ALostQuestionOfATaskIsAskedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newAskingBubble(t)
		session := f.initialize()
		id := f.create(session)
		afterNotice()
		stream, lose := f.stream(session, "2", id)
		primed, _ := stream.next()
		lose()
		afterNotice()
		f.only().dropIdle()
		again := f.back(session, primed.id) // a listener: the stream is gone
		f.accept(session, again.question())
		f.wantResult(session, id)
	})
}

// TSK28: a frame that gave way, or went to another stream, is garbage, though its stream is kept.
func TestTSK28NothingKeepsWhatGaveWay(t *testing.T) {
	for name, lose := range map[string]func(s *session, st *stream, reader uint64){
		"dropped": func(s *session, st *stream, reader uint64) {
			s.release(st, reader)
			st.drop()
		},
		"too large": func(s *session, st *stream, reader uint64) { s.release(st, reader) },
		"given back": func(s *session, st *stream, reader uint64) {
			st.listener = true
			s.release(st, reader)
			s.dropIdle()
		},
		"forgotten": func(s *session, st *stream, reader uint64) {
			st.take(reader)
			st.wrote(reader)
			st.forgetWritten()
		},
	} {
		s, st := keptAway(t)
		reader := st.attach(-1)
		var frames []weak.Pointer[byte]
		for range 3 {
			frame := make([]byte, 5000)
			frames = append(frames, weak.Make(&frame[0]))
			if err := st.add(frame, false); err != nil {
				t.Fatal(err)
			}
		}
		lose(s, st, reader)
		runtime.GC()
		for i, f := range frames {
			if f.Value() != nil {
				t.Errorf("%s: frame %d is kept", name, i)
			}
		}
		runtime.KeepAlive(st)
		runtime.KeepAlive(s)
	}
}
