package task

import (
	"context"
	"time"
)

// Store keeps tasks. Every method is atomic: it happens completely or not at all, and concurrent ones happen in
// some order. Times are those of the store's own clock. Slices that it gets are the store's from then on; those it returns
// are read-only. A State is what to keep per task, and its methods are the transitions, so that stores differ in where
// they keep it and not in what they do. tasktest.Run is the contract as tests. A Store may also be an Interrupter.
type Store interface {
	Requestors
	Runners
	Operators
	// Expire removes tasks whose TTL has passed, at most limit of them, and closes the channels of those who watch them.
	Expire(ctx context.Context, limit int) (Expiry, error)
	// Durable reports whether tasks outlive the process. Engines park running tasks of durable stores at shutdown.
	Durable() bool
}

// Requestors is the part of a Store for those who ask for work. A task of another owner, an unknown one and one
// past its TTL are all ErrNotFound.
type Requestors interface {
	// Create stores a task as working. On return it is durable and every other method finds it (TSK04, EXT15). ID, Owner,
	// Tool, TTL, PollInterval, Timeout, Uncancellable, Machine, Reruns, Grace, Args and Meta are taken from t. Errors: ErrExists, *LimitError.
	Create(ctx context.Context, t Task, quota Quota) (Task, error)
	Get(ctx context.Context, owner, id string) (Task, error)
	// List returns the owner's tasks in order of creation, without Args, Result and Error. Pages are stable: while tasks
	// come and go, a walk over all pages sees each task that stays exactly once. Error: ErrCursor.
	List(ctx context.Context, owner, cursor string, limit int) (Page, error)
	// Cancel ends the task at once (Force, or nobody has a live lease) or records the request. Tasks that can not be cancelled end by Force only. Error on
	// a finished one: *TerminalError, with the task.
	Cancel(ctx context.Context, owner, id string, c Cancel) (Task, error)
	// Answer answers open questions. Names of questions that are not open are ignored (EXT10). The task is working again when none is left.
	// Error: *LimitError.
	Answer(ctx context.Context, owner, id string, answers []Answer) (Task, error)
	// Watch is Get with a hint: the channel is closed when the task has changed since, or may have, and when the store is lost (ErrLost). Reading again
	// is up to the caller. What the store holds for the channel is released when ctx ends, at the latest.
	Watch(ctx context.Context, owner, id string) (Task, <-chan struct{}, error)
	// Discard removes all tasks of an owner that no longer exists, closes the channels of those who watch them, and returns the tasks as they were.
	Discard(ctx context.Context, owner string) ([]Task, error)
}

// Runners is the part of a Store for those who do the work. Begin grants a lease; a writer whose lease is not the
// task's current one gets ErrLease and changes nothing. A writer whose task is over gets *TerminalError, one who writes more
// than the quota allows *LimitError.
type Runners interface {
	// Begin leases the task to node for d, unless somebody holds a live lease (ErrLease) or the task is over.
	Begin(ctx context.Context, id, node string, d time.Duration) (Begun, error)
	// Record journals the value of a step. Error: *NameError if the name is taken.
	Record(ctx context.Context, l Lease, name string, data []byte) error
	// Ask journals a question and opens it: the task is input_required until all are answered. The store sets AskedAt; if the caller has set it,
	// Deadline is by the caller's clock, and the store converts it to its own. Asking a journaled question again changes nothing; the same name for
	// anything else is a *NameError.
	Ask(ctx context.Context, l Lease, q Question) (Task, error)
	// Withdraw closes an open question without an answer: as Unanswered if its deadline has passed, else as Withdrawn. The
	// task is working again when none is open. A question that is not open stays as it is.
	Withdraw(ctx context.Context, l Lease, name string) (Task, error)
	// Describe changes the status message.
	Describe(ctx context.Context, l Lease, message string) (Task, error)
	// Park gives the lease back with the task unfinished. It can begin again when no question is open. A task with a recorded cancel is cancelled instead,
	// unless it can not be.
	Park(ctx context.Context, l Lease) (Task, error)
	// Finish ends the task.
	Finish(ctx context.Context, l Lease, o Outcome) (Task, error)
	// Entry reads one entry of the journal. Error: *NameError if it is not there.
	Entry(ctx context.Context, l Lease, name string) (Entry, error)
	// Heartbeat extends leases by d from now and returns which of their runs should stop.
	Heartbeat(ctx context.Context, leases []Lease, d time.Duration) (Beat, error)
	// Orphans lists up to limit tasks that wait for somebody to run them: unfinished, without a live lease, and with no
	// question open, or one past its deadline, or a recorded cancel that is still to be carried out.
	Orphans(ctx context.Context, limit int) ([]string, error)
}

// Lease is the right to write to a task as its runner. Each Begin makes the epoch grow, so that a process that was stalled and lost its lease is
// refused when it wakes up.
type Lease struct {
	Task, Node string
	Epoch      uint64
}

// Cancel says how to cancel: with Force the task is cancelled at once (2025-11-25), without it the work is asked to
// stop and decides (2026-07-28).
type Cancel struct {
	Force  bool
	Reason string
}

// Page is one page of a list. Next is "" on the last one.
type Page struct {
	Tasks []Task
	Next  string
}

// Begun is what a new run needs to know.
type Begun struct {
	Lease   Lease
	Task    Task
	Journal []Entry
	// Account is the account that the task counts in, as Quota.Account named it at Create; "" stands for the owner's.
	Account string
	// Crashes is State.Crashes.
	Crashes int
	// Now is the time by the store's clock.
	Now time.Time
}

// EntryKind says what a journal entry is.
type EntryKind uint8

// Kinds of journal entries.
const (
	// Done is the value of a step.
	Done EntryKind = iota
	// Open is a question without an answer yet.
	Open
	// Answered is a question with its answer in Data.
	Answered
	// Unanswered is a question whose deadline passed; Withdrawn is one that the handler no longer waits for.
	Unanswered
	Withdrawn
)

// Entry is one entry of a journal. Names are unique in it.
type Entry struct {
	Name     string
	Kind     EntryKind
	Question Question
	Data     []byte
}

// Beat is the answer to a heartbeat.
type Beat struct {
	// Lost leases are no longer the caller's: the task is over, gone, or leased to somebody else.
	Lost []Lease
	// Cancel are the leases whose tasks a caller asked to cancel.
	Cancel []Lease
}

// Expiry is the answer of Expire.
type Expiry struct {
	// Removed are the tasks as they were.
	Removed []Task
	// Next is when the next task expires; zero if none will.
	Next time.Time
}
