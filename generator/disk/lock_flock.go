//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package disk

import (
	"errors"
	"os"
	"syscall"
)

// tryLock locks the folder itself: there is no lock file to leave behind.
func tryLock(dir string) (release func(), err error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	for err = syscall.EINTR; err == syscall.EINTR; {
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	}
	switch {
	case err == nil:
		return func() { _ = f.Close() }, nil
	case errors.Is(err, syscall.EWOULDBLOCK):
		err = errHeld
	case errors.Is(err, syscall.EBADF), errors.Is(err, syscall.ENOLCK), errors.Is(err, syscall.ENOSYS), errors.Is(err, errors.ErrUnsupported):
		// Not every file system can lock folders: NFS can not.
		release, err = func() {}, nil
	}
	return release, errors.Join(err, f.Close())
}

// inUse reports whether an operation failed because another program has the file open, which does not happen here.
func inUse(error) bool { return false }
