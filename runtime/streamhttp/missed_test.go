package streamhttp

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/server"
)

// What is kept for a client gives way to others. Then neither its owner nor whoever reads the stream is left in the dark: resumability says
// only that a server may replay (https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#resumability-and-redelivery).
func TestTSK28WhatGaveWayIsMissedAloud(t *testing.T) {
	for name, row := range map[string]struct {
		limit  int
		ends   bool
		forget func(s *session)
		after  int
		missed bool
	}{
		"an answer":                  {1 << 20, true, (*session).dropIdle, 1, true},
		"an answer that was read":    {1 << 20, true, (*session).dropIdle, 2, false},
		"before an answer to come":   {1 << 20, false, (*session).dropIdle, 1, true},
		"the beginning of a stream":  {15, false, func(*session) {}, 0, true},
		"what was read of the same":  {15, false, func(*session) {}, 1, false},
		"nothing":                    {1 << 20, true, func(*session) {}, 0, false},
		"many streams before others": {1 << 20, true, func(s *session) { evict(s, rememberedLost-1) }, 1, true},
	} {
		var logged bytes.Buffer
		f := newFixture(t, WithReplay(row.limit), WithLogger(slog.New(slog.NewTextHandler(&logged, nil))))
		session := f.initialize()
		s := f.only()
		st := lostStream(s)
		for i := range 2 {
			if err := st.add(text10(i), row.ends && i == 1); err != nil {
				t.Fatal(err)
			}
		}
		row.forget(s)
		id := eventID{stream: st.number, number: row.after}
		for range 2 {
			resp := f.do(f.request(http.MethodGet, "", session, "Last-Event-ID: "+string(id.appendTo(nil))))
			first, err := bufio.NewReader(resp.Body).ReadString('\n')
			if told := strings.HasPrefix(first, ": messages after Last-Event-ID"); err != nil || told != row.missed {
				t.Errorf("%s: the stream begins with %q, %v", name, first, err)
			}
			resp.Body.Close()
		}
		f.h.records.Flush(t.Context())
		n := strings.Count(logged.String(), "came back for messages that gave way")
		if n > 0 != row.missed || n > 2 {
			t.Errorf("%s: logged %d times: %s", name, n, logged.String())
		}
	}
}

// LET13: the request of a client that comes back for an answer which is too large to be kept ends with an error, also in a batch.
func TestLET13TSK28AnAnswerThatIsTooLargeToBeKeptIsAnError(t *testing.T) {
	for _, away := range []bool{false, true} {
		for _, batched := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				f := newBubble(t, WithReplay(1000), WithKeepAlive(0))
				session, request, ids := f.initialize(), callBody("1", "steps", strings.Repeat("x", 5000)), []string{"1"}
				if batched {
					session, request, ids = f.march(), "["+request+","+callBody("2", "echo", "x")+"]", []string{"1", "2"}
				}
				s, lose := f.lost(request, session)
				told := s.message()
				<-f.began
				if away {
					lose()
				}
				f.release <- struct{}{}
				synctest.Wait()
				lose()
				again := f.back(session, told.id)
				if e, _ := again.next(); !e.comment {
					t.Errorf("not told that something is missing: %.300q", e.data)
				}
				answers := []string{again.message().data}
				again.end()
				if batched {
					answers = f.array(answers[0])
				}
				var got []string
				for _, answer := range answers {
					if field(answer, "error", "code") != "-32603" || !strings.Contains(answer, "too large to be kept") {
						t.Errorf("%.300q", answer)
					}
					got = append(got, field(answer, "id"))
				}
				if slices.Sort(got); !slices.Equal(got, ids) {
					t.Errorf("errors for %v, want %v", got, ids)
				}
			})
		}
	}
}

// LET13: so do the requests of a batch whose answers came in several arrays.
func TestLET13TSK28AnEarlyArrayThatIsTooLargeToBeKeptIsErrors(t *testing.T) {
	f := newFixture(t, WithReplay(2000), WithKeepAlive(0))
	session := f.march()
	st := lostStream(f.only())
	st.batched = true
	answer := func(id string, size int) string {
		return `{"jsonrpc":"2.0","id":` + id + `,"result":{"text":"` + strings.Repeat("x", size) + `"}}`
	}
	for i, array := range []string{answer("1", 2000) + "," + answer(`"a"`, 10), answer("2", 1800), answer("3", 10)} {
		if err := st.add([]byte("["+array+"]"), i == 2); err != nil {
			t.Fatal(err)
		}
	}
	id := eventID{stream: st.number, number: 0}
	again := f.back(session, string(id.appendTo(nil)))
	got := map[string]bool{} // whether the answer is an error
	for range 3 {
		for _, answer := range f.array(again.message().data) {
			got[field(answer, "id")] = field(answer, "error", "code") == "-32603"
		}
	}
	again.end()
	if want := map[string]bool{"1": true, `"a"`: true, "2": true, "3": false}; !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// What was dropped for another reason costs no answer that there is room for.
func TestLET13AnArrayThatFitsIsKept(t *testing.T) {
	f := newFixture(t, WithKeepAlive(0))
	session := f.march()
	st := lostStream(f.only())
	st.batched = true
	question := &carrier{}
	for i, e := range []storedEvent{
		{frame: []byte(`{"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{}}`), question: question},
		{frame: []byte(`[{"jsonrpc":"2.0","id":1,"result":{"text":"` + strings.Repeat("x", 200) + `"}}]`)},
		{frame: []byte(`[{"jsonrpc":"2.0","id":2,"result":{}}]`)},
	} {
		if err := st.addEvent(e, i == 2); err != nil {
			t.Fatal(err)
		}
	}
	st.dropQuestion(question) // it was answered on another stream
	again := f.back(session, string(eventID{stream: st.number}.appendTo(nil)))
	if m := again.message().data; !strings.Contains(m, "xxx") {
		t.Error(m)
	}
	again.message()
	again.end()
}

// LET13, CAN24: an early array that is too large to be kept does not lose the stream of its batch: the requests in it end with errors, and the others
// are answered.
func TestLET13CAN24AnEarlyArrayThatIsTooLargeCostsNoOtherAnswer(t *testing.T) {
	for _, away := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			f := newBubble(t)
			more := make(chan struct{})
			f.srv = newServer(t, append(f.tools(), tool("large", func(context.Context, *server.Call, *input) (*output, error) {
				<-more
				return &output{strings.Repeat("x", 1<<20)}, nil
			})), server.WithMaxBytesInFlight(1<<20))
			f.h = Handler(f.srv, WithReplay(64<<10), WithKeepAlive(0))
			session := f.march()
			s, lose := f.lost("["+callBody("1", "steps", "x")+","+callBody("2", "large", "")+"]", session)
			told := s.message()
			<-f.began
			if away {
				lose()
			}
			close(more)
			synctest.Wait()
			lose()
			again := f.back(session, told.id)
			if e, _ := again.next(); !e.comment {
				t.Errorf("not told that something is missing: %.300q", e.data)
			}
			if got := f.array(again.message().data); len(got) != 1 || field(got[0], "id") != "2" || !strings.Contains(got[0], "too large to be kept") {
				t.Errorf("in place of the large answer: %.300q", got)
			}
			f.release <- struct{}{}
			if got := f.array(again.message().data); len(got) != 1 || field(got[0], "id") != "1" || field(got[0], "result") == "" {
				t.Errorf("the other answer: %.300q", got)
			}
			again.end()
		})
	}
}

// What is too large to be kept gives way alone, wherever it is in a stream whose request is in flight.
func TestLET13TSK28WhatIsTooLargeGivesWayAlone(t *testing.T) {
	note := func(size int) string { return `{"method":"n","params":"` + strings.Repeat("x", size) + `"}` }
	array := func(id, size int) string {
		return fmt.Sprintf(`[{"jsonrpc":"2.0","id":%d,"result":"%s"}]`, id, strings.Repeat("x", size))
	}
	many := make([]string, 100) // errors in place of these are too large, too
	for i := range many {
		many[i] = strings.Trim(array(i, 100), "[]")
	}
	for name, row := range map[string]struct {
		batched bool
		events  []string
		want    string
	}{
		"an array":                     {true, []string{array(1, 5000), array(2, 1)}, "error 1, result 2"},
		"an array after others":        {true, []string{note(1), array(1, 400), array(2, 5000), note(1), array(3, 1)}, "note, result 1, error 2, note, result 3"},
		"an array after errors":        {true, []string{array(1, 5000), array(2, 5000), array(3, 1)}, "error 1, error 2, result 3"},
		"every array":                  {true, []string{array(1, 5000), note(1), array(2, 5000)}, "error 1, note, error 2"},
		"an array of many":             {true, []string{"[" + strings.Join(many, ",") + "]", array(200, 1)}, "result 200"},
		"a notification of a batch":    {true, []string{note(5000), array(1, 1)}, "result 1"},
		"a notification":               {false, []string{note(1), note(5000), strings.Trim(array(1, 1), "[]")}, "note, result 1"},
		"an answer":                    {false, []string{note(1), strings.Trim(array(1, 5000), "[]")}, "note, error 1"},
		"a notification and an answer": {false, []string{note(5000), strings.Trim(array(1, 5000), "[]")}, "error 1"},
	} {
		h := &Endpoint{opts: defaults(), roster: newRoster()}
		h.opts.replay = 1000
		s := newSession(t.Context(), h, "id")
		st := lostStream(s)
		st.batched, st.about = row.batched, rpc.IntID(1)
		for i, e := range row.events {
			if err := st.add([]byte(e), i == len(row.events)-1); err != nil {
				t.Fatalf("%s: event %d: %v", name, i, err)
			}
			s.bound()
			if n := s.kept.Load(); n > s.limit() {
				t.Errorf("%s: %d bytes are kept", name, n)
			}
		}
		if got := said(st.take(st.attach(0)).events); got != row.want || !st.lacks(0) {
			t.Errorf("%s: the client gets %s", name, got)
		}
	}
}

// LET13: neither does a client miss how a request ended whose array its lost connection took, and which gave way to later messages.
func TestLET13CAN24AnArrayThatALostConnectionTookIsErrors(t *testing.T) {
	st := newStream(1, streamLimits{replay: 1000, answer: 4000, pending: 1000}, new(atomic.Int64), new(pools).alarm())
	st.batched = true
	reader := st.attach(-1)
	st.start()
	add := func(id, size int) {
		t.Helper()
		if err := st.add(fmt.Appendf(nil, `[{"id":%d,"result":"%s"}]`, id, strings.Repeat("x", size)), false); err != nil {
			t.Fatal(err)
		}
	}
	add(1, 600)
	st.take(reader)
	st.wrote(reader)
	add(2, 600)
	add(3, 10)
	if got := said(st.take(reader).events); got != "result 2, result 3" {
		t.Errorf("who is there gets %s", got)
	}
	st.wrote(reader)
	st.detach(reader)
	if got := said(st.take(st.attach(0)).events); got != "error 1, result 2, result 3" {
		t.Errorf("who comes back gets %s", got)
	}
}

// Nor does a message for listeners that is too large to be kept, whether nobody listens yet or a lost connection took it.
func TestTSK28WhatIsTooLargeForAListenerGivesWayAlone(t *testing.T) {
	for _, listened := range []bool{false, true} {
		h := &Endpoint{opts: defaults(), roster: newRoster()}
		h.opts.replay = 1000
		s := newSession(t.Context(), h, "id")
		write := func(frames ...string) {
			for _, frame := range frames {
				if err := s.Write(rpc.ID{}, false, []byte(frame)); err != nil {
					t.Fatal(err)
				}
			}
		}
		frames := []string{`{"id":1,"result":{}}`, strings.Repeat("x", 5000), `{"id":2,"result":{}}`}
		st := s.listen()
		if listened {
			st.start()
			reader := st.attach(-1)
			s.addReader(st)
			write(frames...)
			st.take(reader)
			st.wrote(reader)
			s.release(st, reader)
		} else {
			write(frames...)
		}
		if n := h.kept.Load(); n > s.limit() {
			t.Errorf("listened %v: %d bytes are kept", listened, n)
		}
		reader := st.attach(0)
		s.addReader(st)
		if got := said(st.take(reader).events); got != "result 1, result 2" {
			t.Errorf("listened %v: the client gets %s", listened, got)
		}
		s.release(st, reader)
	}
}

// said is what kind of events there are, with the ids of answers.
func said(events [][]byte) string {
	var all []string
	for _, e := range events {
		answer := strings.Trim(string(e), "[]")
		switch {
		case field(answer, "error") != "":
			all = append(all, "error "+field(answer, "id"))
		case field(answer, "result") != "":
			all = append(all, "result "+field(answer, "id"))
		case e != nil:
			all = append(all, "note")
		}
	}
	return strings.Join(all, ", ")
}

// lostStream is a new stream whose client knows an event and has lost its connection.
func lostStream(s *session) *stream {
	s.mu.Lock()
	st := s.newStream()
	s.mu.Unlock()
	st.start()
	st.detach(st.attach(-1))
	return st
}

// evict has n more streams give way.
func evict(s *session, n int) {
	for range n {
		st := lostStream(s)
		_ = st.add(text10(1), true)
	}
	s.dropIdle()
}
