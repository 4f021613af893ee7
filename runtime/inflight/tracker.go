package inflight

import (
	"context"
	"errors"
	"hash/maphash"
	"math/bits"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/rpc"
)

// Direction says which side sent a request.
type Direction uint8

// The directions.
const (
	Incoming Direction = iota // from the peer
	Outgoing                  // to the peer
)

// Key identifies a request in flight: by peer, direction, and the typed id (CAN05, CAN06).
type Key struct {
	Peer      uint64 // owner of a space of ids, such as a connection; see NewPeer
	ID        rpc.ID
	Direction Direction
}

// has reports whether the key is the entry's, however its id is spelt (LET14).
func (e *Entry) has(key *Key) bool {
	return e.peer == key.Peer && (e.flags.Load()&outgoing != 0) == (key.Direction == Outgoing) && e.id.Same(key.ID)
}

// Info is what is known about a request when it is registered.
type Info struct {
	Kind
	Principal string
}

// Kind is what requests can have in common, and share (RegisterKind).
type Kind struct {
	Method, Tool   string
	Timeout        time.Duration // counted from Register (CAN20); 0: none
	Protected      bool          // protected from the start (CAN07, CAN14); see Entry.Protect
	AnswersTimeout bool          // if its timeout ends it, it is still answered; see Entry.AnswerTimeout
	Variant        uint8         // for the caller of Register; the tracker does not look at it
}

// Errors of Register.
var (
	ErrInFlight = errors.New("a request with this id is in flight") // CAN08
	ErrShutdown = errors.New("shutting down")
)

// Options configure a Tracker. The zero value is fine.
type Options struct {
	// OnCancel is called for every end but completion, and every cancellation that was only recorded: for the log (CAN13). It is called
	// without a lock, concurrently, on the goroutine that cancels, often a read loop. A request that is cancelled while it is unanswered
	// (Kind.AnswersTimeout) is reported twice: for its timeout, which stays its Entry.Cause, and for the cancellation.
	OnCancel func(e *Entry, c *Cause, o CancelEffect)
}

// Tracker has every request in flight. Its methods are safe for concurrent use. It has no goroutine and need not be closed.
type Tracker struct {
	shards [shardCount]shard
	opts   Options
	hasher hasher
	start  time.Time // of the tracker's clock
	closed atomic.Bool
	peers  atomic.Uint64
	ids    atomic.Int64
	// wakers are channels that buffer one value, for Await. Each tracker has its own, because no channel may leave its testing/synctest bubble.
	wakers sync.Pool
}

// New returns an empty Tracker.
func New(opts Options) *Tracker {
	t := &Tracker{opts: opts, hasher: newHasher(), start: time.Now()}
	for i := range t.shards {
		t.shards[i].tracker = t
	}
	return t
}

// NewPeer returns a peer number that was never used before.
func (t *Tracker) NewPeer() uint64 { return t.peers.Add(1) }

// NextID returns an id for an outgoing request, never the same twice (CAN15).
func (t *Tracker) NextID() rpc.ID { return rpc.IntID(t.ids.Add(1)) }

// Register puts a request into the table. The Entry is the request's context, with parent's values and deadline. If parent has ended
// already, the request is cancelled; when parent ends later, Watch, Entry.Follow or Await ends the request.
// Register fails with ErrInFlight, leaving the first request alone (CAN08), or ErrShutdown.
func (t *Tracker) Register(parent context.Context, key Key, info Info) (*Entry, error) {
	e := &entryOfItsKind{kind: info.Kind}
	return t.register(&e.entry, parent, key, &e.kind, info.Principal)
}

// RegisterKind is Register for a request that shares its kind with others. kind must not change afterwards.
func (t *Tracker) RegisterKind(parent context.Context, key Key, kind *Kind, principal string) (*Entry, error) {
	return t.register(new(Entry), parent, key, kind, principal)
}

// RegisterIn is Register without an allocation: the Entry is in room, which must be unused. values, which is not nil, becomes Entry.Values.
func (t *Tracker) RegisterIn(room *Room, parent context.Context, key Key, info Info, values context.Context) (*Entry, error) {
	room.entry.lazy, room.lazy.values = &room.lazy, values
	room.entry.flags.Store(hasValues)
	room.kind = info.Kind
	return t.register(&room.entry, parent, key, &room.kind, info.Principal)
}

func (t *Tracker) register(e *Entry, parent context.Context, key Key, kind *Kind, principal string) (*Entry, error) {
	e.parent, e.peer, e.id, e.kind, e.principal, e.started, e.hash = parent, key.Peer, key.ID, kind, principal, t.now(), t.hasher.hash(&key)
	e.shard = t.shard(e.hash)
	flags := e.flags.Load()
	if kind.Protected {
		flags |= protected
	}
	if key.Direction == Outgoing {
		flags |= outgoing
	}
	e.flags.Store(flags)
	if err := e.shard.add(e, &key); err != nil {
		return nil, err
	}
	// After add, because a Watch that fired before it did not see this entry.
	if parent.Err() != nil {
		e.Cancel(parentCause(parent))
	}
	return e, nil
}

// Find returns the request in flight under key, or nil.
func (t *Tracker) Find(key Key) *Entry {
	hash := t.hasher.hash(&key)
	s := t.shard(hash)
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.table.find(hash, &key)
}

// Cancel does what notifications/cancelled asks for: key's peer is the sender, so nobody can cancel another's requests (CAN06).
// Unknown and finished ids are ignored (CAN04).
func (t *Tracker) Cancel(key Key, reason string) CancelEffect {
	e := t.Find(key)
	if e == nil {
		return Unknown
	}
	return e.Cancel(&Cause{Source: SourcePeer, Reason: reason})
}

// CancelPeer cancels all requests of one peer, in both directions, and returns how many ended. Protected requests record
// the cause and go on, unless cause.Force. CancelPeer visits all requests in flight, of every peer.
func (t *Tracker) CancelPeer(peer uint64, cause *Cause) int {
	return t.cancelWhere(cause, func(e *Entry) bool { return e.peer == peer })
}

// CancelOutgoing is CancelPeer for outgoing requests alone.
func (t *Tracker) CancelOutgoing(peer uint64, cause *Cause) int {
	return t.cancelWhere(cause, func(e *Entry) bool { return e.peer == peer && e.flags.Load()&outgoing != 0 })
}

// CancelAll is CancelPeer for all peers.
func (t *Tracker) CancelAll(cause *Cause) int {
	return t.cancelWhere(cause, func(*Entry) bool { return true })
}

// Shutdown makes Register fail from now on and cancels all requests (CAN21). With force, for after the grace period, it also cancels
// protected ones.
func (t *Tracker) Shutdown(reason string, force bool) int {
	t.closed.Store(true)
	return t.CancelAll(&Cause{Source: SourceShutdown, Reason: reason, Force: force})
}

func (t *Tracker) cancelWhere(cause *Cause, match func(*Entry) bool) int {
	ended := 0
	for i := range t.shards {
		ended += t.shards[i].cancelWhere(cause, match)
	}
	return ended
}

// cancelWhere cancels the requests that match. Entries are collected first, because retiring one moves others.
func (s *shard) cancelWhere(c *Cause, match func(*Entry) bool) int {
	var list []ended
	s.mu.Lock()
	for e := range s.table.all {
		if match(e) {
			list = append(list, ended{entry: e})
		}
	}
	for i := range list {
		list[i] = s.end(list[i].entry, c)
	}
	s.mu.Unlock()
	return finish(list)
}

// ended is one of many requests that a cause was applied to; finish does the rest, without the lock.
type ended struct {
	entry   *Entry
	cause   *Cause
	outcome CancelEffect
	stop    func() bool
}

// end applies a cause to a request; the lock is held.
func (s *shard) end(e *Entry, c *Cause) ended {
	o := s.apply(e, cancel, c)
	return ended{entry: e, cause: c, outcome: o, stop: e.unfollow()}
}

// finish does what must not happen under the lock, and returns how many requests ended.
func finish(list []ended) (n int) {
	for _, l := range list {
		if l.outcome == Cancelled {
			n++
		}
		l.entry.afterUnlock(l.outcome, l.cause, l.stop)
	}
	return n
}

// Watch cancels all requests of peer when ctx, its connection's context, ends. Call stop when the connection is over.
func (t *Tracker) Watch(ctx context.Context, peer uint64) (stop func() bool) {
	return context.AfterFunc(ctx, func() { t.CancelPeer(peer, parentCause(ctx)) })
}

// Len returns the number of requests in flight.
func (t *Tracker) Len() int {
	n := 0
	for i := range t.shards {
		s := &t.shards[i]
		s.mu.Lock()
		n += s.table.count
		s.mu.Unlock()
	}
	return n
}

// Snapshot describes one request in flight, for operators (CAN22).
type Snapshot struct {
	Key
	Info
	Values     context.Context // see Entry.Values
	Started    time.Time
	Age        time.Duration
	Recorded   *Cause // the first cancellation that was only recorded, nil: none
	RecordedAt time.Time
}

// List returns the requests in flight, oldest first. It locks a 64th of the table at a time: others come and go meanwhile.
func (t *Tracker) List() []Snapshot {
	var list []Snapshot
	for i := range t.shards {
		s := &t.shards[i]
		s.mu.Lock()
		now := t.now()
		for e := range s.table.all {
			list = append(list, e.snapshot(now))
		}
		s.mu.Unlock()
	}
	slices.SortFunc(list, func(a, b Snapshot) int { return a.Started.Compare(b.Started) })
	return list
}

// now returns the time on the tracker's clock: nanoseconds since start, monotonic. It costs half as much as time.Now.
func (t *Tracker) now() int64 { return int64(time.Since(t.start)) }

func (t *Tracker) at(now int64) time.Time { return t.start.Add(time.Duration(now)) }

// hasher turns keys into hashes that a peer can not predict, so that it can not choose ids that collide.
type hasher struct {
	seed maphash.Seed
	salt uint64
}

func newHasher() hasher {
	seed := maphash.MakeSeed()
	return hasher{seed: seed, salt: maphash.String(seed, "salt")}
}

func (h hasher) hash(key *Key) uint64 {
	id, isInt := key.ID.Int()
	x := uint64(id)
	if !isInt {
		x = maphash.String(h.seed, key.ID.Plain().Text())
	}
	const odd = 0x9e3779b97f4a7c15
	hi, lo := bits.Mul64(x^h.salt, (key.Peer<<1|uint64(key.Direction))*odd^bits.RotateLeft64(h.salt, 32)|1)
	hi, lo = bits.Mul64(hi^lo, odd)
	return hi ^ lo
}

// parentCause returns the cause for requests whose parent ctx has ended: a copy of the *Cause with which ctx ended, unless that is
// SourceCompleted, else one of SourceParent.
func parentCause(ctx context.Context) *Cause {
	err := context.Cause(ctx)
	var own *Cause
	if errors.As(err, &own) && own.Source != SourceCompleted {
		inherited := *own
		return &inherited
	}
	return &Cause{Source: SourceParent, Err: err}
}
