//go:build unix

package client

import (
	"os"
	"os/exec"
	"syscall"
)

// setApart starts cmd in a process group of its own.
func setApart(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// terminate asks a child and the processes that it started to end; false: it can not.
func terminate(p *os.Process) bool { return syscall.Kill(-p.Pid, syscall.SIGTERM) == nil }

// killRest kills the processes that are left of a child's group.
func killRest(p *os.Process) { _ = syscall.Kill(-p.Pid, syscall.SIGKILL) }
