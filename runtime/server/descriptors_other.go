//go:build !unix

package server

// descriptors is how many open files the process may have; 0: that is not known.
func descriptors() uint64 { return 0 }

// lacksDescriptors reports whether a file was not opened because the process, or the system, has too many open. That is not known.
func lacksDescriptors(error) bool { return false }
