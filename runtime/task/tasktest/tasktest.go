// Package tasktest is the contract of task.Store as tests: every store passes Run. It is for those who write a store.
//
//	func TestStore(t *testing.T) {
//		tasktest.Run(t, func(t *testing.T) task.Store { return mystore.Open(t.TempDir()) })
//	}
//
// Each check gets a store of its own and runs in a testing/synctest bubble: open is called inside it, and the store's
// clock has to be time.Now of the process, so that leases and expiry need no waiting. What the store starts has to end
// with t.Cleanup. Checks carry the ids of the rules that they prove.
//
// A bubble's clock stands still while a goroutine waits for a socket. Stores that work over one, or have a clock of their own, pass
// RunOnOwnClock: the same checks, with leases and times to live that are short enough to wait for.
//
// RunEngines checks several engines on one store, with their dispatcher: it is for those who write a dispatcher, too.
//
// The package's own tests run the checks on stores with one fault each, and show that they fail.
package tasktest

import (
	"cmp"
	"context"
	"errors"
	"reflect"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/task"
)

// Run checks the stores that open returns. Each call has to return an empty one.
func Run(t *testing.T, open func(t *testing.T) task.Store) {
	for _, c := range checks() {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c.run(&probe{reporter: t, ctx: t.Context(), Store: open(t), second: time.Second, patience: patience})
			})
		})
	}
}

// check is one part of the contract.
type check struct {
	name string
	run  func(p *probe)
}

func checks() []check {
	var all []check
	for _, part := range [][]check{stateChecks, leaseChecks, journalChecks, ownerChecks, quotaChecks, listChecks, operatorChecks, timeChecks} {
		all = append(all, part...)
	}
	return all
}

// reporter is what a check needs of *testing.T, so that the package's own tests can watch it fail.
type reporter interface {
	Helper()
	Errorf(format string, args ...any)
	FailNow()
}

// probe is a store under test, with what the checks have in common. Checks count in seconds of a bubble's clock; on another clock these are shorter
// (see clock.go).
type probe struct {
	reporter
	task.Store
	ctx    context.Context
	made   int
	second time.Duration // how long a check's second is
	own    bool          // the store has its own clock
	waited time.Duration
	// patience is how long to wait for what has to happen.
	patience time.Duration
}

const (
	ada   = "ada"
	bob   = "bob"
	node  = "node-1"
	lease = 30 * time.Second
)

// Machine is the state machine of the tasks that the checks create: every edge that a task can have.
func Machine() task.Machine {
	var edges []task.Edge
	for _, from := range task.Statuses() {
		for _, to := range task.Statuses() {
			if from != to && !from.Terminal() {
				edges = append(edges, task.Edge{From: from, To: to})
			}
		}
	}
	return machineOf(edges)
}

func machineOf(edges []task.Edge) task.Machine {
	m, err := task.NewMachine(edges)
	if err != nil {
		panic(err) // the table is at fault
	}
	return m
}

// Create gives the task a machine if it has none, and its creator as long as a lease to begin it.
func (p *probe) Create(ctx context.Context, t task.Task, q task.Quota) (task.Task, error) {
	t.Machine = cmp.Or(t.Machine, Machine())
	t.TTL, t.Grace = p.scaled(t.TTL), p.scaled(lease)
	return p.Store.Create(ctx, t, q)
}

// create makes a task of owner that lives for an hour.
func (p *probe) create(owner string) task.Task {
	p.Helper()
	return p.createWith(task.Task{Owner: owner, TTL: time.Hour})
}

func (p *probe) createWith(t task.Task) task.Task {
	p.Helper()
	p.made++
	t.ID = taskID(p.made)
	t.Tool = "tool"
	made, err := p.Create(p.ctx, t, task.Quota{})
	p.must(err, "create")
	return made
}

func taskID(n int) string {
	return "task-" + string(rune('a'+n/26/26%26)) + string(rune('a'+n/26%26)) + string(rune('a'+n%26))
}

func (p *probe) begin(id string) task.Begun {
	p.Helper()
	b, err := p.Begin(p.ctx, id, node, lease)
	p.must(err, "begin")
	return b
}

// begun creates a task of ada and begins it.
func (p *probe) begun() (string, task.Lease) {
	p.Helper()
	id := p.create(ada).ID
	return id, p.begin(id).Lease
}

func (p *probe) get(id string) task.Task {
	p.Helper()
	t, err := p.Get(p.ctx, ada, id)
	p.must(err, "get")
	return t
}

func (p *probe) must(err error, what string) {
	p.Helper()
	if err != nil {
		p.Errorf("%s: %v", what, err)
		p.FailNow()
	}
}

// refuses checks that err is target, and says what was tried.
func (p *probe) refuses(err, target error, what string) {
	p.Helper()
	if !errors.Is(err, target) {
		p.Errorf("%s: error is %v, want %v", what, err, target)
	}
}

// refusesTerminal checks for a *task.TerminalError that names status.
func (p *probe) refusesTerminal(err error, status task.Status, what string) {
	p.Helper()
	var over *task.TerminalError
	if !errors.As(err, &over) || over.Status != status {
		p.Errorf("%s: error is %v, want a TerminalError that names %s", what, err, status)
	}
}

func (p *probe) refusesName(err error, what string) {
	p.Helper()
	var name *task.NameError
	if !errors.As(err, &name) {
		p.Errorf("%s: error is %v, want a NameError", what, err)
	}
}

func (p *probe) equal(got, want any, what string) {
	p.Helper()
	if !reflect.DeepEqual(got, want) {
		p.Errorf("%s: got %v, want %v", what, got, want)
	}
}

// unchanged checks that fn leaves the task as it is, to the last field.
func (p *probe) unchanged(id, what string, fn func()) {
	p.Helper()
	before := p.get(id)
	p.wait(time.Second)
	fn()
	if after := p.get(id); !reflect.DeepEqual(before, after) {
		p.Errorf("%s changed the task from %+v to %+v", what, before, after)
	}
}

// status checks the status of a task.
func (p *probe) status(id string, want task.Status, what string) {
	p.Helper()
	if got := p.get(id).Status; got != want {
		p.Errorf("%s: task is %s, want %s", what, got, want)
	}
}
