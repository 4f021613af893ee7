//go:build unix

package rpc

import (
	"errors"
	"io"
	"os"
	"syscall"
	"time"
)

// interruptible returns a reader of f that the closer ends, without closing f. Pipes and sockets are read through a copy of the
// descriptor that the runtime can poll.
func interruptible(f *os.File) (io.Reader, io.Closer) {
	info, err := f.Stat()
	switch {
	case err != nil || info.Mode().IsRegular():
		return f, nil // never blocks
	case info.Mode()&(os.ModeNamedPipe|os.ModeSocket) == 0:
		d := detach(f)
		return d, d
	}
	p, err := poll(f)
	if err != nil {
		d := detach(f)
		return d, d
	}
	return p.file, p
}

// polled is a copy of a descriptor in non-blocking mode. The mode is shared with whoever inherited the same open file, the shell
// that started us for one, so Close puts it back.
type polled struct {
	file    *os.File
	origin  syscall.RawConn
	restore bool
}

func poll(f *os.File) (*polled, error) {
	origin, err := f.SyscallConn()
	if err != nil {
		return nil, err
	}
	p := &polled{origin: origin, restore: f.SetReadDeadline(time.Time{}) != nil}
	var fd int
	var failed error
	err = origin.Control(func(old uintptr) {
		if fd, failed = dup(int(old)); failed == nil {
			failed = syscall.SetNonblock(fd, true)
		}
	})
	if err := errors.Join(err, failed); err != nil {
		return nil, err
	}
	p.file = os.NewFile(uintptr(fd), f.Name())
	return p, nil
}

// dup keeps the copy from leaking into child processes.
func dup(old int) (int, error) {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	fd, err := syscall.Dup(old)
	if err == nil {
		syscall.CloseOnExec(fd)
	}
	return fd, err
}

// Close implements io.Closer: it ends a pending read. Only then may the mode change: a read that blocks in the kernel would
// never end.
func (p *polled) Close() error {
	err := p.file.Close()
	if p.restore {
		_ = p.origin.Control(func(fd uintptr) { _ = syscall.SetNonblock(int(fd), false) })
	}
	return err
}
