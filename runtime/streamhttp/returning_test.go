package streamhttp

import (
	"fmt"
	"maps"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/mcpkiln/mcpkiln/runtime/rpc"
)

// LET13, CAN30: whatever gives way to what else is kept, the stream of a request in flight stays: its client comes back for the answer, or for the
// question that is open, and for nothing else.
func TestLET13TSK28ARequestInFlightKeepsItsStream(t *testing.T) {
	for _, tool := range []string{"gate", "ask"} {
		for name, crowd := range map[string]func(f *fixture, session string){
			"of the session": (*fixture).chatter,
			"of all":         func(f *fixture, _ string) { f.only().dropIdle() },
		} {
			synctest.Test(t, func(t *testing.T) {
				f := newBubble(t, WithKeepAlive(0), WithReplay(1000))
				session := f.initialize()
				s, lose := f.lost(callBody("1", tool, "here"), session)
				primed, _ := s.next()
				lose()
				crowd(f, session)
				synctest.Wait()
				again := f.back(session, primed.id)
				switch {
				case tool == "gate":
					f.release <- struct{}{}
				case name == "of the session":
					f.accept(session, again.question())
				}
				if m := again.message().data; field(m, "id") != "1" || field(m, "result") == "" {
					t.Errorf("%s, limit %s: %s", tool, name, m)
				}
				again.end()
			})
		}
	}
}

// chatter has calls whose clients are away notify more than the session keeps.
func (f *fixture) chatter(session string) {
	for id := int64(2); id < 9; id++ {
		s, lose := f.lost(callBody(fmt.Sprint(id), "hang", ""), session)
		s.next()
		lose()
		for range 9 {
			if err := f.only().Write(rpc.IntID(id), false, note100()); err != nil {
				f.t.Fatal(err)
			}
		}
	}
}

// CAN24: of a batch in flight the answers that are there become errors, and those that follow come.
func TestLET13CAN24ABatchInFlightKeepsItsStream(t *testing.T) {
	s, st := keptAway(t)
	st.batched, st.about = true, rpc.IntID(1)
	add := func(id, size int, last bool) {
		t.Helper()
		if err := st.add(fmt.Appendf(nil, `[{"id":%d,"result":"%s"}]`, id, strings.Repeat("x", size)), last); err != nil {
			t.Fatal(err)
		}
	}
	add(2, 500, false)
	s.dropKind(answers, everything(s), s.byUse())
	add(3, 10, true)
	if got := said(st.take(st.attach(0)).events); got != "error 2, result 3" {
		t.Errorf("the client gets %s", got)
	}
}

// Notifications that give way behind an open question leave nothing that grows.
func TestTSK28WhatGaveWayBehindAQuestionTakesNoMemory(t *testing.T) {
	s, st := keptAway(t)
	lost := s.asked(t, 1, 100)
	for range 50 {
		for range 5 {
			if err := s.Write(rpc.IntID(1), false, note100()); err != nil {
				t.Fatal(err)
			}
		}
		st.dropKind(notifications, everything(s))
	}
	if len(st.events) != 1 || lost.Load() != nil || contents(st.take(st.attach(0)).events) != "?" {
		t.Errorf("%d events are kept, lost: %v", len(st.events), lost.Load())
	}
}

// LET13: of more streams than are kept, the surplus ends with errors for its requests. Clients that come back for these cost no other answer.
func TestLET13TSK28OnlyTheSurplusOfStreamsIsLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newBubble(t, WithKeepAlive(0))
		session := f.initialize()
		var last []string
		for id := range int64(keptStreams + 4) {
			last = append(last, f.answeredAway(id))
		}
		got := map[string]int{}
		for id, after := range last {
			s := f.back(session, after)
			m := s.message().data
			s.end()
			switch {
			case field(m, "id") != fmt.Sprint(id):
				t.Errorf("request %d: %s", id, m)
			case field(m, "error", "code") == "-32603" && strings.Contains(m, "not kept any more"):
				got["errors"]++
			case field(m, "result") != "":
				got["answers"]++
			}
		}
		if got["errors"] > 4 || got["errors"]+got["answers"] != len(last) {
			t.Errorf("%v", got)
		}
	})
}

// answeredAway is the event to resume after of a request that was answered while its client was away.
func (f *fixture) answeredAway(id int64) string {
	f.t.Helper()
	s := f.only()
	st := s.stream(rpc.IntID(id))
	st.start()
	s.release(st, st.attach(-1))
	if err := s.Write(rpc.IntID(id), true, fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"result":{}}`, id)); err != nil {
		f.t.Fatal(err)
	}
	return string(st.id(0).appendTo(nil))
}

// What was written to its end gives way before an answer that nobody has read, however old that is: streams of requests, and listeners.
func TestLET13TSK28WhatWasWrittenGivesWayFirst(t *testing.T) {
	for _, listeners := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			f := newBubble(t, WithKeepAlive(0))
			session := f.initialize()
			after := f.answeredAway(1)
			s := f.only()
			for id := range int64(2 * keptStreams) {
				if listeners {
					st := s.listen()
					reader := st.attach(-1)
					s.addReader(st)
					s.release(st, reader)
					continue
				}
				st := s.stream(rpc.IntID(id + 2))
				st.start()
				reader := st.attach(-1)
				_ = s.Write(rpc.IntID(id+2), true, text10(1))
				st.take(reader)
				st.wrote(reader)
				s.release(st, reader)
			}
			again := f.back(session, after)
			if m := again.message().data; field(m, "result") == "" {
				t.Errorf("listeners %v: %s", listeners, m)
			}
			again.end()
		})
	}
}

// A client that has read the answer is none that misses it.
func TestLET13WhoHasReadTheAnswerGetsAListener(t *testing.T) {
	s, st := keptAway(t)
	st.about = rpc.IntID(1)
	_ = st.add(note100(), true)
	s.dropIdle()
	want := map[int]bool{0: true, 1: false}
	got := map[int]bool{}
	for after := range want {
		got[after] = s.resume(string(st.id(after).appendTo(nil))).refused != nil
	}
	if !maps.Equal(got, want) {
		t.Errorf("refused: %v", got)
	}
}
