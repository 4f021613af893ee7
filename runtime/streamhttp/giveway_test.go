package streamhttp

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/mcpkiln/mcpkiln/runtime/rpc"
)

// keptAway is a session that keeps 1,000 bytes of a stream, and its stream for request 1, whose client is away.
func keptAway(t *testing.T) (*session, *stream) {
	h := &Endpoint{opts: defaults(), roster: newRoster()}
	h.opts.replay = 1000
	s := newSession(t.Context(), h, "id")
	st := lostStream(s)
	s.mu.Lock()
	s.active.Set(rpc.IntID(1), st)
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

// The answer to a question that a reader has written may come on any connection, so it is waited for whatever becomes of the stream.
func TestCAN30AQuestionThatWasWrittenIsNotLost(t *testing.T) {
	for _, moved := range []bool{false, true} {
		s, st := keptAway(t)
		reader := st.attach(-1)
		lost := s.asked(t, 1, 100)
		st.take(reader)
		st.wrote(reader)
		s.release(st, reader)
		for range 12 {
			if !moved {
				break
			}
			if err := s.Write(rpc.IntID(1), false, note100()); err != nil {
				t.Fatal(err)
			}
		}
		s.dropIdle()
		if err := lost.Load(); err != nil {
			t.Errorf("moved %v: %v", moved, err)
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
	s.join(st)
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
			f.post(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"action":"accept","content":{"text":"yes"}}}`, field(again.question(), "id")), session)
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
		f.post(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"action":"accept","content":{"text":"yes"}}}`, field(again.question(), "id")), session)
		if got := body(f.post(fmt.Sprintf(`{"jsonrpc":"2.0","id":5,"method":"tasks/result","params":{"taskId":%q}}`, id), session)); !strings.Contains(got, "accept yes") {
			t.Errorf("want the result, got %s", got)
		}
	})
}
