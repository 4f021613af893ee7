package task

import (
	"math"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/rpc"
)

// Unlimited is the TTL of a task that never expires. Limits.MaxTTL has to allow it (TSK14).
const Unlimited time.Duration = math.MaxInt64

// Task is a snapshot of one task. Its slices and Error are shared between snapshots: they are read-only.
type Task struct {
	// ID can not be guessed: it has at least 128 random bits (TSK05).
	ID string
	// Owner is the authorization context that created the task, "" for none (TSK21).
	Owner string
	Tool  string

	Status Status
	// StatusMessage is for people: what the task is doing, or why it failed.
	StatusMessage string
	// CreatedAt and UpdatedAt are times of the store's clock (TSK08).
	CreatedAt, UpdatedAt time.Time
	// TTL is how long after CreatedAt the task is kept, or Unlimited (TSK14).
	TTL time.Duration
	// PollInterval is the advised pause between two polls; 0 means none.
	PollInterval time.Duration
	// Timeout is how long all runs of the task may take together, without the time in which a question is open; 0 means no end but the TTL.
	Timeout time.Duration
	// Ran is how much of the Timeout was used at the last change; 0 without one. What a run took after its last change, before it crashed, is
	// not known.
	Ran time.Duration

	// Reruns is how often the task may begin again after a run that ended without giving its lease back: a crash, most likely. With 0 it runs
	// once, so it is never parked either.
	Reruns int
	// Grace is how long after its creation the task is no orphan, because its creator is to begin it; 0 means 30 seconds. Only Create
	// looks at it.
	Grace time.Duration

	// Version grows with every change, so that two snapshots can be put in order.
	Version uint64
	// Uncancellable tasks are not stopped by a cooperative cancel; it is only recorded (CAN14, EXT11).
	Uncancellable bool
	// Kind is Outcome.Kind.
	Kind uint8
	// CancelRequested: a caller asked to cancel; CancelReason is why.
	CancelRequested bool
	// Machine says which transitions the task may make.
	Machine      Machine
	CancelReason string

	// Questions are the open ones, oldest first (TSK19, EXT09).
	Questions []Question
	// Args and Meta come from the creator, and are opaque; Args are kept until the task is over. List leaves Args, Result and Error out.
	Args, Meta []byte
	// Result is what a run returned, verbatim; Error replaces it when the request would have been answered with a
	// JSON-RPC error (TSK10). A tool result that says isError is a Result, whichever status it gives.
	Result []byte
	Error  *rpc.Error
}

// ExpiresAt is when the task is removed; ok is false if never.
func (t *Task) ExpiresAt() (at time.Time, ok bool) {
	if t.TTL == Unlimited {
		return time.Time{}, false
	}
	return t.CreatedAt.Add(t.TTL), true
}

// Expired reports whether the task's time is over at now.
func (t *Task) Expired(now time.Time) bool {
	at, ok := t.ExpiresAt()
	return ok && !now.Before(at)
}

// CodeCancelled is the error code of tasks/result for a cancelled task (TSK11). The protocol leaves it open; the number is
// outside JSON-RPC's reserved range and known from the Language Server Protocol. What else this package puts into tasks
// (panic, timeout, too large a result, shutdown) has rpc.CodeInternalError.
const CodeCancelled = -32800

// Outcome is how a run ended. Status says completed or failed (cancelled: the work itself gave up on request); what a
// tool result with isError becomes is the caller's choice, as revisions differ (TSK12, EXT08).
type Outcome struct {
	Status  Status
	Message string
	Result  []byte
	Error   *rpc.Error
	// Kind refines Status by a number of the caller's own, 0 for none. Lists have it, but not Result and Error.
	Kind uint8
}

// Question is one open or answered question of a task. Name is unique for the life of the task and is its input key on
// the wire (EXT09).
type Question struct {
	Name string
	// Method and Payload are the request to send, opaque.
	Method  string
	Payload []byte
	AskedAt time.Time
	// Deadline is when the handler that asks stops waiting; zero means never.
	Deadline time.Time
}

func (q *Question) overdue(now time.Time) bool {
	return !q.Deadline.IsZero() && !now.Before(q.Deadline)
}

// Answer answers the question Name. Data is opaque: declining is an answer too.
type Answer struct {
	Name string
	Data []byte
}
