package streamhttp

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/mcpkiln/mcpkiln/runtime/rpc"
)

// lost posts a request and returns its stream, which the test can lose.
func (f *fixture) lost(body, session string) (s *events, lose func()) {
	f.t.Helper()
	ctx, cancel := context.WithCancel(f.t.Context())
	return f.events(f.do(f.request(http.MethodPost, body, session).WithContext(ctx))), func() {
		cancel()
		synctest.Wait()
	}
}

// back is the stream of a client that comes back after the event.
func (f *fixture) back(session, after string) *events {
	f.t.Helper()
	return f.listen(session, "Last-Event-ID: "+after)
}

// withdraws holds a message against the withdrawal of the question.
func withdraws(t *testing.T, message, question string) {
	t.Helper()
	if field(message, "method") != `"notifications/cancelled"` || field(message, "params", "requestId") != field(question, "id") {
		t.Errorf("want the withdrawal of %s, got %s", question, message)
	}
}

// Whatever was said before a cancellation is not said again after it, whether a connection took it or not. The client hears that the question
// is withdrawn, as one that it may have read: on the stream of the request if a connection took it there, else from its listener.
func TestCAN02AResumedStreamSaysNothingOfACancelledRequest(t *testing.T) {
	for _, how := range []string{"connected", "cut", "cut before the question", "resumed once", "answered"} {
		for _, listens := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				t.Log(how, listens)
				f := newBubble(t, WithKeepAlive(0))
				session := f.initialize()
				var listener *events
				if listens {
					listener = f.listen(session)
				}
				text := "ask"
				if how == "answered" {
					text = "x"
				}
				s, lose := f.lost(callBody("1", "strict", text), session)
				primed, _ := s.next()
				s.message()
				if <-f.began; how == "cut before the question" {
					lose()
				}
				f.release <- struct{}{}
				if synctest.Wait(); how != "cut before the question" {
					s.message()
				}
				if how == "cut" || how == "resumed once" {
					lose()
				}
				if how == "resumed once" {
					again, loseAgain := f.comeBack(session, primed.id)
					again.message()
					loseAgain()
				}
				f.want(f.post(cancelOne, session), 202)
				synctest.Wait()
				var told []string
				again := f.back(session, primed.id)
				for m, ok := again.next(); ok; m, ok = again.next() {
					if m.data != "" {
						told = append(told, m.data)
					}
				}
				if how == "answered" {
					if told != nil {
						t.Errorf("told %s", told)
					}
					return
				}
				if told == nil { // no connection of the stream took the withdrawal before it ended
					if !listens {
						listener = f.listen(session)
					}
					told = append(told, listener.message().data)
				}
				if len(told) != 1 || field(told[0], "method") != `"notifications/cancelled"` || field(told[0], "params", "requestId") == "" {
					t.Errorf("want a withdrawal alone, got %s", told)
				}
			})
		}
	}
}

// comeBack is back, of a connection that the test can lose.
func (f *fixture) comeBack(session, after string) (s *events, lose func()) {
	f.t.Helper()
	ctx, cancel := context.WithCancel(f.t.Context())
	r := f.request(http.MethodGet, "", session, "Last-Event-ID: "+after)
	return f.events(f.do(r.WithContext(ctx))), func() {
		cancel()
		synctest.Wait()
	}
}

// Progress of one request of a batch is dropped when that is cancelled; what is said of the others is not, and keeps its ids.
func TestPRO01ProgressOfACancelledRequestOfABatchIsNotResumed(t *testing.T) {
	for cancelled := range 2 {
		for _, cut := range []bool{true, false} {
			synctest.Test(t, func(t *testing.T) {
				f := newBubble(t, WithKeepAlive(0))
				session := f.march()
				member := func(id string) string {
					return strings.Replace(callBody(id, "steps", "x"), `"progressToken":1`, `"progressToken":`+id, 1)
				}
				s, lose := f.lost(`[`+member("0")+`,`+member("1")+`]`, session)
				told := []event{s.message(), s.message()}
				if cut {
					lose()
				}
				<-f.began
				<-f.began
				f.want(f.post(strings.Replace(cancelOne, ":1}", fmt.Sprintf(":%d}", cancelled), 1), session), 202)
				<-f.causes
				again := f.back(session, strings.Replace(told[0].id, ".1", ".0", 1))
				for _, e := range told {
					if field(e.data, "params", "progressToken") == fmt.Sprint(cancelled) {
						continue
					}
					if got := again.message(); got != e {
						t.Errorf("want %+v, got %+v", e, got)
					}
				}
				f.release <- struct{}{}
				answers := again.message()
				if strings.Count(answers.data, `"id":`) != 1 || !strings.Contains(answers.data, fmt.Sprintf(`"id":%d`, 1-cancelled)) {
					t.Errorf("answers %s", answers.data)
				}
				again.end()
				// The answer that was taken is dropped, too, by a late cancellation of the other one.
				f.want(f.post(strings.Replace(cancelOne, ":1}", fmt.Sprintf(":%d}", 1-cancelled), 1), session), 202)
				f.back(session, strings.Replace(told[0].id, ".1", ".0", 1)).end()
			})
		}
	}
}

// What was permitted before a cancellation and written after it has no stream any more, and goes to nobody.
func TestPRO01WhatComesAfterItsStreamGoesToNobody(t *testing.T) {
	h := &Endpoint{opts: defaults(), roster: newRoster()}
	s := newSession(t.Context(), h, "id")
	id := rpc.IntID(1)
	s.stream(id)
	if err := s.Write(id, true, nil); err != nil {
		t.Fatal(err)
	}
	if err := s.Write(id, false, []byte(`{}`)); err != errGone {
		t.Errorf("written: %v", err)
	}
	if _, err := s.Ask(id, []byte(`{}`), func(err error) { t.Error(err) }); err != errGone {
		t.Errorf("asked: %v", err)
	}
	if len(s.backlog) != 0 {
		t.Errorf("kept: %d events", len(s.backlog))
	}
}

// A writer that waits until its message is read goes on when that is dropped.
func TestPRO01WhatIsDroppedIsNotWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &Endpoint{opts: defaults(), roster: newRoster()}
		s := newSession(t.Context(), h, "id")
		about, id := rpc.StringID("batch"), rpc.IntID(1)
		st := s.batchStream(about, []rpc.ID{id, rpc.IntID(2)})
		st.attach(-1)
		large := make([]byte, keptBuffer+1)
		if err := s.Write(id, false, large); err != nil {
			t.Fatal(err)
		}
		waited := make(chan bool)
		go func() { waited <- st.AwaitRead(len(large)) }()
		synctest.Wait()
		_ = s.Write(id, true, nil)
		if <-waited {
			t.Error("it was read")
		}
		if st.bytes != 0 || st.behind.all != 0 || st.due.all != 0 {
			t.Errorf("%d bytes are kept, %d behind, %d due", st.bytes, st.behind, st.due)
		}
	})
}

// A question that moved to another stream is not asked again on the one that it was lost with, and its withdrawal is heard, also when the
// request for the result is cancelled.
func TestTSK19AQuestionThatMovedIsNotAskedAgain(t *testing.T) {
	for _, cancelled := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			f := newAskingBubble(t)
			session := f.initialize()
			id := f.create(session)
			first, lose := f.stream(session, "1", id)
			primed, _ := first.next()
			old := first.question()
			lose()
			afterNotice()
			listener, _ := f.stream(session, "", "")
			q := listener.question()
			if cancelled {
				f.post(cancelOne, session)
				synctest.Wait()
			}
			again := f.back(session, primed.id)
			if cancelled {
				again.end()
				withdraws(t, listener.message().data, old)
				return
			}
			withdraws(t, again.message().data, old)
			f.answered(again, session, q)
		})
	}
}

// A question that is answered is not asked again, and what comes after it keeps its ids.
func TestTSK19AnAnsweredQuestionIsNotAskedAgain(t *testing.T) {
	for _, asTask := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			f := newAskingBubble(t)
			session := f.initialize()
			request := callBody("1", "ask", "")
			if asTask {
				request = fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tasks/result","params":{"taskId":%q}}`, f.create(session))
			}
			s, lose := f.lost(request, session)
			primed, _ := s.next()
			q := s.message()
			lose()
			f.post(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"action":"accept","content":{"text":"yes"}}}`, field(q.data, "id")), session)
			synctest.Wait()
			for _, after := range []string{primed.id, q.id} {
				again := f.back(session, after)
				if e := again.message(); !strings.Contains(e.data, "accept yes") || e.id != strings.Replace(q.id, ".1", ".2", 1) {
					t.Errorf("after %s: %+v", after, e)
				}
				again.end()
			}
		})
	}
}

// A question that is over leaves the messages that wait for a listener, and the streams of listeners.
func TestTSK19ASessionIsNotAskedWhatIsOver(t *testing.T) {
	for _, listens := range []bool{false, true} {
		h := &Endpoint{opts: defaults(), roster: newRoster()}
		s := newSession(t.Context(), h, "id")
		st := s.listen()
		reader := st.attach(-1)
		if listens {
			s.addReader(st)
		}
		for _, text := range []string{`{"n":1}`, `{"n":2}`, `{"n":3}`} {
			question, err := s.Ask(rpc.ID{}, []byte(text), func(err error) { t.Error(err) })
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(text, "2") {
				defer question.Close()
				continue
			}
			question.Close()
		}
		if !listens {
			s.addReader(st)
		}
		var got []string
		for _, frame := range st.take(reader).events {
			if frame != nil {
				got = append(got, string(frame))
			}
		}
		if len(got) != 1 || got[0] != `{"n":2}` {
			t.Errorf("listens %v: asked %q", listens, got)
		}
		s.release(st, reader)
		if s.backlogged != 0 {
			t.Errorf("%d bytes are kept", s.backlogged)
		}
	}
}

// What was dropped because it was over is nothing that a client misses.
func TestCAN02NothingIsMissedOfACancelledRequest(t *testing.T) {
	for _, forgotten := range []bool{false, true} {
		h := &Endpoint{opts: defaults(), roster: newRoster()}
		s := newSession(t.Context(), h, "id")
		id := rpc.IntID(1)
		st := s.stream(id)
		st.start()
		st.detach(st.attach(-1))
		for range 3 {
			if err := s.Write(id, false, []byte(`{}`)); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.Write(id, true, nil); err != nil {
			t.Fatal(err)
		}
		if forgotten {
			s.dropIdle()
		}
		if got := s.resume(string(st.id(0).appendTo(nil))); got.missed || got.refused != nil || s.kept.Load() != 0 {
			t.Errorf("%+v, %d bytes are kept", got, s.kept.Load())
		}
	}
}
