package rpc

import (
	"encoding/binary"
	"io"
	"sync"
	"sync/atomic"
)

// Pipe returns the two ends of a connection within this process. Each direction holds up to DefaultMaxPending bytes; an end
// that only writes while the other only writes blocks, as with an operating system's pipe.
func Pipe() (client, server Conn) {
	up, down := newQueue(), newQueue()
	return &pipeEnd{in: down, out: up}, &pipeEnd{in: up, out: down}
}

type pipeEnd struct{ in, out *queue }

// ReadFrame implements Conn.
func (p *pipeEnd) ReadFrame(buf []byte) ([]byte, error) { return p.in.take(buf[:0]) }

// WriteFrame implements Conn.
func (p *pipeEnd) WriteFrame(frame []byte) error { return p.out.put(frame) }

// TryWrite implements Trying.
func (p *pipeEnd) TryWrite(frame []byte) (taken bool) { return p.out.try(frame) }

// Gone implements Watched.
func (p *pipeEnd) Gone() <-chan struct{} { return p.out.gone }

// Close implements Conn. The other end reads what was accepted and then io.EOF; its writes fail with io.ErrClosedPipe.
func (p *pipeEnd) Close() error {
	p.in.closeRead()
	p.out.closeWrite()
	return nil
}

// queue is one direction of a Pipe. The reader takes all that is pending at once and returns it frame by frame without the lock:
// each frame is copied twice, but many cost one lock and one wake-up.
type queue struct {
	mu          sync.Mutex
	readable    sync.Cond
	waiting     backlog       // frames that do not fit into pending yet
	pending     []byte        // frames, each after its length in lengthBytes
	writeClosed bool          // the writing end is closed
	readClosed  atomic.Bool   // the reading end is closed
	gone        chan struct{} // closed when readClosed is set

	// Only the reader uses these.
	batch  []byte // frames that it took from pending and has not returned yet
	buffer []byte // the buffer that batch is in
}

const lengthBytes = 4

func newQueue() *queue {
	q := &queue{gone: make(chan struct{})}
	q.readable.L = &q.mu
	return q
}

// put is WriteFrame.
func (q *queue) put(frame []byte) error {
	if blank(frame) {
		return errEmptyFrame
	}
	if len(frame) > DefaultMaxFrame {
		return &FrameError{Limit: DefaultMaxFrame}
	}
	q.mu.Lock()
	var err error
	switch {
	case q.writeClosed:
		err = ErrClosed
	case q.readClosed.Load():
		err = io.ErrClosedPipe
	case q.waiting.empty() && q.fits(frame):
		q.add(frame)
	default:
		err = q.waiting.wait(&q.mu, frame)
	}
	q.mu.Unlock()
	q.readable.Signal() // without the lock, which the reader needs when it wakes
	return err
}

// try is TryWrite.
func (q *queue) try(frame []byte) (taken bool) {
	if blank(frame) || len(frame) > DefaultMaxFrame {
		return false
	}
	q.mu.Lock()
	if taken = !q.writeClosed && !q.readClosed.Load() && q.waiting.empty() && q.fits(frame); taken {
		q.add(frame)
	}
	q.mu.Unlock()
	q.readable.Signal()
	return taken
}

func (q *queue) fits(frame []byte) bool {
	return len(q.pending) == 0 || len(q.pending)+len(frame) < DefaultMaxPending
}

func (q *queue) add(frame []byte) {
	q.pending = binary.NativeEndian.AppendUint32(q.pending, uint32(len(frame)))
	q.pending = append(q.pending, frame...)
}

// take is ReadFrame, and appends to buf.
func (q *queue) take(buf []byte) ([]byte, error) {
	if len(q.batch) == 0 {
		if err := q.refill(); err != nil {
			return buf, err
		}
	}
	if q.readClosed.Load() {
		return buf, ErrClosed
	}
	end := lengthBytes + int(binary.NativeEndian.Uint32(q.batch))
	buf = append(buf, q.batch[lengthBytes:end]...)
	q.batch = q.batch[end:]
	return buf, nil
}

// refill makes all that is pending the batch, which is empty. It waits until something is pending.
func (q *queue) refill() error {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.pending) == 0 {
		switch {
		case q.readClosed.Load():
			return ErrClosed
		case q.writeClosed:
			return io.EOF
		}
		q.readable.Wait()
	}
	if cap(q.buffer) > keepBuffer {
		q.buffer = nil
	}
	q.pending, q.buffer = q.buffer[:0], q.pending
	q.batch = q.buffer
	for !q.waiting.empty() && q.fits(q.waiting.first()) {
		q.add(q.waiting.first())
		q.waiting.accepted()
	}
	return nil
}

func (q *queue) closeRead() {
	q.mu.Lock()
	if !q.readClosed.Swap(true) {
		close(q.gone)
	}
	q.waiting.refuse(io.ErrClosedPipe)
	q.mu.Unlock()
	q.readable.Broadcast()
}

func (q *queue) closeWrite() {
	q.mu.Lock()
	q.writeClosed = true
	q.waiting.refuse(ErrClosed)
	q.mu.Unlock()
	q.readable.Broadcast()
}
