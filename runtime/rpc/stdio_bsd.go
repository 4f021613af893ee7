//go:build darwin || dragonfly || freebsd || netbsd || openbsd

package rpc

import "syscall"

func dup2(old, fd int) error { return syscall.Dup2(old, fd) }
