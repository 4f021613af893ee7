//go:build unix

package rpc

import (
	"errors"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// interruptible returns a reader of f, and a closer that ends its pending Read without closing f; nil where no Read waits. Pipes and sockets are read
// through a copy of the descriptor that the Go runtime can poll.
func interruptible(f *os.File) (io.Reader, io.Closer) {
	info, err := f.Stat()
	switch {
	case err != nil || info.Mode().IsRegular():
		return f, nil // a Read of a regular file does not wait, and where Stat fails, Read does
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

// polled is a copy of a descriptor in non-blocking mode. The mode is shared with all processes that have the same open file, such as the
// shell that started this one, so Close restores it.
type polled struct {
	file    *os.File        // the copy
	origin  syscall.RawConn // the original
	restore bool            // the mode was blocking
}

// poll returns a polled copy of f.
func poll(f *os.File) (*polled, error) {
	origin, err := f.SyscallConn()
	if err != nil {
		return nil, err
	}
	restore := f.SetReadDeadline(time.Time{}) != nil // only a file in non-blocking mode has deadlines
	file, err := duplicate(f, func(fd int) error { return syscall.SetNonblock(fd, true) })
	if err != nil {
		return nil, err
	}
	return &polled{file: file, origin: origin, restore: restore}, nil
}

// surviveBrokenPipes makes a broken pipe on descriptors 1 and 2 an error, as it is on any other. It has the signal SIGPIPE delivered to a channel
// instead of ignoring it, which child processes would inherit.
func surviveBrokenPipes() { signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) }

// keeping returns a writer to a copy of f's descriptor, which still refers to the open file when that of f is diverted. A broken pipe is never fatal there.
func keeping(f *os.File) (io.Writer, io.Closer) {
	file, err := duplicate(f, func(int) error { return nil })
	if err != nil {
		return f, nil
	}
	gone, stop := watch(file)
	return output{file, gone}, closers{stop, file}
}

// divert makes f's descriptor refer to the open file of to, until the closer is closed. Where the system can not do so, or to is closed, nothing is
// diverted: then the process must not print.
func divert(f, to *os.File) io.Closer {
	kept, err := duplicate(f, func(int) error { return nil })
	if err != nil {
		return nil
	}
	if onto(to, f) != nil {
		_ = kept.Close()
		return nil
	}
	return diverted{f, kept}
}

// diverted is a file f whose descriptor was replaced, and a copy of the original descriptor, kept.
type diverted struct{ f, kept *os.File }

// Close implements io.Closer.
func (d diverted) Close() error { return errors.Join(onto(d.kept, d.f), d.kept.Close()) }

// onto makes the descriptor of b refer to the open file of a.
func onto(a, b *os.File) error {
	from, err1 := a.SyscallConn()
	to, err2 := b.SyscallConn()
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	var err error
	outer := from.Control(func(old uintptr) {
		inner := to.Control(func(fd uintptr) { err = dup2(int(old), int(fd)) })
		err = errors.Join(err, inner)
	})
	return errors.Join(err, outer)
}

// output is a standard output that reports when nobody can read it any more.
type output struct {
	*os.File
	gone <-chan struct{}
}

// Gone implements Watched.
func (o output) Gone() <-chan struct{} { return o.gone }

// duplicate copies a descriptor; prepare may change the copy before a file is made from it.
func duplicate(f *os.File, prepare func(fd int) error) (*os.File, error) {
	raw, err := f.SyscallConn()
	if err != nil {
		return nil, err
	}
	var fd int
	var failed error
	err = raw.Control(func(old uintptr) {
		if fd, failed = dup(int(old)); failed != nil {
			return
		}
		if failed = prepare(fd); failed != nil {
			_ = syscall.Close(fd)
		}
	})
	if err := errors.Join(err, failed); err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), f.Name()), nil
}

// dup copies a descriptor. Child processes do not inherit the copy.
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
