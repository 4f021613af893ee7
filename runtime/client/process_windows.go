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

// terminate returns false: Windows has no signal that asks any process to end.
func terminate(*os.Process) bool { return false }

// killRest does nothing: a process group can not be killed on Windows, so processes that a child started go on.
func killRest(*os.Process) {}
