package streamhttp

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/server"
)

// everything is a round that ends when there is nothing more to drop.
func everything(s *session) *round { return &round{kept: &s.h.kept, limit: math.MinInt64, each: 1} }

// dropIdle drops all that gives way where nothing may be kept.
func (s *session) dropIdle() {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := everything(s)
	for k := overStreams; k < kinds; k++ {
		s.dropBacklog(k, r)
		s.dropKind(k, r, s.byUse())
	}
}

// orderFrame is the size of all messages of these tests. A session keeps eight, a stream two.
const orderFrame = 64 << 10

// streamOf makes a stream in the state that its description begins with: read and attached, written to a connection that was lost, or away before the rest was
// written. Its messages follow: ? an open question, 1 a notification, w a withdrawal, = the answer, [ an early array of answers of a batch.
func streamOf(s *session, description string) *stream {
	state, messages, _ := strings.Cut(description, ":")
	s.mu.Lock()
	st := s.newStream()
	s.mu.Unlock()
	st.about = rpc.IntID(int64(st.number))
	st.listener, st.batched = strings.HasPrefix(state, "listener"), strings.Contains(messages, "[")
	reader := st.attach(-1)
	st.start()
	for _, m := range messages {
		e := storedEvent{frame: bytes.Repeat([]byte(string(m)), orderFrame), withdrawal: m == 'w'}
		if m == '[' {
			e.frame = append([]byte(`[{"id":1,"result":"`), append(bytes.Repeat([]byte("x"), orderFrame-22), `"}]`...)...)
		}
		if m == '?' {
			e.question = &carrier{s: s, unkept: func(error) {}, stream: st}
		}
		if strings.HasSuffix(state, "unwritten") {
			st.detach(reader)
		}
		_ = st.addEvent(e, m == '=')
	}
	st.take(reader)
	for st.take(reader).more {
	}
	st.wrote(reader)
	if !strings.HasSuffix(state, "attached") {
		st.detach(reader)
	}
	return st
}

// keptIn describes what the stream keeps, like streamOf; ! is an array of errors.
func keptIn(st *stream) (all string) {
	for _, e := range st.events {
		switch {
		case e.gaveUp:
			all += "!"
		case e.size() > 0:
			all += string(e.frame[:1])
		}
	}
	return all
}

// Whoever reads the streams, what somebody waits for gives way last, and no more does than must (CAN30, LET13). A session keeps exactly eight messages.
func TestCAN30LET13ThereIsOneOrderOfGivingWay(t *testing.T) {
	for _, row := range []struct{ streams, want string }{
		{"attached:? lost:? unwritten:? lost:1= lost:1= lost:1=", "? ? ? - 1= 1="},
		{"attached:? lost:1= lost:1= lost:1= lost:1=", "? - 1= 1= 1="},
		{"attached:? attached:1= lost:1= lost:1= lost:1=", "? - 1= 1= 1="},
		{"attached:?1 attached:?1 attached:?1 attached:?1 attached:?1", "? ? ?1 ?1 ?1"},
		{"attached:1? attached:1? attached:1? attached:1? attached:1?", "? ? 1? 1? 1?"},
		{"lost:?1 attached:?1 unwritten:?1 attached:?1 lost:?1", "? ? ?1 ?1 ?1"},
		{"unwritten:1? lost:1? attached:1? lost:1? unwritten:1?", "? ? 1? 1? 1?"},
		{"attached:?? lost:11 attached:11 unwritten:11 lost:?", "?? 1 11 11 ?"},
		{"attached:? unwritten:= unwritten:= unwritten:= lost:?? attached:?? unwritten:?", "? - = = ?? ?? ?"},
		{"attached:? unwritten:1= unwritten:1= unwritten:1= unwritten:1=", "? = 1= 1= 1="},
		{"attached:? lost:[ attached:[ unwritten:[ lost:?? attached:?? lost:?", "? ! ! [ ?? ?? ?"}, // errors take some space,
		{"attached:?w lost:w? unwritten:?w attached:?w lost:?", "? w? ?w ?w ?"},
		{"lost:? attached:? lost:? attached:? unwritten:? unwritten:? attached:? attached:? lost:?", "- ? ? ? ? ? ? ? ?"},
		{"attached:? lost:? attached:? unwritten:? unwritten:? attached:? attached:? lost:?", "? ? ? ? ? ? ? ?"},
		{"listener-lost:?1 listener-lost:11 listener-attached:?1 attached:?1 lost:?", "?1 - ?1 ?1 ?"},
		{"listener-attached:1? listener-attached:1? listener-lost:1? attached:1? lost:?", "? 1? 1? 1? ?"},
	} {
		h := &Endpoint{opts: defaults(), roster: newRoster()}
		h.opts.replay = 2 * orderFrame
		s := newSession(t.Context(), h, "id")
		var streams []*stream
		for description := range strings.FieldsSeq(row.streams) {
			streams = append(streams, streamOf(s, description))
		}
		s.prune()
		wantKept(t, row.streams, row.want, streams)
		if n := s.kept.Load(); n > 8*orderFrame {
			t.Errorf("%s: %d bytes are kept", row.streams, n)
		}
	}
}

func wantKept(t *testing.T, made, want string, streams []*stream) {
	t.Helper()
	var kept []string
	for _, st := range streams {
		if kept = append(kept, keptIn(st)); kept[len(kept)-1] == "" {
			kept[len(kept)-1] = "-"
		}
	}
	if got := strings.Join(kept, " "); got != want {
		t.Errorf("%s: what is kept is %s, want %s", made, got, want)
	}
}

// The order holds across sessions, too, the first of which is idle for the longest time. There is room for eight messages.
func TestCAN30TSK28TheOrderOfGivingWayHoldsForAllSessions(t *testing.T) {
	for _, row := range []struct{ streams, want string }{
		{"attached:?1 | lost:?1 | attached:?? | unwritten:1? lost:?", "? ? ?? 1? ?"},
		{"attached:? lost:?? | attached:?? lost:?? | attached:1= lost:=", "? ?? ?? ?? - -"},
		{"attached:? lost:?? | attached:?? lost:?? | unwritten:= unwritten:=", "? ?? ?? ?? - ="},
		{"attached:? lost:?? | attached:?? lost:?w attached:? | attached:?", "? ?? ?? ? ? ?"},
		{"attached:? lost:?? | attached:?? lost:?? | attached:??", "- ?? ?? ?? ??"},
	} {
		h := &Endpoint{opts: defaults(), roster: newRoster()}
		h.opts.replay, h.opts.replayTotal = 2*orderFrame, 8*orderFrame+orderFrame/2
		var streams []*stream
		for session := range strings.SplitSeq(row.streams, " | ") {
			s := newSession(t.Context(), h, session)
			s.open = 0
			h.roster.add(s)
			h.roster.markIdle(s)
			for description := range strings.FieldsSeq(session) {
				streams = append(streams, streamOf(s, description))
			}
		}
		h.relieve()
		wantKept(t, row.streams, row.want, streams)
	}
}

// What comes after an open question gives way before it, also while somebody reads. The client that loses the connection is asked again if it has not read
// the question, wherever that stands by then, and what gave way takes no memory.
func TestCAN30AQuestionThatWasWrittenOutlivesWhatFollows(t *testing.T) {
	for after, want := range map[int]int{0: 1, 1: 1, 2: 0, 9: 0, 500: 0} {
		s, st := keptAway(t)
		reader := st.attach(-1)
		sent := 0
		for i := range 500 {
			if i == 1 {
				s.asked(t, 1, 100) // is event 2
			} else if err := s.Write(rpc.IntID(1), false, note100()); err != nil {
				t.Fatal(err)
			}
			sent += strings.Count(contents(st.take(reader).events), "?")
			st.wrote(reader)
			if st.bytes > 1000 || len(st.events) > 20 {
				t.Fatalf("%d bytes of %d events are kept", st.bytes, len(st.events))
			}
		}
		s.release(st, reader)
		if got := strings.Count(contents(st.take(st.attach(after)).events), "?"); got != want || sent != 1 {
			t.Errorf("a client that has read event %d is asked %d times, and %d times before", after, got, sent)
		}
	}
}

// Whatever comes, goes and gives way in a stream, its client gets each question once, unless whoever asked hears that it is lost.
func TestCAN30LET13EachQuestionIsReadOnceOrLost(t *testing.T) {
	for seed := range uint64(300) {
		random := rand.New(rand.NewPCG(seed, 0))
		s, st := keptAway(t)
		reader, seen, pending := st.attach(0), 0, chunk{}
		read := map[string]int{}
		open, carriers := []string{}, map[string]server.Carrier{}
		lost := map[string]*atomic.Value{}
		receive := func(n int) { // the client reads n events of what was taken
			for i, frame := range pending.events {
				if len(frame) > 0 && n > 0 {
					n--
					seen = pending.first + i
					read[string(bytes.TrimRight(frame, " "))]++
				}
			}
			pending = chunk{}
		}
		for step := range 200 {
			switch random.IntN(9) {
			case 0:
				q := fmt.Sprint("?", step)
				lost[q] = new(atomic.Value)
				c, _ := s.Ask(rpc.IntID(1), fmt.Appendf(nil, "%-100s", q), func(err error) { lost[q].Store(err) })
				open, carriers[q] = append(open, q), c
			case 1, 2, 3, 4:
				_ = s.Write(rpc.IntID(1), false, fmt.Appendf(nil, "%-100s", fmt.Sprint("1", step)))
			case 5:
				receive(math.MaxInt)
				pending = st.take(reader)
				st.wrote(reader)
			case 6:
				r := round{kept: &s.kept, limit: s.kept.Load() - 100, each: 1000}
				s.mu.Lock()
				s.dropKind(notifications, &r, s.byUse())
				s.mu.Unlock()
			case 7:
				if len(open) > 3 {
					i := random.IntN(len(open))
					carriers[open[i]].Close()
					open = slices.Delete(open, i, i+1)
				}
			default:
				receive(random.IntN(3)) // and the rest is lost with the connection
				s.release(st, reader)
				s.loseUnreadQuestions(st.id(seen))
				reader = st.attach(seen)
			}
		}
		receive(math.MaxInt)
		for more := true; more; {
			pending = st.take(reader)
			more = pending.more
			receive(math.MaxInt)
		}
		for q, l := range lost {
			if read[q] > 1 || read[q] == 0 && l.Load() == nil && slices.Contains(open, q) {
				t.Errorf("seed %d: question %s was read %d times, lost: %v", seed, q, read[q], l.Load())
			}
		}
	}
}
