package task

import (
	"slices"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/rpc"
)

// overTask is what is kept of a task that is over until it expires: most of what a store holds. A State, which can still change, takes more than
// twice as much. It has nothing that the record has, too.
type overTask struct {
	created, updated  int64 // nanoseconds since 1970
	ttl, pollInterval time.Duration
	version           uint64
	reruns            int
	machine           Machine
	status            uint8 // its place in statuses
	kind              uint8
	uncancellable     bool
	cancelRequested   bool
	meta, result      []byte
	seldom            *seldomOver // nil: all of it is zero

	// The last lease: its holder is told that the task is over, everybody else that they have no lease.
	node  string
	epoch uint64
}

// seldomOver is what most tasks that have completed do not have.
type seldomOver struct {
	message, cancelReason string
	err                   *rpc.Error
	timeout, ran          time.Duration
}

func newOverTask(s *State) *overTask {
	t := &s.Task
	o := &overTask{
		created: t.CreatedAt.UnixNano(), updated: t.UpdatedAt.UnixNano(), ttl: t.TTL, pollInterval: t.PollInterval,
		version: t.Version, reruns: t.Reruns, machine: t.Machine, status: uint8(slices.Index(statuses[:], t.Status)), kind: t.Kind,
		uncancellable: t.Uncancellable, cancelRequested: t.CancelRequested,
		meta: t.Meta, result: t.Result, node: s.Node, epoch: s.Epoch,
	}
	if seldom := (seldomOver{message: t.StatusMessage, cancelReason: t.CancelReason, err: t.Error, timeout: t.Timeout, ran: t.Ran}); seldom != (seldomOver{}) {
		o.seldom = &seldom
	}
	return o
}

// fill sets the fields of t that an overTask has.
func (o *overTask) fill(t *Task) {
	t.CreatedAt, t.UpdatedAt, t.TTL, t.PollInterval = time.Unix(0, o.created), time.Unix(0, o.updated), o.ttl, o.pollInterval
	t.Version, t.Reruns, t.Machine, t.Status, t.Kind = o.version, o.reruns, o.machine, statuses[o.status], o.kind
	t.Uncancellable, t.CancelRequested = o.uncancellable, o.cancelRequested
	t.Meta, t.Result = o.meta, o.result
	if x := o.seldom; x != nil {
		t.StatusMessage, t.CancelReason, t.Error, t.Timeout, t.Ran = x.message, x.cancelReason, x.err, x.timeout, x.ran
	}
}

// copyTo copies the task to t, which is zero. The caller holds the lock, and the task has not been removed.
func (r *record) copyTo(t *Task) {
	if r.state != nil {
		*t = r.state.Task
		return
	}
	t.ID, t.Owner, t.Tool = r.id, r.owner.name, r.tool
	r.over.fill(t)
}

// finish puts an overTask in the place of the state of a task that is over. The state is used again: nothing else refers to it.
func (m *Memory) finish(r *record) {
	state := r.state
	r.over, r.state = newOverTask(state), nil
	*state = State{}
	m.spare.Put(state)
	r.account.running.Add(-1)
}

// refuse returns the error of a transition of a task that is over, which goes to t, if that is not nil.
func (r *record) refuse(t *Task, transition func(*State) error) error {
	s := State{Node: r.over.node, Epoch: r.over.epoch}
	r.copyTo(&s.Task)
	if t != nil {
		*t = s.Task
	}
	return transition(&s)
}
