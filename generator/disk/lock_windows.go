package disk

import (
	"errors"
	"path/filepath"
	"syscall"
)

// lockFile is kept open by the run that has the lock. Windows removes it with its last handle, also when the process is killed.
const lockFile = ".mcpkiln.busy"

const (
	deleteOnClose    = 0x04000000 // FILE_FLAG_DELETE_ON_CLOSE
	sharingViolation = syscall.Errno(32)
)

// tryLock opens a file that nobody else may open meanwhile.
func tryLock(dir string) (release func(), err error) {
	name, err := syscall.UTF16PtrFromString(filepath.Join(dir, lockFile))
	if err != nil {
		return nil, err
	}
	h, err := syscall.CreateFile(name, syscall.GENERIC_WRITE, 0, nil, syscall.OPEN_ALWAYS,
		syscall.FILE_ATTRIBUTE_HIDDEN|deleteOnClose, 0)
	if inUse(err) {
		return nil, errHeld
	}
	if err != nil {
		return nil, err
	}
	return func() { _ = syscall.CloseHandle(h) }, nil
}

// inUse reports whether an operation failed because another program has the file open, or is removing it.
func inUse(err error) bool {
	return errors.Is(err, sharingViolation) || errors.Is(err, syscall.ERROR_ACCESS_DENIED)
}
