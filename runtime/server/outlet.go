package server

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"sync/atomic"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/inflight"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
)

// ErrStalled is what Serve returns when the peer did not read its answers for five seconds while others waited to be answered
// (TSK28). Over HTTP it is why a response ended for that reason, or because the end of the server waited for it (LateStall).
var ErrStalled = errors.New("server: the peer does not read its answers, and others wait")

// connOutlet writes to a connection, which has one stream for everything.
type connOutlet struct {
	conn   rpc.Conn
	failed chan error // why the connection is of no use, nil when its Close returns that; has room for one
	opened time.Time

	writing atomic.Int64 // bytes of large frames that are being written
	moved   atomic.Int64 // when the last of them was taken, or the first one came, after opened
	ended   atomic.Bool  // the connection, because nothing is taken
}

func newConnOutlet(conn rpc.Conn) *connOutlet {
	return &connOutlet{conn: conn, failed: make(chan error, 1), opened: time.Now()}
}

// Write implements Outlet. A write that failed ends the connection: every later one would fail, too.
func (o *connOutlet) Write(_ rpc.ID, _ bool, frame []byte) error {
	if len(frame) == 0 {
		return nil
	}
	err := o.write(frame)
	if err != nil {
		o.end(nil)
	}
	return err
}

// write counts what is large enough to count among the unread answers.
func (o *connOutlet) write(frame []byte) error {
	size := int64(len(frame))
	if size <= smallAnswer {
		return o.conn.WriteFrame(frame)
	}
	if o.writing.Load() == 0 {
		o.move()
	}
	o.writing.Add(size)
	err := o.conn.WriteFrame(frame)
	o.move()
	o.writing.Add(-size)
	return err
}

func (o *connOutlet) move() { o.moved.Store(int64(time.Since(o.opened))) }

// Stalled implements Unread.
func (o *connOutlet) Stalled(wait time.Duration) (bytes int64, ending bool) {
	if o.ended.Load() {
		return o.writing.Load(), true
	}
	if n := o.writing.Load(); n > 0 && time.Since(o.opened)-time.Duration(o.moved.Load()) >= wait {
		return n, false
	}
	return 0, false
}

// GiveUp implements Unread: it ends the connection, unless large frames are taken still.
func (o *connOutlet) GiveUp(wait time.Duration) {
	if n, _ := o.Stalled(wait); n == 0 && o.writing.Load() > 0 {
		return
	}
	o.ended.Store(true)
	o.end(ErrStalled)
}

// End implements Ender.
func (o *connOutlet) End(cause *inflight.Cause) { o.end(cause.Err) }

// end ends the connection.
func (o *connOutlet) end(why error) {
	select {
	case o.failed <- why:
	default:
	}
}

// How long a peer may read nothing: while others wait for the room that its answers take, the less the more they are, and when it is the end
// that waits, after the grace period (CAN21).
const (
	maxStall  = 5 * time.Second
	minStall  = time.Second
	LateStall = time.Second
)

// stalledPeer is one that reads nothing of some of its answers.
type stalledPeer struct {
	*peer
	out    Unread
	bytes  int64
	ending bool // others wait no longer for it
}

// endStalled ends what peers do not read, the largest first, until that is enough for those who wait.
func (s *Server) endStalled(lacks []lack) {
	if len(lacks) == 0 {
		return
	}
	wait := s.unread.patience(lacks)
	all := s.stalled(wait)
	slices.SortFunc(all, func(a, b stalledPeer) int { return cmp.Compare(b.bytes, a.bytes) })
	for i := range all {
		if p := &all[i]; p.ending {
			p.relieves(lacks)
		}
	}
	for i := range all {
		if p := &all[i]; !p.ending && p.relieves(lacks) {
			s.log.Warn("answers are given up: their client does not read, and others wait", "peer", p.id, "principal", p.principal, "bytes", p.bytes)
			s.readers.hasStalled(p.who)
			p.out.GiveUp(wait)
		}
	}
}

// giveUp ends what a session does not read at its end.
func (p *peer) giveUp() {
	out, ok := p.out.(Unread)
	if !ok {
		return
	}
	if n, _ := out.Stalled(LateStall); n > 0 {
		p.s.log.Warn("answers are given up: their client does not read, and the grace period is over", "peer", p.id, "principal", p.principal, "bytes", n)
		out.GiveUp(LateStall)
	}
}

// stalled are those that have read nothing for that long.
func (s *Server) stalled(wait time.Duration) (all []stalledPeer) {
	s.mu.Lock()
	peers := slices.Collect(maps.Values(s.peers))
	s.mu.Unlock()
	for _, p := range peers {
		if out, ok := p.out.(Unread); ok {
			if n, ending := out.Stalled(wait); n > 0 {
				all = append(all, stalledPeer{p, out, n, ending})
			}
		}
	}
	return all
}

// relieves reports whether the end of what p does not read is of use to somebody, and notes that. Nobody waits for itself. What becomes free is
// for one after the other.
func (p *stalledPeer) relieves(lacks []lack) (useful bool) {
	free := p.bytes
	for i := range lacks {
		l := &lacks[i]
		if l.n > 0 && free > 0 && l.waits != &p.unread && (l.all || l.waits.caller() == &p.account.unread) {
			n := min(l.n, free)
			l.n, free, useful = l.n-n, free-n, true
		}
	}
	return useful
}
