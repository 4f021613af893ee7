//go:build unix

package rpc

import (
	"io"
	"os"
	"runtime"
	"syscall"
	"time"
)

// promptPipe writes to a pipe what that has room for at once.
type promptPipe struct {
	atomic int // bytes that a pipe in non-blocking mode takes as a whole or not at all
	raw    syscall.RawConn
	try    func(fd uintptr) bool // made once: a function that captures what is written would be allocated for each
	b      []byte
	taken  bool
}

// newPromptPipe returns nil for what is no pipe, or blocks.
func newPromptPipe(w io.Writer) *promptPipe {
	f, ok := w.(*os.File)
	if !ok || f.SetWriteDeadline(time.Time{}) != nil { // what has deadlines does not block
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
	p := &promptPipe{atomic: 512, raw: raw} // what POSIX grants
	if runtime.GOOS == "linux" {
		p.atomic = 4096
	}
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
