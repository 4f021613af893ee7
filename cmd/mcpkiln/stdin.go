package main

import (
	"context"
	"io"
	"time"
)

// interruptibly returns what f returns, or errInterrupted when ctx ends first. Then f is abandoned: it waits for input, such as the first byte of a
// FIFO, which can not be taken back.
func interruptibly[T any](ctx context.Context, f func() (T, error)) (T, error) {
	var none T
	if ctx.Err() != nil {
		return none, errInterrupted
	}
	type returned struct {
		value T
		err   error
	}
	done := make(chan returned, 1)
	go func() {
		value, err := f()
		done <- returned{value, err}
	}()
	select {
	case got := <-done:
		return got.value, got.err
	case <-ctx.Done():
		return none, errInterrupted
	}
}

// interruptible is a reader whose Read returns when ctx ends, even if a terminal or a pipe sends nothing.
type interruptible struct {
	ctx   context.Context
	input io.Reader
}

// Read implements io.Reader. An abandoned read consumes the next input, so nothing can be read after an error of ctx.
func (r interruptible) Read(p []byte) (int, error) {
	data, err := interruptibly(r.ctx, func() ([]byte, error) {
		own := make([]byte, len(p)) // an abandoned read must not write to p
		n, err := r.input.Read(own)
		return own[:n], err
	})
	if err == io.EOF {
		select {
		case <-r.ctx.Done():
			return 0, errInterrupted
		case <-time.After(pipelineEnd):
		}
	}
	return copy(p, data), err
}

// pipelineEnd is how much later than the end of its input a command may learn of the Ctrl-C that has ended whoever wrote the input.
const pipelineEnd = 10 * time.Millisecond
