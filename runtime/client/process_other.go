//go:build !unix && !windows

package client

import (
	"os"
	"os/exec"
)

// These systems have no process groups.

func setApart(*exec.Cmd) {}

func terminate(*os.Process) bool { return false }

func killRest(*os.Process) {}
