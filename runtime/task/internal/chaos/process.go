package chaos

import (
	"bufio"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"sync"
	"syscall"
)

// Process is a replica in a process of its own, which notes what it says in a history.
type Process struct {
	Replica
	cmd  *exec.Cmd
	done sync.WaitGroup
	err  error
}

// Start starts a test binary as a replica; its TestMain calls Main.
func Start(r Replica, h *History) (*Process, error) {
	program, err := r.Program, error(nil)
	if program == "" {
		program, err = os.Executable()
	}
	if err != nil {
		return nil, err
	}
	config, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	p := &Process{Replica: r, cmd: exec.Command(program)}
	p.cmd.Env = append(os.Environ(), variable+"="+string(config), "GORACE=halt_on_error=1")
	p.cmd.Stderr = os.Stderr
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	p.done.Go(func() {
		for said := bufio.NewScanner(out); said.Scan(); {
			h.Note(said.Text())
		}
		p.err = p.cmd.Wait()
	})
	return p, nil
}

// Signal sends a signal.
func (p *Process) Signal(s syscall.Signal) error {
	err := p.cmd.Process.Signal(s)
	if errors.Is(err, os.ErrProcessDone) {
		return nil
	}
	return err
}

// Wait waits for the end, and reports whether the process was killed.
func (p *Process) Wait() (killed bool, err error) {
	p.done.Wait()
	var exit *exec.ExitError
	if errors.As(p.err, &exit) {
		status, ok := exit.Sys().(syscall.WaitStatus)
		killed = ok && status.Signaled() && status.Signal() == syscall.SIGKILL
	}
	if killed {
		return true, nil
	}
	return false, p.err
}

// Kill kills the process as kill -9 does, and waits for its end.
func (p *Process) Kill() error {
	if err := p.Signal(syscall.SIGKILL); err != nil {
		return err
	}
	_, err := p.Wait()
	return err
}
