package main

import (
	"context"
	"io"
)

// interruptible is an input whose reader does not wait any longer when ctx ends: a terminal or a pipe may say nothing for ever.
type interruptible struct {
	ctx   context.Context
	input io.Reader
}

// Read implements io.Reader. A read that was given up takes what comes next, so after an error of ctx there are no more.
func (r interruptible) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, errInterrupted
	}
	type read struct {
		data []byte
		err  error
	}
	done := make(chan read, 1)
	own := make([]byte, len(p)) // p is the caller's again when Read returns
	go func() {
		n, err := r.input.Read(own)
		done <- read{own[:n], err}
	}()
	select {
	case got := <-done:
		return copy(p, got.data), got.err
	case <-r.ctx.Done():
		return 0, errInterrupted
	}
}
