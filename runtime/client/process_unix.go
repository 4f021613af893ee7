//go:build unix

package client

import (
	"os"
	"os/exec"
	"syscall"
)

// setApart starts cmd in a process group of its own.
func setApart(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// terminate asks a child and what it has started to end; false: there is no way to.
func terminate(p *os.Process) bool { return syscall.Kill(-p.Pid, syscall.SIGTERM) == nil }

// killRest ends what is left of a child's group.
func killRest(p *os.Process) { _ = syscall.Kill(-p.Pid, syscall.SIGKILL) }
