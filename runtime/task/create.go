package task

import (
	"cmp"
	"context"
	"crypto/rand"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/internal/stack"
)

// Spec is a task to create. Args and Meta are the engine's from then on.
type Spec struct {
	Owner, Tool string
	Args, Meta  []byte
	// TTL is what the requestor asked for, nil for nothing. DefaultTTL and MaxTTL, if not 0, replace the engine's (TSK14).
	TTL                *time.Duration
	DefaultTTL, MaxTTL time.Duration
	PollInterval       time.Duration
	// Timeout is Task.Timeout.
	Timeout time.Duration
	// Reruns is how often the task may begin again after the process that ran it died: 0 means 3, a negative number never. After that the task
	// fails.
	Reruns int
	// Uncancellable tasks only record cooperative cancels (CAN14, EXT11).
	Uncancellable bool
	// QuotaKey names the requestor for limits and quotas if several requestors share the Owner; "" stands for Owner.
	QuotaKey string
	// Local is what Run.Local returns, if the run happens in this process and before a restart. It is not stored.
	Local any
}

// defaultReruns is how often a task begins again after a crash that it may itself have caused.
const defaultReruns = 3

// Created is a task that is stored and has not begun. Write the answer with its id, then call Start or Run, also if the writing
// failed (TSK04).
type Created struct {
	Task Task
	Beginning
}

// Beginning begins to run a task that was created, and to report its changes. Of all calls of Start and Run only the first does anything. The zero value
// is for no task.
type Beginning struct{ run *Run }

// Enter is the first part of Start and Run, for a caller that does something in between: the task's changes are reported from now on, and Close waits until
// the task has run. Start or Run has to follow, in the same goroutine.
func (b Beginning) Enter() {
	if b.run != nil {
		b.run.enter()
	}
}

// Start has the task run in another goroutine, or where the Dispatcher decides.
func (b Beginning) Start() {
	if r := b.begin(); r != nil {
		r.engine.executeLater(r.id())
	}
}

// Run is Start for a goroutine that has nothing else to do: if the task runs in this process, Run returns when it has.
func (b Beginning) Run() {
	if r := b.begin(); r != nil {
		defer r.engine.leave()
		_ = r.engine.execute(r.id()) // what fails is audited
	}
}

// begin returns the run if the caller has to execute it: nil for a later call, after a Close, and where a Dispatcher decides.
func (b Beginning) begin() *Run {
	r := b.run
	if r == nil || !r.start() {
		return nil
	}
	switch r.enter(); {
	case r.engine.config.Dispatcher != nil:
		r.dispatch()
		return nil
	case !r.entered:
		return nil
	}
	return r
}

// Create stores a task: on return every call finds it (TSK04). It does not run, and no change of it is
// reported, before it begins (Beginning). Errors: ErrTTL, *LimitError, ErrClosed.
func (e *Engine) Create(ctx context.Context, s Spec) (Created, error) {
	ttl, err := e.limits.ttl(s)
	if err != nil {
		return Created{}, err
	}
	who := s.requestor()
	if err := e.enterTask(who); err != nil {
		e.audit.refused(ctx, "create", s.Owner, "", err)
		return Created{}, err
	}
	defer e.leave()
	t, err := e.store.Create(ctx, Task{
		ID: rand.Text(), Owner: s.Owner, Tool: s.Tool, TTL: ttl, PollInterval: s.PollInterval, Timeout: s.Timeout,
		Uncancellable: s.Uncancellable, Machine: e.config.Machine, Grace: e.config.Lease,
		Reruns: max(cmp.Or(s.Reruns, defaultReruns), 0), Args: s.Args, Meta: s.Meta,
	}, e.limits.quota(s.QuotaKey))
	if err != nil {
		e.mu.Lock()
		e.slots.free(who)
		e.mu.Unlock()
		e.audit.refused(ctx, "create", s.Owner, "", err)
		return Created{}, err
	}
	r := e.newRun(t.ID)
	r.task, r.local, r.events.held = t, s.Local, true
	r.requestor, r.slot = who, true
	e.register(r)
	e.audit.created(ctx, &t)
	return Created{t, Beginning{r}}, nil
}

// register makes a created task known before it runs, and plans its expiry. If the engine was closed meanwhile, Close has not seen the task: it ends
// here.
func (e *Engine) register(r *Run) {
	at, expires := r.task.ExpiresAt()
	e.mu.Lock()
	closed := e.closed
	e.runs[r.task.ID] = r
	if expires {
		e.planLocked(&e.sweep, at, (*Engine).expire)
	}
	e.mu.Unlock()
	if closed {
		e.endForShutdown(r)
	}
}

// enter has Close wait for the run, unless that does not wait any more, and permits reports of changes. A second call does nothing.
func (r *Run) enter() {
	if r.released {
		return
	}
	r.released, r.entered = true, r.engine.enterWhileClosing()
	r.events.release(r.engine.config.OnChange)
}

// start notes that the task is to run; false: that is so already.
func (r *Run) start() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	first := !r.started
	r.started = true
	return first
}

// dispatch has the Dispatcher decide where the task runs for the first time.
func (r *Run) dispatch() {
	e := r.engine
	if r.entered {
		defer e.leave()
	}
	e.forgetLater(r)
	if err := e.dispatch(r.id()); err != nil {
		e.endUnbegun(r, internal("the task could not be dispatched"))
	}
}

// dispatch has a task run, here or where the Dispatcher decides.
func (e *Engine) dispatch(id string) error {
	if e.config.Dispatcher == nil {
		if e.enterWhileClosing() {
			e.executeLater(id)
		}
		return nil
	}
	err := e.config.Dispatcher.Dispatch(e.base, id)
	if err != nil {
		e.audit.failed("dispatch", &Task{ID: id}, err)
	}
	return err
}

// executeLater runs the task in a goroutine of its own. The caller has entered the engine for it.
func (e *Engine) executeLater(id string) {
	go func() {
		stack.Grow() // here, where there is no other frame yet that growing would move
		defer e.leave()
		e.execute(id)
	}()
}

// forgetLater drops what this process holds of a task that may run elsewhere: its slot at once, the rest unless it begins here within a lease.
func (e *Engine) forgetLater(r *Run) {
	e.mu.Lock()
	defer e.mu.Unlock()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.epoch > 0 || r.timer != nil {
		return
	}
	e.freeSlot(r)
	r.timer = e.timers.add(time.Now().Add(e.config.Lease), func() { e.forgetUnbegun(r) })
}
