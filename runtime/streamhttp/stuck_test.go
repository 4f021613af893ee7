package streamhttp

import (
	"bufio"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/server"
)

const cancelOne = `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`

// A response that nobody reads holds up neither the cancellation of its call nor anything else of its session, and nothing that is queued
// of the call is sent after that.
func TestCAN01AResponseThatNobodyReadsHoldsUpNoCancellation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newBubble(t, WithKeepAlive(0), WithReplay(1<<20)) // a comment would wait for the client, too
		session := f.initialize()
		near, err := f.ts.Client().Transport.(*http.Transport).DialContext(t.Context(), "", "")
		if err != nil {
			t.Fatal(err)
		}
		defer near.Close()
		if _, err := io.WriteString(near, rawRequest("1.1", callBody("1", "gate", "x"), session, accept)); err != nil {
			t.Fatal(err)
		}
		<-f.began
		s := f.session(strings.TrimPrefix(session, "Mcp-Session-Id: "))
		said := make(chan struct{})
		go func() { // as a handler that logs
			defer close(said)
			frame := []byte(`{"jsonrpc":"2.0","method":"notifications/message","params":"` + strings.Repeat("x", 60_000) + `"}`)
			for range 100 {
				q := s.Queue(rpc.IntID(1))
				if q == nil {
					return // it is over
				}
				q.AwaitRoom(len(frame))
				if s.Write(rpc.IntID(1), false, frame) != nil {
					return
				}
			}
			t.Error("more is taken than fits")
		}()
		synctest.Wait()
		start := time.Now()
		if resp := f.post(cancelOne, session); resp.StatusCode != http.StatusAccepted {
			t.Errorf("the cancellation is answered with %d", resp.StatusCode)
		}
		<-said
		<-f.causes
		if resp := f.post(`{"jsonrpc":"2.0","id":2,"method":"ping"}`, session); resp.StatusCode != http.StatusOK {
			t.Errorf("the ping is answered with %d", resp.StatusCode)
		}
		if took := time.Since(start); took > 0 {
			t.Errorf("it took %v", took)
		}
		resp, err := http.ReadResponse(bufio.NewReader(near), nil)
		if err != nil {
			t.Fatal(err)
		}
		if b := body(resp); len(b) > 2*60_100 {
			t.Errorf("%d bytes were sent", len(b))
		}
	})
}

// A writer that waits for one response holds up nothing that a cancellation of another call precedes.
func TestCAN01AWriterWaitsOutsideOfTheGate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, dial := newLargeBubble(t)
		session := f.initialize()
		dial(rawRequest("1.1", callBody("1", "large", "x"), session, accept))
		synctest.Wait() // the answer is being written
		start := time.Now()
		f.post(strings.Replace(cancelOne, ":1}", ":7}", 1), session)
		if status, b := f.response(dial(rawRequest("1.1", callBody("2", "echo", "x"), session, accept))); status != http.StatusOK || time.Since(start) > 0 {
			t.Errorf("after %v: %d %s", time.Since(start), status, b)
		}
	})
}

// An answer that waits for its reader is dropped when the client cancels its request after all.
func TestCAN02AQueuedAnswerIsDroppedByItsCancellation(t *testing.T) {
	h := &Endpoint{opts: defaults(), roster: newRoster()}
	s := newSession(t.Context(), h, "id")
	var _ server.Queued = s
	id := rpc.IntID(1)
	st := s.stream(id)
	reader := st.attach(-1)
	defer st.detach(reader)
	s.Cancelled(id) // of an earlier request with this id: this one is not received yet
	st.received = true
	for _, last := range []bool{false, true} {
		if err := s.Write(id, last, []byte(`{}`)); err != nil {
			t.Fatal(err)
		}
	}
	s.Cancelled(id)
	if b := st.take(reader); len(b.events) > 0 || !b.ended {
		t.Errorf("%d events are sent", len(b.events))
	}
	if st.bytes != 0 || st.due.all != 0 || s.kept.Load() != 0 {
		t.Errorf("%d bytes are kept, %d due, %d counted", st.bytes, st.due, s.kept.Load())
	}
}

// An answer that is being written when its client cancels the request counts until its reader has written it, or is gone: its bytes are in memory.
func TestTSK28AnAnswerThatIsCancelledCountsWhileItIsWritten(t *testing.T) {
	const size = 1 << 20
	for name, row := range map[string]struct {
		taken bool
		end   func(s *session, st *stream, reader uint64)
	}{
		"written":         {true, func(_ *session, st *stream, reader uint64) { st.wrote(reader) }},
		"the client left": {true, func(s *session, st *stream, reader uint64) { s.release(st, reader) }},
		"not taken":       {false, func(*session, *stream, uint64) {}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := &Endpoint{opts: defaults(), roster: newRoster()}
				s := newSession(t.Context(), h, "id")
				id := rpc.IntID(1)
				st := s.stream(id)
				st.received = true
				reader := st.attach(-1)
				st.start()
				if err := s.Write(id, true, make([]byte, size)); err != nil {
					t.Fatal(err)
				}
				if row.taken {
					st.take(reader)
				}
				counts := true
				go func() {
					st.AwaitRead(size)
					counts = false
				}()
				synctest.Wait()
				s.Cancelled(id)
				synctest.Wait()
				if counts != row.taken {
					t.Errorf("counts: %v, being written: %v", counts, row.taken)
				}
				row.end(s, st, reader)
				synctest.Wait()
				if counts {
					t.Error("counts for ever")
				}
			})
		})
	}
}
