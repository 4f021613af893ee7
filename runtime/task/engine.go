package task

import (
	"context"
	"crypto/rand"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/inflight"
	"github.com/mcpkiln/mcpkiln/runtime/internal/rate"
)

// Config is what an Engine is made of. Runner and Machine are required.
type Config struct {
	// Machine says which transitions the tasks may make (TSK07); see NewMachine.
	Machine Machine
	// Runner does the work of a task. It runs in the goroutine that calls Beginning.Run or Engine.Run, otherwise in one of its own. A panic or
	// runtime.Goexit fails the task (TSK25).
	Runner Runner
	// Store keeps the tasks; nil means NewMemory().
	Store Store
	// Dispatcher decides where tasks run; nil means in this process, at once.
	Dispatcher Dispatcher
	Limits     Limits
	// Logger gets the audit records (TSK23), stacks of panics and store failures; nil discards them.
	Logger *slog.Logger
	// TimedOut says how a task ends whose Timeout has passed; nil means failed, with rpc.CodeInternalError. It must not block.
	TimedOut func(Task) Outcome
	// OnChange is called with every change of a task that was made through this engine, in order per task (TSK20), and not before the task
	// begins (Beginning, TSK04). It must not block for long: the caller that changed the task waits for it. Creation and expiry are not changes.
	OnChange func(Task)
	// OnRemove is called with the id of every task that expired or was discarded, perhaps before it began. It must not block for long either.
	OnRemove func(id string)
	// Node names this process in leases; "" means a random name.
	Node string
	// Lease is how long a process that sends no heartbeat keeps its tasks; 0 means 30 seconds. Heartbeats are sent three times per lease.
	Lease time.Duration
	// ParkAfter is how long a question is open before the run that asked it is ended and begun again with the answer, so that it holds
	// nothing meanwhile; 0 means 30 seconds, a negative duration never. It is for tasks of a durable store that may run again and can be
	// cancelled.
	ParkAfter time.Duration
	// Grace is how long Close leaves tasks alone that can not be cancelled, or may not run again; 0 means until its ctx ends, a negative duration not at all.
	Grace time.Duration
	// Resume has New call Engine.Resume.
	Resume bool
	// CanRun reports whether this process has what a task needs, such as its tool; nil: it always has. A task that it can not run is given back to others
	// that look for orphans. If none of them has begun it when a lease is over, Runner is called, and says why the task fails. See Engine.CanRunMore.
	CanRun func(*Run) bool
}

// Runner does the work of one task. ctx ends with an *inflight.Cause: peer (cancelled), timeout, timeout with ErrExpired,
// shutdown, disconnect with ErrDiscarded, or parent with ErrLease (another process has taken over, or may soon, since no heartbeat arrives) or
// ErrParked. What is returned after ctx ended is discarded.
type Runner func(ctx context.Context, r *Run) Outcome

// Dispatcher decides where a task runs: Dispatch makes some process call Engine.Run(id), now or later. It carries ids
// only, and may deliver them twice or late. It is called by many goroutines.
type Dispatcher interface {
	Dispatch(ctx context.Context, id string) error
}

// Engine runs tasks: it owns their contexts, one timer for all of them, limits, ownership and the audit log. It is safe
// for concurrent use. Make one with New and end it with Close.
type Engine struct {
	config Config
	store  Store
	// alwaysReplays: the store is a Replayer, for tests, with which runs are parked after each step, so that the handler runs again.
	alwaysReplays bool
	limits        Limits
	audit         audit
	polls         *rate.Table[string] // by task: how often clients read it (TSK22)
	timers        timers

	began  time.Time
	base   context.Context // of the engine's own store calls
	cancel context.CancelFunc
	over   *inflight.Cause // ends the contexts of runs that have ended
	done   chan struct{}   // closed by Close to end the remaining waiters
	end    sync.Once

	mu        sync.Mutex
	stopHints []func()
	stopped   bool // the functions of stopHints have been called, or are about to be
	closed    bool
	closedFor string             // the reason of CloseFor
	busy      int                // goroutines and runs that Close waits for
	idle      chan struct{}      // closed when closed and not busy
	runs      map[string]*Run    // in this process, also those that have not begun, by task
	beginning map[string][]*Run  // later runs, by task, until runs has them or they did not begin: what stops a run reaches them, too
	strays    map[string]*events // of tasks without a run here, by task, for the calls that change them
	parked    map[string]*timer  // wake timers, by task
	slots     slots
	sweep     *timer // the next look for expired tasks
	// sweepPause is the least pause before a sweep; it doubles from sweep to sweep that removes nothing although something has expired.
	sweepPause time.Duration
	heartbeat  *timer // the next heartbeat
	fence      *timer // the next look for leases that are about to end
	orphanScan *timer // the next look for orphans
	resumes    bool   // Resume was called
	// givenBack are tasks that can not run here (Config.CanRun).
	givenBack map[string]givenBack
}

// New returns a running engine.
func New(c Config) *Engine {
	if c.Runner == nil {
		panic("task: Config.Runner is required")
	}
	if c.Machine == 0 {
		panic("task: Config.Machine is required")
	}
	if c.Store == nil {
		c.Store = NewMemory()
	}
	if c.Node == "" {
		c.Node = rand.Text()
	}
	if c.Lease <= 0 {
		c.Lease = 30 * time.Second
	}
	if c.ParkAfter == 0 {
		c.ParkAfter = defaultParkAfter
	}
	e := &Engine{config: c, began: time.Now(), alwaysReplays: replays(c.Store), store: c.Store, limits: c.Limits.withDefaults(), audit: newAudit(c.Logger), polls: rate.NewTable[string]()}
	e.base, e.cancel = context.WithCancel(context.Background())
	e.over = &inflight.Cause{Source: inflight.SourceCompleted}
	e.done, e.idle, e.runs, e.slots = make(chan struct{}), make(chan struct{}), map[string]*Run{}, slots{owners: map[string]int{}, keys: map[string]int{}}
	e.beginning, e.strays, e.parked, e.givenBack, e.sweepPause = map[string][]*Run{}, map[string]*events{}, map[string]*timer{}, map[string]givenBack{}, sweepGap
	e.listenForInterrupts()
	if d, ok := c.Dispatcher.(Deliverer); ok { // ids that it delivers in this process go to e.Run
		d.Deliver(e)
	}
	e.expireAt(time.Now()) // the store may hold tasks already
	if c.Resume {
		e.Resume()
	}
	return e
}

// enter counts something that Close has to wait for until leave; false means that the engine is closed.
func (e *Engine) enter() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return false
	}
	e.busy++
	return true
}

func (e *Engine) leave() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.busy--
	e.wakeIdle()
}

func (e *Engine) wakeIdle() {
	if e.closed && e.busy == 0 {
		close(e.idle)
	}
}

// spawn runs fn in a goroutine that Close waits for. A closed engine still does its upkeep while it waits for runs; when it waits for none,
// spawn does nothing.
func (e *Engine) spawn(fn func()) {
	if e.enterWhileClosing() {
		go func() {
			defer e.leave()
			fn()
		}()
	}
}

// enterWhileClosing is enter for work that may begin even while Close waits.
func (e *Engine) enterWhileClosing() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed && e.busy == 0 {
		return false
	}
	e.busy++
	return true
}

// reach returns the runs of a task in this process to which it matters that it is cancelled: also those whose call of Begin has not returned.
func (e *Engine) reach(id string) []*Run {
	e.mu.Lock()
	defer e.mu.Unlock()
	all := slices.Clone(e.beginning[id])
	if r := e.runs[id]; r != nil {
		all = append(all, r)
	}
	return all
}

// run returns the run of a task in this process; nil if there is none.
func (e *Engine) run(id string) *Run {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.runs[id]
}
