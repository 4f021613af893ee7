package rpc

import (
	"io"
	"os"
	"syscall"
)

// watch returns a channel that is closed when the other end of f, a pipe or socket, is closed; nil if f has no other end, such as
// a file. An epoll descriptor always reports that event. The Go runtime can poll the epoll descriptor itself, so this
// takes a goroutine and no thread. stop, which may be nil, ends the goroutine.
func watch(f *os.File) (gone <-chan struct{}, stop io.Closer) {
	fd, err := syscall.EpollCreate1(syscall.EPOLL_CLOEXEC)
	if err != nil {
		return nil, nil
	}
	if syscall.SetNonblock(fd, true) != nil || !addTo(fd, f) {
		_ = syscall.Close(fd)
		return nil, nil
	}
	w := &watcher{file: os.NewFile(uintptr(fd), "epoll"), gone: make(chan struct{}), done: make(chan struct{})}
	go w.run()
	return w.gone, w
}

// addTo adds f to an epoll descriptor, and reports whether that was possible.
func addTo(epoll int, f *os.File) bool {
	raw, err := f.SyscallConn()
	if err != nil {
		return false
	}
	var failed error
	err = raw.Control(func(fd uintptr) {
		failed = syscall.EpollCtl(epoll, syscall.EPOLL_CTL_ADD, int(fd), &syscall.EpollEvent{})
	})
	return err == nil && failed == nil
}

// watcher waits for an event of an epoll descriptor.
type watcher struct {
	file *os.File      // the epoll descriptor
	gone chan struct{} // closed at the event
	done chan struct{} // closed at the end of the goroutine
}

func (w *watcher) run() {
	defer close(w.done)
	raw, err := w.file.SyscallConn()
	if err != nil {
		return
	}
	var events [1]syscall.EpollEvent
	_ = raw.Read(func(fd uintptr) bool {
		n, err := syscall.EpollWait(int(fd), events[:], 0)
		if n == 1 {
			close(w.gone)
		}
		return n == 1 || err != nil && err != syscall.EINTR
	})
}

// Close implements io.Closer.
func (w *watcher) Close() error {
	err := w.file.Close()
	<-w.done
	return err
}

// dup2 makes fd a copy of old. It calls dup3, because Linux has no dup2 on newer architectures.
func dup2(old, fd int) error { return syscall.Dup3(old, fd, 0) }
