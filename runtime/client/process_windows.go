package client

import (
	"os/exec"
	"syscall"
)

// setApart starts cmd in a process group of its own.
func setApart(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}
