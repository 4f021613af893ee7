package rpc

import (
	"errors"
	"fmt"
	"io"
)

// Conn carries whole frames, one JSON value each, in both directions.
type Conn interface {
	// ReadFrame appends the next frame to buf[:0] and returns it; the caller owns the bytes. One goroutine reads at a time.
	// io.EOF, which a *BrokenOffError may wrap: the peer sends nothing more. ErrClosed: Close was called. *FrameError: one frame is lost, and the next
	// call goes on after it. Any other error ends the connection.
	ReadFrame(buf []byte) ([]byte, error)
	// WriteFrame accepts one frame for the peer and does not retain it. Safe for concurrent use; frames arrive whole, in the
	// order of acceptance. Nil means accepted: written, or about to be by another caller. It blocks while too much is
	// pending. After a write that failed every later call fails.
	WriteFrame(frame []byte) error
	// Close ends both directions: accepted frames are still delivered if the peer reads, and a ReadFrame or WriteFrame that waits
	// returns ErrClosed. Further calls do nothing and return the same error.
	Close() error
}

// Watched is a Conn that notices, without a write, when its peer stops reading. At the end of input, that distinguishes a dead peer
// from one that only has nothing more to send.
type Watched interface {
	// Gone is closed when nobody can read what is written any more; it is nil where only a write shows that.
	Gone() <-chan struct{}
}

// Batched is a Conn that can write several frames at once, which costs less than one after the other. The frames are no batch in the sense of JSON-RPC.
type Batched interface {
	// WriteFrames is WriteFrame for each of the frames, in order. After an error the rest of them are not accepted.
	WriteFrames(frames [][]byte) error
}

// Trying is a Conn that can take a frame without waiting for its peer.
type Trying interface {
	// TryWrite is WriteFrame if that need not wait. Otherwise it does nothing and returns false. It may return false for other reasons, too, such as an
	// error, which WriteFrame then returns.
	TryWrite(frame []byte) (taken bool)
}

// Lending is a Conn that can write a frame from the caller's buffer, without a copy.
type Lending interface {
	// WriteLent is WriteFrame for a frame whose buffer nobody else uses until WriteLent returns. It may change the buffer, also after the frame's end.
	WriteLent(frame []byte) error
}

// Copying is a Conn that can write a frame which is not in memory.
type Copying interface {
	// CopyFrame is WriteFrame for the bytes of r up to its end, which are one frame. It returns when they are written. An error of r counts as a
	// failed write, because the frame is incomplete then.
	CopyFrame(r io.Reader) error
}

// Reporting is a Conn that reports how much of a large frame its peer has taken so far.
type Reporting interface {
	// OnWrite has f called when the peer has taken another 64 KiB of a frame, except for frames of CopyFrame: there the reads of r tell. Call OnWrite
	// before the first write.
	OnWrite(f func())
}

// ErrClosed is what a Conn returns after its own Close.
var ErrClosed = errors.New("rpc: connection closed")

var errEmptyFrame = errors.New("rpc: empty frame")

// BrokenOffError wraps io.EOF: the input has ended within a message, which is lost. Bytes is how much of the message there was.
type BrokenOffError struct{ Bytes int }

// Error implements error.
func (e *BrokenOffError) Error() string {
	return fmt.Sprintf("rpc: the input ended within a message, after %d bytes of it", e.Bytes)
}

// Unwrap returns io.EOF.
func (e *BrokenOffError) Unwrap() error { return io.EOF }

// FrameError reports a frame that was skipped because it is larger than the limit.
type FrameError struct {
	Limit int // bytes
	// Begun has the frame's kind and id if the id could be read, wherever it is in the frame. Otherwise it has only the method, which may be cut off; a
	// frame that has a method is no answer.
	Begun Message
}

// Error implements error.
func (e *FrameError) Error() string {
	return fmt.Sprintf("rpc: frame larger than %d bytes", e.Limit)
}

// Limits of Lines and Pipe.
const (
	DefaultMaxFrame   = 16 << 20 // bytes of one frame
	DefaultMaxPending = 1 << 20  // bytes accepted and not yet taken by the peer
)
