package client_test

import (
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/client"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
)

// breaking is a connection that can be read for ever. Once it is stuck, its writes wait for a value of breaks, and fail.
type breaking struct {
	rpc.Conn
	stuck  atomic.Bool
	breaks chan error
}

// WriteFrame implements rpc.Conn.
func (c *breaking) WriteFrame(frame []byte) error {
	if c.stuck.Load() {
		return <-c.breaks
	}
	return c.Conn.WriteFrame(frame)
}

// Requests that can not be written any more end at once with the error of the connection: the one being written, and those in the queue. One that
// was written before still gets its answer.
func TestRequestsThatCanNotBeWrittenEndAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ours, theirs := rpc.Pipe()
		conn := &breaking{Conn: ours, breaks: make(chan error)}
		s, p := meetOver(t, conn, theirs, "2025-11-25", offers)
		written := start(t.Context(), s, "written")
		m := p.expect("tools/call")
		conn.stuck.Store(true)
		var unwritten []<-chan result
		for range 3 {
			unwritten = append(unwritten, start(t.Context(), s, "x"))
			synctest.Wait()
		}
		began := time.Now()
		conn.breaks <- errors.New("no space left")
		unwritten = append(unwritten, start(t.Context(), s, "x"))
		for i, call := range unwritten {
			r := <-call
			var lost *client.TransportError
			if !errors.As(r.err, &lost) || !strings.HasSuffix(r.err.Error(), "no space left") || strings.Count(r.err.Error(), "client:") != 1 {
				t.Errorf("%d: %v", i, r.err)
			}
		}
		if waited := time.Since(began); waited > 0 {
			t.Errorf("they ended after %v", waited)
		}
		p.answer(m, `{"content":[]}`)
		if r := <-written; r.err != nil {
			t.Error(r.err)
		}
	})
}

// A request that is too large for a connection ends alone: the connection goes on.
func TestVAL07ARequestThatIsTooLargeEndsAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, p := meet(t, "2025-11-25")
		large := map[string]string{"text": strings.Repeat("a", rpc.DefaultMaxFrame)}
		_, err := s.CallTool(t.Context(), "x", large)
		var frame *rpc.FrameError
		if !errors.As(err, &frame) || !errors.As(err, new(*client.TransportError)) {
			t.Error(err)
		}
		go p.each(func(m message) { p.answer(m, `{"content":[]}`) })
		if _, err := s.CallTool(t.Context(), "x", nil); err != nil {
			t.Error(err)
		}
	})
}
