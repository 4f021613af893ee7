package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/rpc"
)

// Process is a transport over the standard streams of a child process. It is started when a session begins, and again if it ends
// because it does not know the first request of newer revisions. On unix it leads a process group of its own, which ends with it; there and on
// Windows the keys that interrupt a program, such as Ctrl-C, do not reach it. When this process ends in any other way than by
// Session.Close or Abort, the child sees the end of its input and nothing else: a program should catch the signals that ask it to end, SIGHUP of a
// closing terminal too, and close its sessions.
type Process struct {
	Path string
	Args []string // without the name of the program
	Env  []string // nil: this process's own
	Dir  string
	// Stderr gets the child's standard error; nil: it is dropped, except the last lines, which errors quote.
	Stderr io.Writer
}

// Command returns a transport over the standard streams of a child process, which must only write messages to its standard output.
func Command(path string, args ...string) *Process { return &Process{Path: path, Args: args} }

func (p *Process) reopens() bool { return true }

func (p *Process) open(_ context.Context, s *Session) (link, error) {
	cmd := exec.Command(p.Path, p.Args...)
	cmd.Env, cmd.Dir = p.Env, p.Dir
	c := &child{cmd: cmd, grace: s.cfg.grace, exited: make(chan struct{})}
	c.tail.to = p.Stderr
	setApart(cmd)
	cmd.Stderr = &c.tail
	cmd.WaitDelay = outputWait
	stdout, theirs, err := os.Pipe()
	if err != nil {
		return nil, &TransportError{Err: err}
	}
	cmd.Stdout = theirs
	c.noise = s.noiseSoFar
	if c.stdin, err = cmd.StdinPipe(); err == nil {
		err = cmd.Start()
	}
	_ = theirs.Close()
	if err != nil {
		_ = stdout.Close()
		return nil, &TransportError{Err: startError(p.Path, err)}
	}
	go c.wait(stdout)
	conn := rpc.Lines(stdout, c.stdin, stdout, rpc.LineOptions{MaxFrame: s.cfg.maxFrame})
	return newConnLink(s, conn, c), nil
}

// startError returns why a program does not start, without the names of system calls.
func startError(path string, err error) error {
	var file *fs.PathError
	var name *exec.Error
	switch {
	case errors.As(err, &file):
		err = file.Err
	case errors.As(err, &name):
		err = name.Err
	}
	return fmt.Errorf("the server does not start: %s: %w", path, err)
}

// child is a running process.
type child struct {
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	grace  time.Duration
	tail   tail
	noise  func() string
	exited chan struct{} // closed when the process has ended
	err    error         // how it ended, final when exited is closed

	killed atomic.Pointer[error] // why end has killed it; nil: it has not
}

// outputWait is how long output may still come after the end of a process: other processes that it started can keep the pipes open for ever.
const outputWait = 500 * time.Millisecond

func (c *child) wait(stdout *os.File) {
	c.err = c.cmd.Wait()
	if errors.Is(c.err, exec.ErrWaitDelay) {
		c.err = nil // it ended in order, and processes that it started did not
	}
	killRest(c.cmd.Process)
	close(c.exited)
	if stdout.SetReadDeadline(time.Now().Add(outputWait)) != nil {
		_ = stdout.Close()
	}
}

// lost returns the error of a connection that ended, with the output of the process. It waits a moment for the process to end, since the last lines of
// standard error say most.
func (c *child) lost(err error) *TransportError {
	timer := time.NewTimer(outputWait)
	defer timer.Stop()
	select {
	case <-c.exited:
		ended := errors.New("the server has ended: exit status 0")
		if c.err != nil {
			ended = fmt.Errorf("the server has ended: %w", c.err)
		}
		err = withBrokenOff(ended, err)
	case <-timer.C:
	}
	return &TransportError{Err: err, Stderr: c.tail.String(), Noise: c.noise()}
}

// brokenOffError says how a connection has ended, and that it did so within a message.
type brokenOffError struct {
	end    error
	broken *rpc.BrokenOffError
}

// withBrokenOff returns how a connection has ended, with the message that read, the error of its last frame, says was broken off.
func withBrokenOff(end, read error) error {
	if broken := (*rpc.BrokenOffError)(nil); errors.As(read, &broken) {
		return &brokenOffError{end, broken}
	}
	return end
}

// Error implements error.
func (e *brokenOffError) Error() string {
	return fmt.Sprintf("%v; its last message was broken off after %d bytes", e.end, e.broken.Bytes)
}

// Unwrap returns the end and the *rpc.BrokenOffError.
func (e *brokenOffError) Unwrap() []error { return []error{e.end, e.broken} }

// end closes the child's input, waits, asks it to end, waits, and kills it, with the processes that it started. Where there is no way to ask, it is
// killed after the first wait. When ctx ends it is killed at once. It can be called twice at the same time.
func (c *child) end(ctx context.Context) {
	_ = c.stdin.Close()
	why := fmt.Errorf("the server had to be killed: it did not end within %v of the end of its input", c.grace)
	ended := c.endsWithin(ctx, c.grace)
	if !ended && ctx.Err() == nil && terminate(c.cmd.Process) {
		why = fmt.Errorf("%w, nor of SIGTERM", why)
		ended = c.endsWithin(ctx, c.grace)
	}
	switch {
	case ended:
		return
	case ctx.Err() != nil:
		why = errors.New("the server was killed at once, without the time to end that Close gives it")
	}
	c.killed.CompareAndSwap(nil, &why)
	_ = c.cmd.Process.Kill()
	killRest(c.cmd.Process)
	<-c.exited
}

// hadToBeKilled returns an error if end had to kill the process.
func (c *child) hadToBeKilled() error {
	why := c.killed.Load()
	if why == nil {
		return nil
	}
	return &TransportError{Err: *why, Stderr: c.tail.String()}
}

// endsWithin waits until the process has ended, but no longer than within, or until ctx ends; false: the process has not ended.
func (c *child) endsWithin(ctx context.Context, within time.Duration) bool {
	timer := time.NewTimer(within)
	defer timer.Stop()
	select {
	case <-c.exited:
	case <-timer.C:
	case <-ctx.Done():
	}
	return isClosed(c.exited)
}

// maxTail is how much of standard error is kept for errors, in bytes.
const maxTail = 2 << 10

// tail keeps the end of the text written to it, and passes all of it on.
type tail struct {
	to   io.Writer
	mu   sync.Mutex
	last []byte
}

// Write implements io.Writer.
func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	t.last = append(t.last, p...)
	if n := len(t.last); n > 2*maxTail {
		t.last = append(t.last[:0], t.last[n-maxTail:]...)
	}
	t.mu.Unlock()
	if t.to != nil {
		_, _ = t.to.Write(p) // a child must not end because nobody reads its log
	}
	return len(p), nil
}

// String returns the last maxTail bytes.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.last[max(0, len(t.last)-maxTail):])
}
