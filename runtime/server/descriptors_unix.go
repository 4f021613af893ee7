//go:build unix

package server

import (
	"errors"
	"syscall"
)

// descriptors is how many open files the process may have; 0: that is not known.
func descriptors() uint64 {
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit) != nil {
		return 0
	}
	return uint64(limit.Cur)
}

// lacksDescriptors reports whether a file was not opened because the process, or the system, has too many open.
func lacksDescriptors(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE)
}
