package inflight

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/rpc"
)

// CancelEffect is the effect of an attempt to end a request.
type CancelEffect uint8

// The effects.
const (
	Unknown   CancelEffect = iota // the request is not in flight (any more): nothing happened
	Cancelled                     // the attempt ended it
	Recorded                      // it is protected: the attempt is recorded, and it goes on
)

// Entry is one request in flight and the context.Context of its handler. Besides what any Context promises: context.Cause
// returns a *Cause; children made with package context cost no goroutine, because it has AfterFunc; and once the request is
// retired, in whichever way, the context is done, so that work which a handler left running ends too (CAN19).
type Entry struct {
	next *Entry // in the table's bucket, guarded by shard.mu
	hash uint64 // beside next: skipping an entry touches one cache line

	parent    context.Context
	shard     *shard
	started   int64  // on the tracker's clock
	peer      uint64 // peer, id and the flag outgoing are its Key
	id        rpc.ID
	kind      *Kind
	principal string

	state
}

// state is what can change about a request. Once the request is in the table, state is written under shard.mu, except the flags waiting and lacksRoom.
// cause and done may be read without the lock once flags say that they are final.
type state struct {
	flags  atomic.Uint32
	heapAt int32         // position in the shard's heap + 1; 0: not in it
	done   chan struct{} // final once hasDone is set
	cause  *Cause        // final once over is set
	lazy   *lazyState
}

const (
	over       uint32 = 1 << iota // retired, and cause is set; not in the table any more, unless unanswered
	protected                     // cancellations by peers, disconnects and shutdowns are only recorded
	hasDone                       // done is made
	unanswered                    // ended by its timeout, and still in the table, since it was neither answered nor cancelled yet
	delayed                       // its clock was paused or its timeout extended; lazy says for how long
	waiting                       // its handler waits for other requests before it begins
	lacksRoom                     // its answer waits for memory
	hasValues                     // lazy.values is set; never changes
	outgoing                      // of its key; never changes
)

// Room is memory for one Entry and its answer, as a part of something that the caller of RegisterIn allocates anyway.
type Room struct {
	entry Entry
	kind  Kind
	lazy  lazyState
}

// entryOfItsKind is an Entry that shares its Kind with no other.
type entryOfItsKind struct {
	entry Entry
	kind  Kind
}

// lazyState is the state that most incoming requests never need.
type lazyState struct {
	recorded     *Cause // the first cancellation that was only recorded
	recordedAt   int64
	response     Response        // of an outgoing request
	answered     bool            // response is set
	waker        chan struct{}   // for Await: gets one value when the request is over
	causeContext context.Context // has the cause for context.Cause
	callbacks    []*callback
	values       context.Context
	unfollow     func() bool // stops Follow
	pauses       int         // how many Pauses have no Resume yet; while there is one, the entry is in no heap
	pausedAt     int64       // when the first of these began
	paused       int64       // how long earlier pauses were
	extended     int64       // how much later the timeout passes because of Extend
}

type callback struct {
	f  func()
	at int // position in lazyState.callbacks; -1: started or stopped
}

// makeLazy returns e.lazy, and makes it if there is none. The shard's lock is held.
func (e *Entry) makeLazy() *lazyState {
	if e.lazy == nil {
		e.lazy = new(lazyState)
	}
	return e.lazy
}

// Key returns the key that the request is registered under.
func (e *Entry) Key() Key {
	k := Key{Peer: e.peer, ID: e.id}
	if e.flags.Load()&outgoing != 0 {
		k.Direction = Outgoing
	}
	return k
}

// ID is the ID of the Key.
func (e *Entry) ID() rpc.ID { return e.id }

// Info returns the Info that the request was registered with.
func (e *Entry) Info() Info {
	return Info{Kind: *e.kind, Principal: e.principal}
}

// Values returns the context passed to RegisterIn, nil if there is none. It has values that the parent does not have; nothing else of it is used.
func (e *Entry) Values() context.Context {
	if e.flags.Load()&hasValues == 0 {
		return nil
	}
	return e.lazy.values
}

// Started returns when the request was registered.
func (e *Entry) Started() time.Time { return e.shard.tracker.at(e.started) }

// SetWaiting notes whether the handler waits for other requests before it begins. A request that ends meanwhile stays Waiting.
func (e *Entry) SetWaiting(waits bool) { e.set(waiting, waits) }

func (e *Entry) set(flag uint32, on bool) {
	if on {
		e.flags.Or(flag)
	} else {
		e.flags.And(^flag)
	}
}

// Waiting reports whether the handler waits for other requests before it begins, see SetWaiting.
func (e *Entry) Waiting() bool { return e.flags.Load()&waiting != 0 }

// SetLacksRoom notes whether the request waits for memory for its answer. A request that ends meanwhile stays LacksRoom.
func (e *Entry) SetLacksRoom(waits bool) { e.set(lacksRoom, waits) }

// LacksRoom reports whether the request waits for memory for its answer, see SetLacksRoom.
func (e *Entry) LacksRoom() bool { return e.flags.Load()&lacksRoom != 0 }

// CancelRequested returns the reason of the first cancellation that was only recorded because the request is protected (CAN14), and whether there was one.
func (e *Entry) CancelRequested() (reason string, ok bool) {
	c := e.Recorded()
	if c == nil {
		return "", false
	}
	return c.Reason, true
}

// Recorded is the first cancellation that was only recorded because the request is protected, nil for none.
func (e *Entry) Recorded() *Cause {
	e.shard.mu.Lock()
	defer e.shard.mu.Unlock()
	if e.lazy == nil {
		return nil
	}
	return e.lazy.recorded
}

// Cause returns why the request is over, nil while it is in flight.
func (e *Entry) Cause() *Cause {
	if e.flags.Load()&over == 0 {
		return nil
	}
	return e.cause
}

// Follow cancels the request when ctx ends, until it is retired: for contexts that no Watch covers, such as that of one HTTP request,
// or of the call that sent this request (CAN19). It allocates. Call it once.
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

// snapshot is what the entry says of itself at now. shard.mu is held.
func (e *Entry) snapshot(now int64) Snapshot {
	s := Snapshot{
		Key: e.Key(), Info: e.Info(), Values: e.Values(),
		Started: e.shard.tracker.at(e.started), Age: time.Duration(now - e.started),
	}
	s.Protected = e.flags.Load()&protected != 0
	if e.lazy != nil && e.lazy.recorded != nil {
		s.Recorded = e.lazy.recorded
		s.RecordedAt = e.shard.tracker.at(e.lazy.recordedAt)
	}
	return s
}
