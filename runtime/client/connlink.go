package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/inflight"
	"github.com/mcpkiln/mcpkiln/runtime/rpc"
	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

// Conn returns a transport over a connection that carries whole frames, such as one end of rpc.Pipe. The session closes it, so it is good
// for one session.
func Conn(c rpc.Conn) Transport { return connTransport{c} }

type connTransport struct{ conn rpc.Conn }

func (t connTransport) reopens() bool { return false }

func (t connTransport) open(_ context.Context, s *Session) (link, error) {
	return newConnLink(s, t.conn, nil), nil
}

// maxQueued is how many bytes may wait for a server that does not read, before requests wait for room.
const maxQueued = 1 << 20

// connLink carries messages over a connection. One goroutine reads. Where a connection can take a frame without waiting, the caller writes it; else
// another goroutine does, so that a caller can give up although the server does not read.
type connLink struct {
	s    *Session
	conn rpc.Conn
	try  rpc.Trying // conn, if it can write without waiting (TryWrite); else nil
	// child is the process at the other end, nil for none.
	child *child

	mu      sync.Mutex
	queue   []queued
	bytes   int
	room    chan struct{} // closed when the queue was taken to be written
	awaited bool          // a sender waits for room
	wake    chan struct{} // has an element when write has something to look at
	writing bool          // frames that were in the queue are being written
	closing bool
	failed  error

	frames [][]byte // memory for writeAll

	ending                 sync.Once      // endChild was called
	work                   sync.WaitGroup // what endChild has begun
	writerDone, readerDone chan struct{}  // closed when the goroutine has ended
}

// queued is a frame that waits to be written; round is nil if it is not a request.
type queued struct {
	frame []byte
	round *round
}

// forget makes the element of the queue ready for another frame. The memory of small frames is kept, in the first elements.
func (q *queued) forget(i int) {
	q.round = nil
	if i >= 64 || cap(q.frame) > 4<<10 {
		q.frame = nil
	}
}

func newConnLink(s *Session, conn rpc.Conn, c *child) *connLink {
	l := &connLink{s: s, conn: conn, child: c, room: make(chan struct{}), wake: make(chan struct{}, 1), writerDone: make(chan struct{}), readerDone: make(chan struct{})}
	l.try, _ = conn.(rpc.Trying)
	go l.write()
	go l.receive()
	return l
}

func (l *connLink) send(ctx context.Context, frame []byte, r *round) error {
	for {
		room, err := l.put(ctx, frame, r)
		if room == nil {
			return err
		}
		var over <-chan struct{}
		if r != nil {
			over = r.entry.Done()
		}
		select {
		case <-room:
		case <-over:
			return nil
		case <-ctx.Done():
			if r != nil {
				return nil // its context has ended, which ends the entry
			}
			return ctx.Err()
		}
	}
}

// put writes a frame or adds it to the queue; without room it returns a channel that is closed when there may be room. A request that is over is not sent,
// nor is the answer to one (whileOpen).
func (l *connLink) put(ctx context.Context, frame []byte, r *round) (room <-chan struct{}, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	open, _ := ctx.Value(openKey{}).(*inflight.Entry)
	switch {
	case open != nil && open.Err() != nil:
		return nil, open.Err()
	case l.failed != nil:
		return nil, l.failed
	case l.closing:
		return nil, ErrClosed
	case r != nil && r.entry.Err() != nil:
		return nil, nil
	case l.bytes > 0 && l.bytes+len(frame) > maxQueued:
		l.awaited = true
		return l.room, nil
	case open != nil && !open.Retire(): // from here on nothing else answers it
		return nil, open.Err()
	}
	if r != nil {
		r.sent = true
	}
	if !l.tryWrite(frame) {
		l.add(frame, r)
	}
	return nil, nil
}

// tryWrite writes a frame if none is before it and conn can take it at once; the lock is held.
func (l *connLink) tryWrite(frame []byte) (written bool) {
	return l.try != nil && !l.writing && len(l.queue) == 0 && l.try.TryWrite(frame)
}

// add appends to the queue; the lock is held. A small frame is copied, mostly into the memory of an earlier one.
func (l *connLink) add(frame []byte, r *round) {
	n := len(l.queue)
	if n == cap(l.queue) {
		l.queue = append(l.queue, queued{})
	}
	l.queue = l.queue[:n+1]
	q := &l.queue[n]
	if q.round = r; len(frame) <= keepBuffer {
		frame = append(q.frame[:0], frame...)
	}
	q.frame = frame
	l.bytes += len(frame)
	l.wakeWriter()
}

// giveUp removes a request that is still in the queue; for any other that was sent it sends the notice, after the request. The request is answerable if it
// was sent. Whether the answer will name a task does not matter: all messages come on one stream.
func (l *connLink) giveUp(r *round, notice []byte, willNameTask bool) (answerable bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	i := slices.IndexFunc(l.queue, func(q queued) bool { return q.round == r })
	switch {
	case i >= 0:
		l.bytes -= len(l.queue[i].frame)
		l.queue = slices.Delete(l.queue, i, i+1)
		return false
	case notice != nil && r.sent && !l.closing && l.failed == nil:
		l.add(notice, nil)
	}
	return r.sent
}

// giveUpTells implements link: no request has a stream of its own that could be closed.
func (l *connLink) giveUpTells(*wire.Dialect) bool { return false }

func (l *connLink) reply(_ origin, frame []byte) {
	if err := l.send(context.Background(), frame, nil); err != nil {
		l.s.cfg.logger.Debug("a message was not sent", "error", err)
	}
}

func (l *connLink) shared() bool { return true }

// listenUnasked does nothing: all messages come on one stream.
func (l *connLink) listenUnasked() {}

func (l *connLink) sessionID() string { return "" }

// renew is not called: only over HTTP a session can end before its connection.
func (l *connLink) renew(context.Context, string) (bool, error) { return false, errNoSession }

// write writes queued frames until the link closes or fails.
func (l *connLink) write() {
	defer close(l.writerDone)
	var spare []queued
	for {
		l.mu.Lock()
		batch, closing := l.queue, l.closing
		l.queue, l.bytes, l.writing = spare[:0], 0, len(batch) > 0
		l.signalRoom()
		l.mu.Unlock()
		if n, err := l.writeAll(batch); err != nil {
			l.writeFailed(err, batch[n:])
			return
		}
		for i := range batch {
			batch[i].forget(i)
		}
		spare = batch
		if len(batch) > 0 {
			continue
		}
		if closing {
			return
		}
		<-l.wake
	}
}

// wakeWriter has write look at the queue, or at why it is to end.
func (l *connLink) wakeWriter() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// writeAll writes frames, together if the connection can. After an error, those from the nth on may not have been written.
func (l *connLink) writeAll(all []queued) (n int, err error) {
	together, ok := l.conn.(rpc.Batched)
	if !ok || len(all) <= 1 {
		for i := range all {
			err := l.conn.WriteFrame(all[i].frame)
			if err == nil {
				continue
			}
			var large *rpc.FrameError
			if !errors.As(err, &large) {
				return i, err
			}
			l.notWritten(&all[i], large)
		}
		return len(all), nil
	}
	frames := l.frames[:0]
	for i := range all {
		frames = append(frames, all[i].frame)
	}
	err = together.WriteFrames(frames)
	clear(frames) // a large one is not kept
	l.frames = frames
	return 0, err
}

// notWritten ends a request that is too large for the connection, which goes on.
func (l *connLink) notWritten(q *queued, large *rpc.FrameError) {
	err := &TransportError{Err: fmt.Errorf("not sent: %w", large)}
	if q.round != nil {
		q.round.fail(err)
		return
	}
	l.s.cfg.logger.Warn("a message was not sent", "error", err)
}

// writeFailed ends the requests that can not be written any more. Those that were written may still be answered, while the connection can be read. A child
// process is ended.
func (l *connLink) writeFailed(err error, unwritten []queued) {
	if l.child != nil { // what it wrote before it ended is read first, because that says why
		select {
		case <-l.readerDone:
		case <-time.After(outputWait):
		}
	}
	lost := l.lost(err)
	for _, q := range slices.Concat(unwritten, l.stop(lost)) {
		if q.round != nil {
			q.round.fail(lost)
		}
	}
	l.endChild()
}

// endChild ends a child process whose input or output is closed: it is no server any more, though it may live on (CAN26).
func (l *connLink) endChild() {
	if l.child != nil {
		l.ending.Do(func() { l.work.Go(func() { l.child.end(l.s.aborted) }) })
	}
}

// lost returns the error of a connection that ended with err.
func (l *connLink) lost(err error) *TransportError {
	if l.child != nil {
		return l.child.lost(err)
	}
	return &TransportError{Err: err}
}

// stop lets nothing be sent any more, because of err, and returns what was in the queue.
func (l *connLink) stop(err *TransportError) (unwritten []queued) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.failed == nil {
		l.failed = err
	}
	unwritten, l.queue, l.bytes = l.queue, nil, 0
	l.signalRoom()
	return unwritten
}

// signalRoom wakes those who wait for room; the lock is held.
func (l *connLink) signalRoom() {
	if l.awaited {
		close(l.room)
		l.room, l.awaited = make(chan struct{}), false
	}
}

// receive passes the server's frames to the session, until the connection ends.
func (l *connLink) receive() {
	defer close(l.readerDone)
	var large *rpc.FrameError
	for {
		frame, err := l.conn.ReadFrame(nil)
		switch {
		case err == nil:
			l.s.receive(frame, nil)
		case errors.As(err, &large):
			l.s.tooLarge(large, nil)
		default:
			l.gone(err)
			return
		}
	}
}

// gone ends the session because the connection has ended with err.
func (l *connLink) gone(err error) {
	if errors.Is(err, io.EOF) {
		err = withBrokenOff(errors.New("the server closed the connection"), err)
	}
	lost := l.lost(err)
	l.stop(lost) // what was in the queue ends with the session
	l.endChild()
	l.s.lose(lost)
	l.wakeWriter()
}

// drainWait is how long queued frames may take to be written at the end.
const drainWait = time.Second

func (l *connLink) close(ctx context.Context, _ time.Time) error {
	l.mu.Lock()
	l.closing = true
	l.mu.Unlock()
	l.wakeWriter()
	timer := time.NewTimer(drainWait)
	defer timer.Stop()
	select {
	case <-l.writerDone:
	case <-timer.C:
	case <-ctx.Done():
	}
	if l.child != nil {
		l.child.end(ctx)
	}
	err := l.conn.Close()
	<-l.readerDone
	<-l.writerDone
	l.work.Wait() // nothing is added any more
	if l.child != nil {
		return l.child.hadToBeKilled()
	}
	return err
}
