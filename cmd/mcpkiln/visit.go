package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcpkiln/mcpkiln/cmd/mcpkiln/internal/console"
	"github.com/mcpkiln/mcpkiln/runtime/client"
	"github.com/mcpkiln/mcpkiln/runtime/inflight"
)

// visit is one session of a command with a server.
type visit struct {
	*remote // the flags of commands that talk to a server
	cmd     *cobra.Command
	ctx     context.Context // ends with interrupts, when time is up, and when a question can not be answered
	end     context.CancelCauseFunc
	// interrupts ends on an interrupt: a signal, or Ctrl-C in a form.
	interrupts context.Context
	interrupt  context.CancelCauseFunc
	session    *client.Session
	child      bool              // the server is a child process, which ends with the session
	durable    bool              // such a server keeps its tasks in a store
	terminal   *console.Terminal // nil: there is none
	clock      clock
	leftOut    []client.LeftOut      // tools of the list that can not be called
	forced     atomic.Bool           // hurry is about to end the process
	quits      atomic.Bool           // the interrupt was SIGQUIT: hurry does not wait for a second one
	done       atomic.Pointer[error] // the outcome, once only the end of the session is awaited
	finished   atomic.Bool           // there was no interrupt before that
	settling   sync.Mutex            // for asksStill

	mu      sync.Mutex
	answers []answer // from --answer, not used yet
	// deliveries are the answers that were.
	deliveries  []delivery
	settles     chan struct{}       // closed when one of them is settled, see take; nil: nobody waits for that
	unused      string              // why an answer is not used; "": nothing that it fits was asked
	misfits     []error             // why none of them fits the questions that were not answered by one
	open        []openQuestion      // those that nobody answers, see staysOpen
	endsOpen    *time.Timer         // ends the visit because of them; nil: there is none
	ref         *client.Ref         // of the task that asks, if another command could answer it
	ttl         time.Duration       // how long the server keeps the task that this command is about; 0 or less: not known
	waits       context.Context     // ends with the wait of `mcpkiln task wait`; nil for other commands, and when a question was open for a while, see asksStill
	reply       *reply              // of `mcpkiln task answer`; nil for other commands
	shown       chan<- openQuestion // receives questions, which stay open; nil: questions are answered
	resumeClock func()              // starts the clock again when the task asks nothing any more; nil: it was not stopped for that
	stderr      serverLines         // of a server on a pipe, with --verbose
	alike       map[string]int      // how many warnings of each kind there were
	warned      tally               // the warnings, of which each is printed once
	outcome     string              // of the call or task when the visit ended early; "" for none
}

// grace is how long a server on a pipe may take to exit when its input is closed, and again when it is sent a signal: together less than
// patience.
const grace = 800 * time.Millisecond

// patience is how long an interrupted command waits for its call to end, and any command for the end of its session if that has failed.
const patience = 2 * time.Second

// leaveTime is how long a command whose result is printed waits for a server over HTTP to take its leave.
const leaveTime = time.Second

// visit opens a session, calls do, and closes the session. Its error has an exit status.
func (r *remote) visit(cmd *cobra.Command, t client.Transport, answers []answer, do func(v *visit) error) error {
	if r.timeout < 0 {
		return refused(fmt.Errorf("--timeout %v: it is a time such as 30s, or 0 for the default", r.timeout))
	}
	v := &visit{remote: r, cmd: cmd, answers: answers, terminal: console.Open(os.Stdin, os.Stderr)}
	_, v.child = t.(*client.Process)
	v.interrupts, v.interrupt = context.WithCancelCause(cmd.Context())
	v.ctx, v.end = context.WithCancelCause(v.interrupts)
	defer v.interrupt(nil)
	defer v.awaitQuit()()
	defer context.AfterFunc(v.interrupts, v.hurry)()
	defer context.AfterFunc(v.ctx, v.terminal.Done)() // before the next of several questions is shown
	defer v.countWarnings()
	defer v.stderr.flush()
	session, err := v.connect(t)
	if err != nil {
		return v.status(v.notStarted(t, v.refusedSession(err)))
	}
	v.mu.Lock()
	v.session = session
	v.mu.Unlock()
	defer v.warnOfUnusedAnswers() // when it is known what has become of all
	defer v.hangUp()
	err = do(v)
	v.terminal.Done()
	err = v.status(err)
	v.done.Store(&err)
	v.finished.Store(v.interrupts.Err() == nil)
	return err
}

// connect opens the session. All requests of that together take no longer than one of --timeout.
func (v *visit) connect(t client.Transport) (*client.Session, error) {
	ctx := v.ctx
	if v.timeout > 0 {
		cause := &client.Cause{Source: inflight.SourceTimeout, Reason: "not done after " + v.timeout.String()}
		within, cancel := context.WithTimeoutCause(ctx, v.timeout, cause)
		defer cancel()
		ctx = within
	}
	return client.Connect(ctx, t, v.options(t)...)
}

// sameInterrupt is how long after a signal a second one is the same interrupt: `go tool` and timeout pass a signal on that the terminal has sent to the
// whole process group.
const sameInterrupt = 300 * time.Millisecond

// hurry ends the command within patience after an interrupt, and at once after a second one. A server on a pipe ends with it. A command that has
// its result keeps its status, and no server over HTTP holds it up; one that is done because of the interrupt has the cancellation to send (CAN15).
func (v *visit) hurry() {
	if v.finished.Load() && !v.child {
		v.abort()
		return
	}
	again := make(chan os.Signal, 1)
	signal.Notify(again, append(endSignals(), syscall.SIGQUIT)...)
	time.AfterFunc(patience/4, func() {
		if err := v.done.Load(); v.terminal != nil && (err == nil || exitOf(*err) == exitInterrupted) {
			fmt.Fprintln(v.cmd.ErrOrStderr(), "\nmcpkiln: waiting for the server to end the call; Ctrl-C again ends at once")
		}
	})
	go func() {
		time.Sleep(sameInterrupt)
		select {
		case <-again:
		default:
		}
		if !v.quits.Load() {
			select {
			case <-again:
			case <-time.After(patience - sameInterrupt):
			}
		}
		if err := v.done.Load(); err != nil {
			v.abort()
			time.Sleep(killWait) // mostly the command ends before
			os.Exit(exitOf(*err))
		}
		v.forced.Store(true)
		fmt.Fprintln(v.cmd.ErrOrStderr(), "mcpkiln:", v.withOutcome(errInterrupted))
		v.abort()
		os.Exit(exitInterrupted)
	}()
}

// awaitQuit makes SIGQUIT (Ctrl-\ on a terminal) an interrupt and a second one, until stop is called: the Go runtime would end the process at once, and leave a
// server on a pipe behind.
func (v *visit) awaitQuit() (stop func()) {
	quit := make(chan os.Signal, 1)
	signal.Notify(quit, syscall.SIGQUIT)
	go func() {
		if _, came := <-quit; came {
			v.quits.Store(true)
			v.interrupt(errInterrupted)
		}
	}()
	return func() {
		signal.Stop(quit)
		close(quit)
	}
}

// exitOf returns the exit status for the outcome of a visit.
func exitOf(err error) int {
	var own *statusError
	switch {
	case err == nil:
		return exitClean
	case errors.As(err, &own):
		return own.status
	}
	return exitFailed
}

// killWait is how long to wait for a killed server on a pipe to exit.
const killWait = time.Second

// abort ends the session at once.
func (v *visit) abort() {
	v.mu.Lock()
	s := v.session
	v.mu.Unlock()
	if s == nil {
		return // there is none yet
	}
	ended := make(chan error, 1)
	go func() { ended <- s.Abort() }()
	select {
	case <-ended:
	case <-time.After(killWait):
	}
}

func (v *visit) options(t client.Transport) []client.Option {
	opts := []client.Option{
		client.WithInfo(client.Info("mcpkiln", toolVersion())), client.WithGrace(grace), client.WithLogger(slog.New(warnings{v})), client.WithHandlers(v.handlers()),
		client.WithServerName(v.server),
	}
	if v.verbose {
		opts = append(opts, v.beVerbose(t)...)
	}
	if v.revision != "" {
		opts = append(opts, client.WithRevision(v.revision))
	}
	if v.timeout > 0 {
		opts = append(opts, client.WithTimeout(v.timeout, v.timeout), client.WithProbe(min(maxProbe, v.timeout/2)))
	}
	return opts
}

// maxProbe is how long a server on a pipe may take to answer server/discover before it gets the handshake, too, for which half of --timeout is left.
const maxProbe = 2 * time.Second

// hangUp closes the session. Errors are shown only with --verbose.
func (v *visit) hangUp() {
	if !v.child {
		wait := patience
		if err := v.done.Load(); err != nil && *err == nil {
			wait = leaveTime
		}
		defer time.AfterFunc(wait, func() { _ = v.session.Abort() }).Stop()
	}
	if err := v.session.Close(); err != nil && v.verbose {
		fmt.Fprintln(v.cmd.ErrOrStderr(), "mcpkiln:", err)
	}
	if v.forced.Load() {
		select {} // hurry ends the process
	}
}

// status gives the error of a visit its exit status. The cause of v.ctx takes precedence over errors that follow from it.
func (v *visit) status(err error) error {
	if err == nil || v.ctx.Err() == nil {
		return v.withRemedy(err)
	}
	cause := context.Cause(v.ctx)
	var asked *questionError
	var own *statusError
	switch {
	case errors.As(cause, &asked):
		return v.inputRequired(asked)
	case errors.As(cause, &own):
		return &statusError{own.status, v.withOutcome(own.err)}
	}
	return &statusError{exitInterrupted, v.withOutcome(errInterrupted)}
}

// withOutcome adds the outcome of the call or task to the error that ended a visit.
func (v *visit) withOutcome(err error) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.outcome == "" {
		return err
	}
	return fmt.Errorf("%w\n  %s", err, v.outcome)
}

// noteOutcome notes the outcome of the call or task of the visit.
func (v *visit) noteOutcome(outcome string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.outcome = outcome
}

// within returns d, or the time of --timeout if that is less.
func (v *visit) within(d time.Duration) time.Duration {
	if v.timeout > 0 {
		return min(d, v.timeout)
	}
	return d
}

// clock ends a visit when time is up. It stops while a question is open.
type clock struct {
	mu    sync.Mutex
	left  time.Duration
	since time.Time
	timer *time.Timer // nil: the clock is stopped
	open  int         // number of open questions
	ring  func()
}

// start has ring called after d; never if d is 0.
func (c *clock) start(d time.Duration, ring func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if d <= 0 {
		return
	}
	c.left, c.ring = d, ring
	c.run()
}

func (c *clock) run() {
	if c.ring != nil && c.open == 0 {
		c.since, c.timer = time.Now(), time.AfterFunc(c.left, c.ring)
	}
}

// pause stops the clock until the function that it returns is called.
func (c *clock) pause() (resume func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open++; c.timer != nil {
		c.timer.Stop()
		c.timer = nil
		c.left -= time.Since(c.since)
	}
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.open--
		c.run()
	}
}
