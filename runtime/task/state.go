package task

import (
	"cmp"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/rpc"
)

// startGrace is the default of Task.Grace: a stored task that has not begun by then is an orphan, since its creator has died between Create and
// Beginning.Start.
const startGrace = 30 * time.Second

// State is what a store keeps of one task. Its methods are the only transitions there are: a store reads a State, calls
// one with its clock's time, and writes it back if there was no error, all under one lock or in one transaction. On an
// error nothing has changed. Slices inside Task are replaced, never written to, since snapshots share them.
type State struct {
	Task Task
	// Node and Epoch are the lease, which is live until Leased. Node "" means that nobody runs the task.
	Node   string
	Epoch  uint64
	Leased time.Time
	// Since is the time up to which Task.Ran counts the running time; zero while none is counted.
	Since time.Time
	// Counted is the epoch of the last run that counts its time, 0 if there is none. Programs of an earlier version begin runs that do not count theirs
	// (DUR07), which uncounted estimates.
	Counted uint64
	// Crashes counts the runs that were followed by another one without having given their leases back.
	Crashes int
	Journal []Entry
}

// NewState is the state of a task that is being created; the store's clock says now.
func NewState(t Task, now time.Time) State {
	return State{
		Task: Task{
			ID: t.ID, Owner: t.Owner, Tool: t.Tool, Status: Working, CreatedAt: now, UpdatedAt: now,
			TTL: t.TTL, PollInterval: t.PollInterval, Timeout: t.Timeout, Uncancellable: t.Uncancellable,
			Reruns: t.Reruns, Version: 1, Machine: t.Machine, Args: t.Args, Meta: t.Meta,
		},
		Leased: now.Add(cmp.Or(t.Grace, startGrace)),
	}
}

// Size is how many bytes of the quota the task takes: its contents, and taskSize for itself.
func (s *State) Size() int64 {
	t := &s.Task
	n := taskSize + int64(len(t.Args)+len(t.Meta)+len(t.Result)+len(t.StatusMessage)+len(t.CancelReason)) + sizeOf(t.Error)
	for i := range s.Journal {
		n += s.Journal[i].size()
	}
	return n
}

const taskSize = 1 << 10

func (o *Outcome) size() int64 { return int64(len(o.Message)+len(o.Result)) + sizeOf(o.Error) }

func sizeOf(err *rpc.Error) int64 {
	if err == nil {
		return 0
	}
	return int64(len(err.Message) + len(err.Data))
}

// Begin leases the task to node for d.
func (s *State) Begin(node string, d time.Duration, now time.Time) (Lease, error) {
	if s.Task.Status.Terminal() {
		return Lease{}, &TerminalError{Status: s.Task.Status}
	}
	if s.Node != "" && now.Before(s.Leased) {
		return Lease{}, ErrLease
	}
	if s.Node != "" {
		s.Crashes++
		s.Since = time.Time{}
	}
	s.Node, s.Leased = node, now.Add(d)
	if s.Task.Timeout > 0 {
		s.Task.Ran += s.uncounted()
		s.Counted = s.Epoch + 1
	}
	s.Epoch++
	s.count(now)
	return Lease{s.Task.ID, node, s.Epoch}, nil
}

// uncounted estimates the running time of the first run, if that was the only one and did not count its time: it ran from the creation of the task to its
// first question, or to its last change if it asked nothing. It may have begun later, so at least half of the task's timeout is left.
func (s *State) uncounted() time.Duration {
	if s.Epoch != 1 || s.Counted > 0 {
		return 0
	}
	until := s.Task.UpdatedAt
	for i := range s.Journal {
		if e := &s.Journal[i]; e.Kind != Done {
			until = e.Question.AskedAt
			break
		}
	}
	return min(until.Sub(s.Task.CreatedAt), s.Task.Timeout/2)
}

// count adds to the running time what has passed since the last change: time with a lease and without an open question (CAN28).
func (s *State) count(now time.Time) {
	if !s.Since.IsZero() {
		s.Task.Ran += max(now.Sub(s.Since), 0)
	}
	s.Since = time.Time{}
	if s.Counted == s.Epoch && s.Counted > 0 && s.Node != "" && len(s.Task.Questions) == 0 && !s.Task.Status.Terminal() {
		s.Since = now
	}
}

// checkLease refuses every lease but the current one, and the current one, too, once the task is over. A lease that has run out stays current until another
// run begins.
func (s *State) checkLease(l Lease) error {
	if s.Node == "" || l.Node != s.Node || l.Epoch != s.Epoch {
		return ErrLease
	}
	if s.Task.Status.Terminal() {
		return &TerminalError{Status: s.Task.Status}
	}
	return nil
}

// Heartbeat extends the lease; false means that it is lost, or the task is over.
func (s *State) Heartbeat(l Lease, d time.Duration, now time.Time) bool {
	if s.checkLease(l) != nil {
		return false
	}
	s.Leased = now.Add(d)
	return true
}

// Park gives the lease back, or ends the task if a cancel is recorded: the run that gives its lease back is the only one that could carry it out (EXT11).
func (s *State) Park(l Lease, now time.Time) error {
	if err := s.checkLease(l); err != nil {
		return err
	}
	if s.cancelDue() {
		return s.end(cancelled(s.Task.CancelReason), now)
	}
	s.Node, s.Leased = "", time.Time{}
	s.count(now)
	s.Task.touch(now)
	return nil
}

// Orphan reports whether the task waits for somebody to run it.
func (s *State) Orphan(now time.Time) bool {
	at, ok := s.OrphanAt()
	return ok && !now.Before(at)
}

// OrphanAt is the time at which the task becomes an orphan, unless it changes or its lease is extended: after its lease, and after the earliest
// deadline of its open questions, if it has any and is not to be cancelled. ok is false if it never does, since it is over or none of its open questions
// has a deadline.
func (s *State) OrphanAt() (at time.Time, ok bool) {
	if s.Task.Status.Terminal() {
		return time.Time{}, false
	}
	if len(s.Task.Questions) == 0 || s.cancelDue() {
		return s.Leased, true
	}
	at, ok = earliestDeadline(s.Task.Questions)
	if ok && at.Before(s.Leased) {
		at = s.Leased
	}
	return at, ok
}

// earliestDeadline returns the first deadline of questions; ok is false if none has one.
func earliestDeadline(questions []Question) (at time.Time, ok bool) {
	for _, q := range questions {
		if !q.Deadline.IsZero() && (!ok || q.Deadline.Before(at)) {
			at, ok = q.Deadline, true
		}
	}
	return at, ok
}

// Describe changes the status message.
func (s *State) Describe(l Lease, message string, now time.Time) error {
	if err := s.checkLease(l); err != nil {
		return err
	}
	s.Task.describe(message)
	s.count(now)
	s.Task.touch(now)
	return nil
}

// Finish ends the task.
func (s *State) Finish(l Lease, o Outcome, now time.Time) error {
	if err := s.checkLease(l); err != nil {
		return err
	}
	if !o.Status.Terminal() {
		return &EdgeError{From: s.Task.Status, To: o.Status}
	}
	return s.end(o, now)
}

// Cancel ends the task, or records the request. A task that nobody runs ends at once, unless it can not be cancelled: so does one whose lease has run out,
// since its run has stopped itself (DUR02), and the next one would not call the handler.
func (s *State) Cancel(c Cancel, now time.Time) error {
	if s.Task.Status.Terminal() {
		return &TerminalError{Status: s.Task.Status}
	}
	running := s.Node != "" && now.Before(s.Leased)
	if c.Force || !running && !s.Task.Uncancellable {
		s.Task.CancelRequested, s.Task.CancelReason = true, c.Reason
		return s.end(cancelled(c.Reason), now)
	}
	if !s.Task.CancelRequested {
		s.Task.CancelRequested, s.Task.CancelReason = true, c.Reason
		s.Task.touch(now)
	}
	return nil
}

// cancelDue reports whether a recorded cancel is to be carried out.
func (s *State) cancelDue() bool { return s.Task.CancelRequested && !s.Task.Uncancellable }

// end ends the task, whoever runs it.
func (s *State) end(o Outcome, now time.Time) error {
	if err := s.Task.move(o.Status, o.Message, now); err != nil {
		return err
	}
	s.count(now)
	s.Task.Result, s.Task.Error, s.Task.Kind, s.Task.Args = o.Result, o.Error, o.Kind, nil
	return nil
}

// cancelled is the outcome of a cancelled task (TSK11).
func cancelled(reason string) Outcome {
	message := "cancelled on request"
	if reason != "" {
		message += ": " + reason
	}
	return Outcome{Status: Cancelled, Message: message, Error: &rpc.Error{Code: CodeCancelled, Message: "the task was " + message}}
}
