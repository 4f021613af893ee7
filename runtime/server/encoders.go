package server

import (
	"context"
	"sync/atomic"
)

// encoders bounds how many outputs are encoded at once. Nearly always one of its slots is free: taking that one is a single addition, while a channel
// has a lock for which all calls would contend.
type encoders struct {
	max     int64
	free    atomic.Int64  // below 0: how many wait for a slot that is not granted yet
	granted chan struct{} // has an element for each slot that is handed on
}

func (e *encoders) open(max int) {
	e.max, e.granted = int64(max), make(chan struct{}, max)
	e.free.Store(e.max)
}

// enter takes a slot.
func (e *encoders) enter(ctx context.Context) error {
	if e.free.Add(-1) >= 0 {
		return nil
	}
	select {
	case <-e.granted:
		return nil
	case <-ctx.Done():
	}
	for n := e.free.Load(); n < 0; n = e.free.Load() {
		if e.free.CompareAndSwap(n, n+1) {
			return context.Cause(ctx)
		}
	}
	<-e.granted // leave has counted this waiter, so its slot comes
	e.leave()
	return context.Cause(ctx)
}

// leave gives a slot back, or hands it on.
func (e *encoders) leave() {
	if e.free.Add(1) <= 0 {
		e.granted <- struct{}{}
	}
}

// held is how many slots are taken or waited for.
func (e *encoders) held() int { return int(e.max - e.free.Load()) }
