//go:build !unix && !windows

package client

import "os/exec"

// setApart does nothing: there are no process groups.
func setApart(*exec.Cmd) {}
