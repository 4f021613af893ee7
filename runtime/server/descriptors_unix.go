//go:build unix

package server

import "syscall"

// descriptors is how many open files the process may have; 0: that is not known.
func descriptors() uint64 {
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit) != nil {
		return 0
	}
	return uint64(limit.Cur)
}
