package server

import (
	"cmp"
	"errors"
	"slices"
	"sync/atomic"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/inflight"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
)

// ErrStalled is what Serve returns when the peer did not read its answers for half a minute while others waited to be answered
// (TSK28).
var ErrStalled = errors.New("server: the peer does not read its answers, and others wait")

// connOutlet writes to a connection, which has one stream for everything.
type connOutlet struct {
	conn   rpc.Conn
	failed chan error // why the connection is of no use, nil when its Close returns that; has room for one
	since  time.Time

	writing atomic.Int64 // bytes of large frames that are being written
	moved   atomic.Int64 // when the last of them was taken, or the first one came; since since
	ended   atomic.Bool  // the connection, because nothing is taken
}

func newConnOutlet(conn rpc.Conn) *connOutlet {
	return &connOutlet{conn: conn, failed: make(chan error, 1), since: time.Now()}
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

func (o *connOutlet) move() { o.moved.Store(int64(time.Since(o.since))) }

// stalls tells whether a write has not moved for maxWait.
func (o *connOutlet) stalls() bool {
	return o.writing.Load() > 0 && time.Since(o.since)-time.Duration(o.moved.Load()) >= maxWait
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

// endStalled ends connections whose peers do not read, until what they give back to b is enough for one more answer. p waits for
// that: its own is spared. Over HTTP, writes have a deadline.
func (s *Server) endStalled(p *peer, b *budget) {
	for _, worst := range s.stalled(p, b) {
		o := worst.out.(*connOutlet)
		s.log.Warn("connection ended: its peer does not read, and others wait", "peer", worst.id, "principal", worst.principal, "bytes", o.writing.Load())
		o.end(ErrStalled)
	}
}

// stalled marks and returns the connections to end, those with the most bytes first.
func (s *Server) stalled(p *peer, b *budget) []*peer {
	s.mu.Lock()
	defer s.mu.Unlock()
	missing := b.used.Load() + b.share - b.limit
	var all []*peer
	for _, other := range s.peers {
		o, ok := other.out.(*connOutlet)
		switch {
		case !ok, b != &s.unread && b != &other.account.unread:
		case o.ended.Load():
			missing -= o.writing.Load() // which is about to be given back
		case other != p && o.stalls():
			all = append(all, other)
		}
	}
	written := func(p *peer) int64 { return p.out.(*connOutlet).writing.Load() }
	slices.SortFunc(all, func(a, b *peer) int { return cmp.Compare(written(b), written(a)) })
	n := 0
	for ; n < len(all) && missing > 0; n++ {
		missing -= written(all[n])
		all[n].out.(*connOutlet).ended.Store(true)
	}
	return all[:n]
}
