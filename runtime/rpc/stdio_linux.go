package rpc

import "syscall"

// unread tells whether the other end of a pipe or socket is closed. The kernel says so without being asked for any event.
func unread(fd int) bool {
	epoll, err := syscall.EpollCreate1(syscall.EPOLL_CLOEXEC)
	if err != nil {
		return false
	}
	defer syscall.Close(epoll)
	if syscall.EpollCtl(epoll, syscall.EPOLL_CTL_ADD, fd, &syscall.EpollEvent{}) != nil {
		return false // a file: nobody has to read it
	}
	var events [1]syscall.EpollEvent
	n, err := syscall.EpollWait(epoll, events[:], 0)
	return err == nil && n == 1 && events[0].Events&(syscall.EPOLLERR|syscall.EPOLLHUP) != 0
}

// dup2 is dup3 on the newer architectures.
func dup2(old, fd int) error { return syscall.Dup3(old, fd, 0) }
