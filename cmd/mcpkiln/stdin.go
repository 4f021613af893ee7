package main

import (
	"context"
	"io"
)

// interruptible is a reader whose Read returns when ctx ends, even if a terminal or a pipe sends nothing.
type interruptible struct {
	ctx   context.Context
	input io.Reader
}

// Read implements io.Reader. An abandoned read consumes the next input, so nothing can be read after an error of ctx.
func (r interruptible) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, errInterrupted
	}
	type read struct {
		data []byte
		err  error
	}
	done := make(chan read, 1)
	own := make([]byte, len(p)) // the goroutine must not write to p after Read has returned
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
