package task

import (
	"slices"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/rpc"
)

// Status is the status of a task. The values are the protocol's.
type Status string

// The statuses of the revisions that have tasks.
const (
	Working       Status = "working"
	InputRequired Status = "input_required"
	Completed     Status = "completed"
	Failed        Status = "failed"
	Cancelled     Status = "cancelled"
)

// statuses are all of them, the initial one first. A Machine depends on the order.
var statuses = [...]Status{Working, InputRequired, Completed, Failed, Cancelled}

// Statuses lists every status, the initial one first.
func Statuses() []Status { return slices.Clone(statuses[:]) }

// Terminal reports whether nothing can change s any more.
func (s Status) Terminal() bool { return s == Completed || s == Failed || s == Cancelled }

// move is the only function that changes a status. A task that has a terminal one keeps it: *TerminalError.
func (t *Task) move(next Status, message string, now time.Time) error {
	switch {
	case t.Status.Terminal():
		return &TerminalError{Status: t.Status}
	case !t.Machine.Allows(t.Status, next):
		return &EdgeError{From: t.Status, To: next}
	}
	t.Status = next
	t.describe(message)
	if next != InputRequired {
		t.Questions = nil
	}
	t.touch(now)
	return nil
}

// MaxStatusMessage is how much of a status message is kept, in bytes: it is for people, and every list has it. What ended the task is in
// its result or error, in full.
const MaxStatusMessage = 4 << 10

func (t *Task) describe(message string) { t.StatusMessage = rpc.CutTo(message, MaxStatusMessage) }

// touch records that the task has changed.
func (t *Task) touch(now time.Time) {
	t.UpdatedAt = now
	t.Version++
}
