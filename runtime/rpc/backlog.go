package rpc

import "sync"

// backlog holds frames that a full buffer has no room for, in order. Each writer is woken once: when its frame was taken, or when
// it never will be. Waking all of them for each frame would cost the square of their number when a peer begins to read again.
type backlog struct{ waiting []waitingFrame }

type waitingFrame struct {
	frame []byte
	done  chan error // has room for one
}

func (b *backlog) empty() bool { return len(b.waiting) == 0 }

// first is the frame that has waited longest.
func (b *backlog) first() []byte { return b.waiting[0].frame }

// wait returns when the frame was taken, or why it was not. The lock is held, but not while waiting.
func (b *backlog) wait(mu *sync.Mutex, frame []byte) error {
	w := waitingFrame{frame, make(chan error, 1)}
	b.waiting = append(b.waiting, w)
	mu.Unlock()
	defer mu.Lock()
	return <-w.done
}

// taken wakes the writer of the first frame.
func (b *backlog) taken() {
	b.waiting[0].done <- nil
	b.waiting[0] = waitingFrame{}
	b.waiting = b.waiting[1:]
}

// refuse wakes all writers, with an error.
func (b *backlog) refuse(err error) {
	for _, w := range b.waiting {
		w.done <- err
	}
	b.waiting = nil
}
