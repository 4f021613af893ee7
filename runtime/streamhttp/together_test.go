package streamhttp

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/mcpkiln/mcpkiln/runtime/rpc"
)

// spelledID is an id as a client wrote it.
func spelledID(t *testing.T, token string) rpc.ID {
	t.Helper()
	id, err := rpc.ParseID([]byte(token))
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// The answer to one request of a batch leaves the array when it is cancelled late: before the array is there, while it waits for its
// reader, and while it waits for a client that is away.
func TestCAN02ALateCancellationTakesItsAnswerOutOfTheArray(t *testing.T) {
	const array = `[{"jsonrpc":"2.0","id":1.0,"result":{}},{"jsonrpc":"2.0","id":"1","result":{}},{"jsonrpc":"2.0","id":3,"error":{"code":-32601,"message":"m"}}]`
	about := rpc.StringID("batch")
	for name, c := range map[string]struct {
		before, after []string // the array is there
		left          string
	}{
		"before":          {before: []string{"1"}, left: `["1",3]`},
		"after":           {after: []string{"10e-1"}, left: `["1",3]`},
		"twice":           {before: []string{"3"}, after: []string{"3.0", "3"}, left: `[1.0,"1"]`},
		"another type":    {after: []string{`"3"`, `"\u0031"`}, left: `[1.0,3]`},
		"nobody's":        {before: []string{"4"}, after: []string{"5"}, left: `[1.0,"1",3]`},
		"all, before":     {before: []string{"1", `"1"`, "3"}},
		"all, after":      {after: []string{"1", `"1"`, "3"}},
		"all, by and by":  {before: []string{"1"}, after: []string{`"1"`, "3"}},
		"nothing of that": {left: `[1.0,"1",3]`},
	} {
		for _, away := range []bool{false, true} {
			h := &Endpoint{opts: defaults(), roster: newRoster()}
			s := newSession(t.Context(), h, "id")
			st := s.batchStream(about, []rpc.ID{spelledID(t, "1.0"), spelledID(t, `"1"`), spelledID(t, "3")})
			reader := st.attach(-1)
			s.Cancelled(spelledID(t, "1")) // of an earlier request
			st.received = true
			if away {
				st.start()
				st.detach(reader)
			}
			for _, id := range c.before {
				s.Cancelled(spelledID(t, id))
			}
			if err := s.Write(about, true, []byte(array)); err != nil {
				t.Fatal(err)
			}
			for _, id := range c.after {
				s.Cancelled(spelledID(t, id))
			}
			if away {
				reader = st.attach(0)
			}
			b := st.take(reader)
			if got := idsOf(b.events); got != c.left || !b.ended {
				t.Errorf("%s, away %v: %s is sent, ended %v", name, away, got, b.ended)
			}
			st.wrote(reader)
			s.Cancelled(rpc.IntID(1)) // too late
			st.detach(reader)
			s.remove(st)
			if st.bytes != 0 || st.due.all != 0 || s.kept.Load() != 0 || s.active.size() != 0 {
				t.Errorf("%s, away %v: %d bytes are kept, %d due, %d counted, %d active", name, away, st.bytes, st.due, s.kept.Load(), s.active.size())
			}
		}
	}
}

// idsOf is the ids in arrays of answers.
func idsOf(frames [][]byte) string {
	var all []string
	for _, frame := range frames {
		for _, part := range strings.Split(string(frame), `"id":`)[1:] {
			id, _, _ := strings.Cut(part, ",")
			all = append(all, id)
		}
	}
	if len(all) == 0 {
		return ""
	}
	return "[" + strings.Join(all, ",") + "]"
}

// The same with a client that lost its connection, and cancels before it comes back.
func TestCAN02ALateCancellationOfABatchWhoseClientIsAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, _ := newLargeBubble(t)
		f.release = make(chan struct{})
		session := f.march()
		resp := f.post(`[`+callBody("1", "chatty", "x")+`,`+callBody("2.0", "echo", "x")+`,`+callBody("3", "echo", "x")+`]`, session)
		first := f.events(resp).message()
		resp.Body.Close()
		synctest.Wait()
		f.release <- struct{}{}
		synctest.Wait() // the array waits for its client
		for _, id := range []string{"2", `"3"`} {
			f.want(f.post(strings.Replace(cancelOne, ":1}", ":"+id+"}", 1), session), 202)
		}
		if e := f.listen(session, "Last-Event-ID: "+first.id).message(); strings.Contains(e.data, `"id":2.0`) || !strings.Contains(e.data, `"id":1,`) || !strings.Contains(e.data, `"id":3,`) {
			t.Errorf("what is left: %s", e.data)
		}
	})
}

// A request with the id of one in flight is refused, however it is spelt (CAN08), alone and beside a batch.
func TestLET14AnIDInFlightIsRefusedInAnySpelling(t *testing.T) {
	for open, session := range map[string]func(f *fixture) string{"alone": func(f *fixture) string { return f.initialize() }, "batch": (*fixture).march} {
		for id, others := range map[string][]string{"1": {"1", "1.0", "10e-1"}, "2.0": {"2", "0.2e1"}, `"a"`: {`"\u0061"`}, "1e20": {"100000000000000000000"}, "-0": {"0"}} {
			f := newFixture(t)
			header, text := session(f), callBody(id, "hang", "")
			if open == "batch" {
				text = "[" + text + "]"
			}
			done := make(chan *http.Response)
			go func() { done <- f.post(text, header) }()
			<-f.began
			for _, other := range others {
				f.want(f.post(callBody(other, "echo", "x"), header), 400, "-32600", "a request with this id is in flight", `"id":`)
			}
			f.want(f.post(callBody(`"1"`, "echo", "x"), header), 200, `"id":"1"`)
			f.want(f.post(strings.Replace(cancelOne, ":1}", ":"+others[0]+"}", 1), header), 202)
			<-f.causes
			<-done
			f.want(f.post(callBody(others[0], "echo", "x"), header), 200, `"text":"x"`)
		}
	}
}
