package rpc

import (
	"io"
	"os"
	"syscall"
)

// promptPipe writes to a pipe without waiting: the pipe takes what is written as a whole, or not at all.
type promptPipe struct {
	atomic int // PIPE_BUF: up to how many bytes a pipe in non-blocking mode takes as a whole or not at all
	raw    syscall.RawConn
	try    func(fd uintptr) bool // writes b and sets taken; made once, because a closure for each write would be allocated
	b      []byte
	taken  bool
}

// newPromptPipe returns nil if w is no pipe, or is in blocking mode, into which a call of its Fd puts it.
func newPromptPipe(w io.Writer) *promptPipe {
	f, ok := w.(*os.File)
	if !ok {
		return nil
	}
	info, err := f.Stat()
	if err != nil || info.Mode()&os.ModeNamedPipe == 0 {
		return nil
	}
	raw, err := f.SyscallConn()
	if err != nil {
		return nil
	}
	blocks := true
	err = raw.Control(func(fd uintptr) {
		flags, _, failed := syscall.Syscall(syscall.SYS_FCNTL, fd, syscall.F_GETFL, 0)
		blocks = failed != 0 || flags&syscall.O_NONBLOCK == 0
	})
	if err != nil || blocks {
		return nil
	}
	p := &promptPipe{atomic: 4096, raw: raw}
	p.try = func(fd uintptr) bool {
		n, err := syscall.Write(int(fd), p.b)
		p.taken = err == nil && n == len(p.b)
		return true
	}
	return p
}

// write writes b, and reports whether the pipe took it. It is called by one goroutine at a time.
func (p *promptPipe) write(b []byte) (taken bool) {
	p.b, p.taken = b, false
	err := p.raw.Write(p.try)
	p.b = nil
	return err == nil && p.taken
}
