package task

import (
	"slices"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/rpc"
)

// Status is where a task is. The values are the protocol's.
type Status string

// The statuses of both revisions.
const (
	Working       Status = "working"
	InputRequired Status = "input_required"
	Completed     Status = "completed"
	Failed        Status = "failed"
	Cancelled     Status = "cancelled"
)

// edges is the state machine of both revisions (TSK07): what they disagree on (does isError fail, does cancel force) is
// a parameter of the transition, never another machine.
var edges = map[Status][]Status{
	Working:       {InputRequired, Completed, Failed, Cancelled},
	InputRequired: {Working, Completed, Failed, Cancelled},
	Completed:     nil,
	Failed:        nil,
	Cancelled:     nil,
}

// Statuses lists every status, the initial one first.
func Statuses() []Status {
	return []Status{Working, InputRequired, Completed, Failed, Cancelled}
}

// Terminal reports whether nothing can change s any more.
func (s Status) Terminal() bool { return s == Completed || s == Failed || s == Cancelled }

// CanBecome reports whether the edge from s to next exists.
func (s Status) CanBecome(next Status) bool { return slices.Contains(edges[s], next) }

// move is the only function that changes a status. Terminal states absorb: they answer with a *TerminalError.
func (t *Task) move(next Status, message string, now time.Time) error {
	switch {
	case t.Status.Terminal():
		return &TerminalError{Status: t.Status}
	case !t.Status.CanBecome(next):
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

func (t *Task) touch(now time.Time) {
	t.UpdatedAt = now
	t.Version++
}
