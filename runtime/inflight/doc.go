// Package inflight tracks the requests in flight, of both directions, and cancels them. It is for those who change when a request ends or may
// still be answered; handlers need Cause of it, which context.Cause returns. Ids such as CAN12 are rules;
// testdata/traceability/ledger.tsv lists them.
//
// # Map
//
//   - tracker.go: Tracker, Key, Info, Snapshot; registering, cancelling one, a peer's, all
//   - entry.go, context.go: Entry, one request and the context.Context of its handler
//   - response.go: answers to outgoing requests
//   - cause.go: Cause, why a request ended
//   - shard.go: requests by key and by timeout, what can happen to one, and the one function that changes its state
//   - timeout.go: clocks that stand or begin anew, and what happens when a timeout passes
//
// # Words of this package
//
//	entry          one request in flight, and the context of its handler
//	peer           who chooses the ids: the owner of a space of them, such as a connection
//	to retire      to take a request out of the table, for good: whoever does may write the answer, and nobody else ever
//	protected      not ended by others than its own timeout, see below
//	cause          why a request ended: who ended it (the source), and the reason in that one's words
//	effect         what an attempt to end a request did: Cancelled, Recorded or Unknown
//	callback       a function that context.AfterFunc or AfterFunc waits with for the end of an entry
//	to follow      to end with the context that the request was registered under
//	clock          what a timeout counts; it stands while it is paused
//
// # Contracts
//
// A request is in flight, then over. Completion (Retire, Deliver), cancellation, timeout, disconnect and shutdown race; the
// first retires it, the others do nothing (CAN12). Whoever writes responses asks Retire for permission, at one place.
//
// A protected request (Info.Protected, Entry.Protect) is not ended by peers, disconnects, parents and shutdowns; they are only
// recorded. Its own timeout, which its author chose, and a Cause with Force end it.
//
// A request whose clock is paused does not time out; the timeout goes on with what was left when the last Pause is over.
//
// The end of a context does not by itself end the requests registered under it: for a connection, Watch or CancelPeer ends all of them,
// for the parent of a single request Follow does, and Await looks at the context. context.AfterFunc for each request would be
// three allocations and a lock that all requests of a connection share.
//
// No user code runs under a lock: functions passed to AfterFunc get goroutines, OnCancel is called afterwards. The tracker
// has no goroutine of its own; a timer per shard runs while there are timeouts, or did lately.
//
// Peers can not choose ids that collide, because hashes are seeded. Limits on requests in flight are the server's.
//
// # Rejected
//
// Measured with BenchmarkRegisterRetire on two busy cores, where the usual way (BenchmarkRegisterRetireNaive: lock, map of
// cancel functions, 4 allocations) takes 425 ns with one request in flight, 450 with 1,000 and 740 with 100,000. This
// package: 165, 175 and 300 ns, 1 allocation. Half of it is allocating the entry and reading the clock; with 100,000, missing the
// caches, which is why the table is at most half full.
//
//   - A Go map per shard: three hashes for register and retire, and memory that stays after a burst (CAN03). Entries are
//     linked into buckets through themselves instead.
//   - context.WithCancelCause for each request: 2 to 3 allocations, and the parent's lock. The Entry is the context; a real one
//     is only made when somebody asks for the cause of an end.
//   - time.AfterFunc for each timeout: 2 allocations and 2 operations on the runtime's heap. A heap per shard, under the lock
//     that is held anyway, adds nothing measurable, and its timer is seldom set again, because new timeouts are mostly the
//     latest.
//   - Sharing Info between entries through a cache, which makes an entry a third smaller: no faster.
//   - Pooling entries: handlers may keep their context. Who sends a request may have it as a part of an allocation of its own (Room).
//   - A list of requests per peer, so that CancelPeer need not visit all: a second lock or a shared one on every request, to
//     save 2 ms per disconnect at 100,000 in flight.
//   - Running AfterFunc functions on the canceller's goroutine: they would hold up the read loop.
package inflight
