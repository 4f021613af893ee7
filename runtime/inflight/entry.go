package inflight

import (
	"context"
	"sync/atomic"
	"time"
)

// CancelEffect is the effect of an attempt to end a request.
type CancelEffect uint8

// What became of it.
const (
	Unknown   CancelEffect = iota // not in flight (any more): nothing happened
	Cancelled                     // it ended by this
	Recorded                      // it is protected: the attempt is recorded, and it goes on
)

// Entry is one request in flight and the context.Context of its handler. Besides what a Context promises: context.Cause
// returns a *Cause; children made with package context cost no goroutine, because it has AfterFunc; and once the request is
// retired, in whichever way, the context is done, so that what a handler left running ends too (CAN19).
type Entry struct {
	next *Entry // in the bucket; the table's, guarded by shard.mu
	hash uint64 // beside next: passing an entry by touches one cache line

	parent  context.Context
	shard   *shard
	started int64 // on the tracker's clock
	key     Key
	info    Info

	state
}

// state is what can change about a request. Only shard.apply and what is made on first use (done, lazy and inner) write it, under
// shard.mu, but for the flag waiting; cause and done may be read without the lock once flags say that they are final.
type state struct {
	flags  atomic.Uint32
	heapAt int32         // position in the shard's heap + 1; 0: not in it
	done   chan struct{} // final with hasDone
	cause  *Cause        // final with over
	lazy   *lazyState
}

const (
	over       uint32 = 1 << iota // retired, cause is set; in no table, unless unanswered
	protected                     // peers, disconnects and shutdowns only record
	hasDone                       // done is made
	unanswered                    // over by its timeout, and still in the table: nobody has answered or cancelled it
	delayed                       // its clock was paused or its timeout extended, so lazy says by how much
	waiting                       // its handler has not begun, because others are before it
	hasValues                     // lazy.values is set; from the start
)

// Room is memory for one Entry and its answer, as a part of what its sender or receiver allocates anyway.
type Room struct {
	entry Entry
	lazy  lazyState
}

// lazyState is what most incoming requests never need.
type lazyState struct {
	recorded     *Cause // the first cancellation that was only recorded
	recordedAt   int64
	response     Response // of what is answered
	answered     bool
	waker        chan struct{}   // of Await: gets one value when the request is over
	causeContext context.Context // carries the cause for context.Cause
	callbacks    []*callback
	values       context.Context
	unfollow     func() bool // stops Follow
	pauses       int         // how many are not over; while there is one, the entry is in no heap
	pausedAt     int64       // when the first of them began
	paused       int64       // how long the clock stood before
	extended     int64       // how much later Extend has made the timeout
}

type callback struct {
	f  func()
	at int // position in lazyState.callbacks; -1: started or stopped
}

// makeLazy returns the lazy part, and makes it if there is none. The shard's lock is held.
func (e *Entry) makeLazy() *lazyState {
	if e.lazy == nil {
		e.lazy = new(lazyState)
	}
	return e.lazy
}

// Key returns the key it is registered under.
func (e *Entry) Key() Key { return e.key }

// Info returns what it was registered with.
func (e *Entry) Info() Info { return e.info }

// Values is what RegisterIn got, which is asked for values that the parent does not have. Nothing else of it is used; nil: there is none.
func (e *Entry) Values() context.Context {
	if e.flags.Load()&hasValues == 0 {
		return nil
	}
	return e.lazy.values
}

// Started is when the request was registered.
func (e *Entry) Started() time.Time { return e.shard.tracker.at(e.started) }

// SetWaiting notes that the handler waits for others before it begins, or that it does not any more. A request that ends meanwhile still
// is Waiting.
func (e *Entry) SetWaiting(waits bool) {
	if waits {
		e.flags.Or(waiting)
	} else {
		e.flags.And(^waiting)
	}
}

// Waiting reports whether the handler has not begun, see SetWaiting.
func (e *Entry) Waiting() bool { return e.flags.Load()&waiting != 0 }

// CancelRequested reports whether a cancellation was recorded because the request is protected (CAN14), and its reason.
func (e *Entry) CancelRequested() (reason string, ok bool) {
	e.shard.mu.Lock()
	defer e.shard.mu.Unlock()
	if e.lazy == nil || e.lazy.recorded == nil {
		return "", false
	}
	return e.lazy.recorded.Reason, true
}

// Cause returns why the request is over, nil while it is in flight.
func (e *Entry) Cause() *Cause {
	if e.flags.Load()&over == 0 {
		return nil
	}
	return e.cause
}

// Follow cancels the request when ctx ends, until it is retired: for parents that no Watch covers, such as one HTTP request,
// or the call that sent this request (CAN19). It allocates. Call it once.
func (e *Entry) Follow(ctx context.Context) {
	stop := context.AfterFunc(ctx, func() { e.Cancel(parentCause(ctx)) })
	e.shard.mu.Lock()
	ended := e.flags.Load()&over != 0
	if !ended {
		e.makeLazy().unfollow = stop
	}
	e.shard.mu.Unlock()
	if ended {
		stop()
	}
}

func (e *Entry) snapshot(now int64) Snapshot {
	s := Snapshot{
		Key: e.key, Info: e.info, Values: e.Values(),
		Started: e.shard.tracker.at(e.started), Age: time.Duration(now - e.started),
	}
	s.Protected = e.flags.Load()&protected != 0
	if e.lazy != nil && e.lazy.recorded != nil {
		s.Recorded = e.lazy.recorded
		s.RecordedAt = e.shard.tracker.at(e.lazy.recordedAt)
	}
	return s
}
