//go:build unix

package rpc

import (
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
)

// blockingPipe is like a standard input that a shell gave us: its descriptor is in blocking mode.
func blockingPipe(t *testing.T) (r, w *os.File) {
	t.Helper()
	var fds [2]int
	if err := syscall.Pipe(fds[:]); err != nil {
		t.Fatal(err)
	}
	r, w = os.NewFile(uintptr(fds[0]), "stdin"), os.NewFile(uintptr(fds[1]), "peer")
	t.Cleanup(func() { r.Close(); w.Close() })
	return r, w
}

func nonblocking(t *testing.T, f *os.File) bool {
	t.Helper()
	raw, err := f.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	var flags uintptr
	var errno syscall.Errno
	_ = raw.Control(func(fd uintptr) { flags, _, errno = syscall.Syscall(syscall.SYS_FCNTL, fd, syscall.F_GETFL, 0) })
	if errno != 0 {
		t.Fatal(errno)
	}
	return flags&syscall.O_NONBLOCK != 0
}

func TestCAN21CloseEndsAPendingReadOfAPipe(t *testing.T) {
	for range 50 {
		r, w := blockingPipe(t)
		in, closer := interruptible(r)
		c := Lines(in, io.Discard, closer, LineOptions{})
		if _, err := w.WriteString("{}\n"); err != nil {
			t.Fatal(err)
		}
		if frame, err := c.ReadFrame(nil); string(frame) != "{}" || err != nil {
			t.Fatalf("%s, %v", frame, err)
		}
		pending := make(chan error)
		go func() {
			_, err := c.ReadFrame(nil)
			pending <- err
		}()
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		if err := <-pending; err != ErrClosed { // hangs if the read can not be ended
			t.Errorf("pending read: %v", err)
		}
		if nonblocking(t, r) {
			t.Error("the mode that others share was not put back")
		}
	}
}

func TestStandardInputThatIsASocket(t *testing.T) {
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	ours, theirs := os.NewFile(uintptr(fds[0]), "stdin"), os.NewFile(uintptr(fds[1]), "peer")
	defer ours.Close()
	in, closer := interruptible(ours)
	c := Lines(in, io.Discard, closer, LineOptions{})
	if _, err := theirs.WriteString("{}\n"); err != nil {
		t.Fatal(err)
	}
	theirs.Close()
	if got := readAll(c); got != "{}\nEOF" {
		t.Errorf("%q", got)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}

func TestStandardInputThatCanBePolledAlready(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	in, closer := interruptible(r)
	w.WriteString("{}\n")
	w.Close()
	if got := readAll(Lines(in, io.Discard, nil, LineOptions{})); got != "{}\nEOF" {
		t.Errorf("%q", got)
	}
	if closer.Close() != nil || !nonblocking(t, r) {
		t.Error("the mode was changed")
	}
}

func TestStandardInputThatIsAFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "in")
	if err := os.WriteFile(name, []byte("{}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	in, closer := interruptible(f)
	c := Lines(in, io.Discard, closer, LineOptions{})
	if got := readAll(c); got != "{}\nEOF" || c.Close() != nil {
		t.Errorf("%q", got)
	}
}

// Where the operating system can not wake a read, Close leaves the read behind.
func TestCAN21CloseEndsAPendingReadOfAnythingElse(t *testing.T) {
	peer, ours := net.Pipe()
	d := detach(ours)
	c := Lines(d, io.Discard, d, LineOptions{})
	go peer.Write([]byte("{}\n[]"))
	if frame, err := c.ReadFrame(nil); string(frame) != "{}" || err != nil {
		t.Fatalf("%s, %v", frame, err)
	}
	pending := make(chan error)
	go func() {
		_, err := c.ReadFrame(nil)
		pending <- err
	}()
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if err := <-pending; err != ErrClosed {
		t.Errorf("pending read: %v", err)
	}
	if _, err := c.ReadFrame(nil); err != ErrClosed {
		t.Errorf("later read: %v", err)
	}
	peer.Close() // ends the goroutine that was left behind
}

// The parent keeps the child's standard input open: the child must end all the same. What it prints meanwhile is not in the
// stream.
func TestLET02StdioOfAChildProcess(t *testing.T) {
	cmd := exec.Command(os.Args[0], "-child")
	var printed strings.Builder
	cmd.Stderr = &printed
	stdin, err1 := cmd.StdinPipe()
	stdout, err2 := cmd.StdoutPipe()
	if err := errors.Join(err1, err2, cmd.Start()); err != nil {
		t.Fatal(err)
	}
	c := Lines(stdout, stdin, nil, LineOptions{})
	for _, frame := range []string{`{"a":1}`, `[]`, `"close"`} {
		if err := c.WriteFrame([]byte(frame)); err != nil {
			t.Fatal(err)
		}
		if got, err := c.ReadFrame(nil); string(got) != frame || err != nil {
			t.Fatalf("%s, %v; want %s", got, err, frame)
		}
	}
	if last, err := c.ReadFrame(nil); string(last) != `"printed after Close"` || err != nil {
		t.Errorf("%s, %v", last, err)
	}
	if _, err := c.ReadFrame(nil); err != io.EOF {
		t.Errorf("after the child's end: %v", err)
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	if want := strings.Repeat("printed\nlogged\nspawned\n", 3); printed.String() != want {
		t.Errorf("on standard error: %q", printed.String())
	}
}

// A client may ignore what a server logs, and close it.
func TestCAN14AStandardErrorThatNobodyReadsEndsNothing(t *testing.T) {
	cmd := exec.Command(os.Args[0], "-child", "-deaf")
	unread, log := blockingPipe(t)
	unread.Close()
	cmd.Stderr = log
	stdin, err1 := cmd.StdinPipe()
	stdout, err2 := cmd.StdoutPipe()
	if err := errors.Join(err1, err2, cmd.Start()); err != nil {
		t.Fatal(err)
	}
	c := Lines(stdout, stdin, nil, LineOptions{})
	if err := c.WriteFrame([]byte(`"close"`)); err != nil {
		t.Fatal(err)
	}
	if got, err := c.ReadFrame(nil); string(got) != `"close"` || err != nil {
		t.Errorf("%s, %v", got, err)
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}

func TestStdioLeavesTheDescriptorsOpen(t *testing.T) {
	if err := Stdio().Close(); err != nil {
		t.Fatal(err)
	}
	for _, f := range []*os.File{os.Stdin, os.Stdout} {
		if _, err := f.Stat(); err != nil {
			t.Error(err)
		}
	}
}

// A peer that closes our standard output must not end the process while handlers run.
func TestWritingToAPeerThatIsGoneIsAnError(t *testing.T) {
	out, closer := keeping(os.Stdout)
	if fd := out.(output).Fd(); fd <= 2 {
		t.Errorf("descriptor %d: a broken pipe there is fatal", fd)
	}
	closer.Close()

	r, w := blockingPipe(t)
	out, closer = keeping(w)
	c := Lines(r, out, closer, LineOptions{})
	r.Close()
	if err := c.WriteFrame([]byte("{}")); !errors.Is(err, syscall.EPIPE) {
		t.Errorf("%v", err)
	}
	if err := c.Close(); !errors.Is(err, syscall.EPIPE) {
		t.Errorf("Close: %v", err)
	}
}

// A peer that closed what it reads is seen at once, also one that still sends.
func TestCAN26ADeadPeerIsSeenWithoutWriting(t *testing.T) {
	if runtime.GOOS != "linux" {
		return // elsewhere only a write tells
	}
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	pipeEnd, pipe := blockingPipe(t)
	for name, ends := range map[string][2]*os.File{
		"pipe": {pipeEnd, pipe}, "socket": {os.NewFile(uintptr(fds[0]), "peer"), os.NewFile(uintptr(fds[1]), "stdout")},
	} {
		out, closer := keeping(ends[1])
		gone := Lines(pipeEnd, out, closer, LineOptions{}).(Watched).Gone()
		select {
		case <-gone:
			t.Errorf("%s: gone while it is there", name)
		default:
		}
		ends[0].Close()
		<-gone
		closer.Close()
		ends[1].Close()
	}
	file, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	out, closer := keeping(file)
	if out.(Watched).Gone() != nil {
		t.Error("a file can be gone")
	}
	closer.Close()
}

func TestCAN26WatchingEndsWithTheConnection(t *testing.T) {
	_, w := blockingPipe(t)
	out, closer := keeping(w)
	if err := closer.Close(); err != nil {
		t.Error(err)
	}
	select {
	case <-out.(Watched).Gone():
		t.Error("gone because we closed")
	default:
	}
}
