package server

import (
	"errors"
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
	lent   rpc.Lending // conn, if it is one
	failed chan error  // why the connection is of no use, nil when its Close returns that; has room for one
	opened time.Time

	writing atomic.Int64 // bytes of large frames that are being written
	moved   atomic.Int64 // when the last of them was taken, or the first one came, after opened
	ended   atomic.Bool  // the connection, because nothing is taken
}

func newConnOutlet(conn rpc.Conn) *connOutlet {
	lent, _ := conn.(rpc.Lending)
	return &connOutlet{conn: conn, lent: lent, failed: make(chan error, 1), opened: time.Now()}
}

// Write implements Outlet. A write that failed ends the connection: every later one would fail, too.
func (o *connOutlet) Write(_ rpc.ID, last bool, frame []byte) error {
	if len(frame) == 0 {
		return nil
	}
	err := o.write(frame, last)
	if err != nil {
		o.end(nil)
	}
	return err
}

// write counts what is large enough to count among the unread answers.
func (o *connOutlet) write(frame []byte, last bool) error {
	size := int64(len(frame))
	if size <= smallAnswer {
		return o.hand(frame, last)
	}
	if o.writing.Load() == 0 {
		o.move()
	}
	o.writing.Add(size)
	err := o.hand(frame, last)
	o.move()
	o.writing.Add(-size)
	return err
}

// hand gives the connection a frame; the buffer of one that is last is nobody else's.
func (o *connOutlet) hand(frame []byte, last bool) error {
	if last && o.lent != nil {
		return o.lent.WriteLent(frame)
	}
	return o.conn.WriteFrame(frame)
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
