package streamhttp

import (
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/server"
)

// pace is the progress of a write. A client must not read too slowly while others wait for the room that its answers take (TSK28).
type pace struct {
	mu      sync.Mutex
	control http.ResponseController
	writing bool
	ends    bool      // the write can be ended
	moved   time.Time // when the client last read a piece
	ended   bool      // giveUp has ended the write

	ending sync.WaitGroup // of giveUp
}

const (
	piece = 64 << 10 // bytes of one write, which show that the client reads
	small = 4 << 10  // bytes up to which an unread message does not count
)

func (p *pace) begin(control http.ResponseController, now time.Time, ends bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.control, p.writing, p.ends, p.moved, p.ended = control, true, ends, now, false
}

func (p *pace) move() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.moved = time.Now()
}

// end records the end of the write, and reports whether giveUp has ended it.
func (p *pace) end() bool {
	p.mu.Lock()
	p.control, p.writing = http.ResponseController{}, false
	ended := p.ended
	p.mu.Unlock()
	p.ending.Wait() // else its deadline could end the next write
	return ended
}

// why returns the reason for which a write failed with err: server.ErrStalled if it was given up.
func (p *pace) why(err error) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended {
		return fmt.Errorf("%w: %w", server.ErrStalled, err)
	}
	return err
}

// stalls reports whether nothing was read for that long. mu is held.
func (p *pace) stalls(wait time.Duration) bool { return p.writing && time.Since(p.moved) >= wait }

// stalled returns due, the bytes that are to be written, if nothing was read for that long, else 0.
func (p *pace) stalled(wait time.Duration, due int64) int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	if due <= small || !p.stalls(wait) {
		return 0
	}
	return due
}

// giveUp ends a write that has stalled for that long, and with it the connection. It reports whether there was such a write. It does not wait, because
// callers hold locks, and the application's http.ResponseWriter may have one lock for writing and for deadlines.
func (p *pace) giveUp(wait time.Duration) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended || !p.ends || !p.stalls(wait) {
		return false
	}
	p.ended = true
	control := p.control
	p.ending.Go(func() { _ = control.SetWriteDeadline(time.Now()) })
	return true
}

// Stalled implements server.Unread.
func (x *exchange) Stalled(wait time.Duration) (bytes int64, ending bool) {
	return x.d.pace.stalled(wait, x.due.Load()), false
}

// GiveUp implements server.Unread.
func (x *exchange) GiveUp(wait time.Duration) { _ = x.d.pace.giveUp(wait) }

// Stalled implements server.Unread.
func (s *session) Stalled(wait time.Duration) (bytes int64, ending bool) {
	s.eachPace(func(p *pace, due int64) { bytes += p.stalled(wait, due) })
	return bytes, false
}

// GiveUp implements server.Unread: it ends responses. Their clients may resume the streams.
func (s *session) GiveUp(wait time.Duration) {
	s.eachPace(func(p *pace, due int64) {
		if due > small {
			p.giveUp(wait)
		}
	})
}

// EndStalledCopies implements server.Copier. Its client can not come back.
func (x *exchange) EndStalledCopies(wait time.Duration, connected bool) bool {
	return connected && x.d.pace.giveUp(wait)
}

// EndStalledCopies implements server.Copier. A client that resumes the stream gets errors in place of such answers.
func (s *session) EndStalledCopies(wait time.Duration, connected bool) (ended bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for st := range s.streams.values() {
		if st.giveUpLong(wait, connected) {
			ended = true
		}
	}
	return ended
}

// giveUpLong gives up an answer that is in files if nobody has read anything of it for that long; where a reader is attached, only if connected is set.
func (s *stream) giveUpLong(wait time.Duration, connected bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	long := s.longEvent()
	switch {
	case long == 0:
		return false
	case s.reader == 0:
		if time.Since(s.since) < wait {
			return false
		}
	default:
		if p := s.pace.Load(); !connected || p == nil || !p.giveUp(wait) {
			return false
		}
	}
	s.refuseLong(long)
	return true
}

// eachPace visits the responses of the session that are being written, with the bytes that are still to be written.
func (s *session) eachPace(visit func(p *pace, due int64)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for st := range s.streams.values() {
		if p := st.pace.Load(); p != nil {
			visit(p, st.unwritten())
		}
	}
}
