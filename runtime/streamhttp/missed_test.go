package streamhttp

import (
	"bufio"
	"bytes"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
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
		"an answer that is to come":  {1 << 20, false, (*session).dropIdle, 2, true},
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
	for i, e := range []storedEvent{
		{frame: []byte(`{"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{}}`), question: 7},
		{frame: []byte(`[{"jsonrpc":"2.0","id":1,"result":{"text":"` + strings.Repeat("x", 200) + `"}}]`)},
		{frame: []byte(`[{"jsonrpc":"2.0","id":2,"result":{}}]`)},
	} {
		if err := st.addEvent(e, i == 2); err != nil {
			t.Fatal(err)
		}
	}
	st.dropQuestion(7) // it was answered on another stream
	again := f.back(session, string(eventID{stream: st.number}.appendTo(nil)))
	if m := again.message().data; !strings.Contains(m, "xxx") {
		t.Error(m)
	}
	again.message()
	again.end()
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
