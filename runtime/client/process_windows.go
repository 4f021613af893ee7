package client

import (
	"os"
	"os/exec"
	"syscall"
)

// setApart starts cmd in a process group of its own.
func setApart(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}

// terminate: a console is asked to end by what its user types, and no other process.
func terminate(*os.Process) bool { return false }

// killRest does nothing: a group is no job, and what a child has started is its own affair.
func killRest(*os.Process) {}
