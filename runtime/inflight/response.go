package inflight

import "github.com/mcpkiln/mcpkiln/runtime/rpc"

// Response is the peer's answer to an outgoing request. Its slices belong to the caller of Await.
type Response struct {
	Result []byte
	Err    *rpc.Error

	Unusable bool // the answer could not be read or kept, and Err says why (CAN30)
}

// Deliver passes the answer to the Outgoing request under key to Await, and retires the request. False: it is not in flight (any more),
// drop the answer (CAN15). r must not alias a buffer that is used again.
func (t *Tracker) Deliver(key Key, r Response) bool {
	e := t.Find(key)
	return e != nil && e.Deliver(r)
}

// Deliver is Tracker.Deliver for an entry that was found.
func (e *Entry) Deliver(r Response) bool {
	e.shard.mu.Lock()
	if e.flags.Load()&over == 0 {
		lazy := e.makeLazy()
		lazy.response, lazy.answered = r, true
	}
	o := e.shard.apply(e, complete, completed)
	stop := e.unfollow()
	e.shard.mu.Unlock()
	e.afterUnlock(o, completed, stop)
	return o == Cancelled
}

// Await returns the answer to an outgoing request, or the *Cause that ended it first, such as the end of the context it was registered
// under (CAN19). The caller of Register calls it, once; nothing is left behind when it returns.
func (e *Entry) Await() (Response, error) {
	if waker := e.waker(); waker != nil {
		select {
		case <-waker:
		case <-e.parent.Done():
			cause := parentCause(e.parent)
			cause.Force = true
			e.Cancel(cause)
			<-waker // the request is over by now, by this cause or another
		}
		e.shard.tracker.wakers.Put(waker)
	}
	e.shard.mu.Lock()
	defer e.shard.mu.Unlock()
	if e.lazy != nil && e.lazy.answered {
		return e.lazy.response, nil
	}
	return Response{}, e.cause
}

// waker returns a channel that gets a value when the request is over; nil: it is over already. Unlike a channel that is closed, it can be used again.
func (e *Entry) waker() chan struct{} {
	waker, ok := e.shard.tracker.wakers.Get().(chan struct{})
	if !ok {
		waker = make(chan struct{}, 1)
	}
	e.shard.mu.Lock()
	defer e.shard.mu.Unlock()
	if e.flags.Load()&over != 0 {
		e.shard.tracker.wakers.Put(waker)
		return nil
	}
	e.makeLazy().waker = waker
	return waker
}
