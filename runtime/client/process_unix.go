//go:build unix

package client

import (
	"os/exec"
	"syscall"
)

// setApart starts cmd in a process group of its own.
func setApart(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }
