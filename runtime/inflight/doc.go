// Package inflight tracks the requests in flight, of both directions, and cancels them. It is for those who change when a request ends or may
// still be answered; handlers need only Cause, which context.Cause returns. Ids such as CAN12 are rules;
// testdata/traceability/ledger.tsv lists them.
//
// # Map
//
//   - tracker.go: Tracker, Key, Info, Kind, Snapshot; registering; cancelling one request, a peer's requests, all
//   - entry.go, context.go: Entry, one request and the context.Context of its handler
//   - response.go: answers to outgoing requests
//   - cause.go: Cause, why a request ended
//   - shard.go: requests by key and by timeout, the events that can happen to one, and the one function that changes its state
//   - timeout.go: how timeouts are paused, extended, and expire
//
// # Words of this package
//
//	entry          one request in flight, and the context of its handler
//	kind           what is known of a request before it comes: its method, tool and policy. Those of one kind can share it
//	peer           the owner of a space of ids, in which each is in flight once, such as a connection
//	parent         the context that a request was registered under
//	to retire      to end a request for good: only the caller that retires it may write the response
//	over           retired
//	unanswered     said of a request that its timeout has ended, and that may still be answered, unless it is cancelled first (Kind.AnswersTimeout)
//	protected      ended only by its own timeout or by force, see below
//	cause          why a request ended: who ended it (the source), and the reason as the source put it
//	effect         what an attempt to end a request did: Cancelled, Recorded or Unknown
//	callback       a function passed to AfterFunc, or to context.AfterFunc with the entry, which runs when the entry is over
//	to follow      to end when another context ends
//	clock          of the tracker: nanoseconds since it was made; of a request: the time that its timeout counts, which stops while it is paused
//
// # Contracts
//
// A request is in flight, then over. Completion (Retire, Deliver), cancellation, timeout, disconnect and shutdown race; the
// first retires it, the others do nothing (CAN12). A response is written at one place, after Retire, or AnswerTimeout, has allowed it.
//
// A protected request (Kind.Protected, Entry.Protect) is not ended by peers, disconnects, parents and shutdowns; they are only
// recorded. Its own timeout, which its author chose, and a Cause with Force end it. Entry.Unprotect lets a recorded one count.
//
// A request whose clock is paused does not time out; when each Pause has been ended by a Resume, the timeout goes on with the time that was left.
//
// A request does not end by itself when its parent does: Watch or CancelPeer ends all requests of a connection, Follow a single one, and
// Await the one that it waits for. context.AfterFunc for each request would cost three allocations, and a lock that all requests of a
// connection share.
//
// No user code runs under a lock: functions passed to AfterFunc get goroutines, OnCancel is called afterwards. The tracker
// has no goroutine of its own; a timer per shard runs while there are timeouts, or were lately.
//
// Peers can not choose ids that collide, because hashes are seeded. How many requests may be in flight is limited by package server.
//
// # Rejected
//
// Measured with BenchmarkRegisterRetire on two busy cores, where the usual way (BenchmarkRegisterRetireNaive: lock, map of
// cancel functions, 4 allocations) takes 425 ns with one request in flight, 450 with 1,000 and 740 with 100,000. This
// package: 165, 175 and 300 ns, 1 allocation. Half of that time goes into allocating the entry and reading the clock; with 100,000
// requests, into cache misses, which is why the table is at most half full. An entry of RegisterKind takes 144 bytes where one of Register, which has
// a Kind of its own, takes 192, and no more time.
//
//   - A Go map per shard: three hashes for register and retire, and memory that stays after a burst (CAN03). Instead, a bucket is a list
//     of entries, linked by Entry.next.
//   - context.WithCancelCause for each request: 2 to 3 allocations, and the parent's lock. The Entry is the context; one of package
//     context is only made when somebody asks for the cause of the end.
//   - time.AfterFunc for each timeout: 2 allocations and 2 operations on the runtime's heap. A heap per shard, under the lock
//     that is held anyway, adds nothing measurable, and its timer is seldom set again, because new timeouts are mostly the
//     latest.
//   - Pooling entries: handlers may keep their context. Instead, a caller can make the entry part of an allocation of its own (Room).
//   - A list of requests per peer, so that CancelPeer need not visit all: a second lock or a shared one on every request, to
//     save 2 ms per disconnect at 100,000 in flight.
//   - Running AfterFunc functions on the canceller's goroutine: they would hold up the read loop.
package inflight
