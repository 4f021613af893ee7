//go:build unix

// Package screen simulates a user who reads and types at a terminal, for tests.
package screen

import (
	"io"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/creack/pty"
)

// Screen is what a user sees of a terminal. It ends with the test.
type Screen struct {
	t   testing.TB
	pty *os.File

	mu      sync.Mutex
	raw     strings.Builder
	changed chan struct{}
	ended   chan struct{} // closed when the terminal is closed
	at      int           // offset in Text after what Sees has found
}

var size = &pty.Winsize{Rows: 40, Cols: 100}

// Open returns a screen, and the terminal that it shows. The test must close the terminal.
func Open(t testing.TB) (s *Screen, tty *os.File) {
	t.Helper()
	ours, tty, err := pty.Open()
	if err == nil {
		err = pty.Setsize(ours, size)
	}
	if err != nil {
		t.Fatal(err)
	}
	return watch(t, ours), tty
}

// Start runs a command on a terminal of its own.
func Start(t testing.TB, cmd *exec.Cmd) *Screen {
	t.Helper()
	ours, err := pty.StartWithSize(cmd, size)
	if err != nil {
		t.Fatal(err)
	}
	s := watch(t, ours)
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	return s
}

func watch(t testing.TB, ours *os.File) *Screen {
	s := &Screen{t: t, pty: ours, changed: make(chan struct{}, 1), ended: make(chan struct{})}
	go s.read()
	t.Cleanup(func() { _ = ours.Close() })
	return s
}

func (s *Screen) read() {
	defer close(s.ended)
	buf := make([]byte, 4096)
	for {
		n, err := s.pty.Read(buf)
		s.mu.Lock()
		s.raw.Write(buf[:n])
		s.mu.Unlock()
		select {
		case s.changed <- struct{}{}:
		default:
		}
		if err != nil {
			return
		}
	}
}

// drawn matches escape sequences, which a user does not see.
var drawn = regexp.MustCompile(`\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\a\x1b]*(\a|\x1b\\)|\x1b[PX^_][^\x1b]*\x1b\\|\x1b[=>78c]`)

// Text returns all that was drawn so far without escape sequences, in order.
func (s *Screen) Text() string { return drawn.ReplaceAllString(s.Raw(), "") }

// Raw returns all that was drawn so far, with escape sequences.
func (s *Screen) Raw() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.raw.String()
}

// Sees waits until a text is drawn, after the texts that it has waited for before.
func (s *Screen) Sees(want string) {
	s.t.Helper()
	deadline := time.After(time.Minute)
	for over := false; ; {
		text := s.Text()
		if i := strings.Index(text[min(s.at, len(text)):], want); i >= 0 {
			s.at += i + len(want)
			return
		}
		if over {
			s.t.Fatalf("%q is not on the screen:\n%q", want, text)
		}
		select {
		case <-s.changed:
		case <-s.ended:
			over = true
		case <-deadline:
			over = true
		}
	}
}

// Types types keys.
func (s *Screen) Types(keys string) {
	s.t.Helper()
	if _, err := io.WriteString(s.pty, keys); err != nil {
		s.t.Fatal(err)
	}
}

// TypesUntilEnded types keys, again after each pause, until the terminal is closed: for those that count only once a program hears keys.
func (s *Screen) TypesUntilEnded(keys string, pause time.Duration) {
	s.t.Helper()
	deadline := time.After(time.Minute)
	for {
		_, _ = io.WriteString(s.pty, keys) // it fails if the terminal was closed just now
		select {
		case <-s.ended:
			return
		case <-deadline:
			s.t.Fatalf("%q does not end it:\n%q", keys, s.Text())
		case <-time.After(pause):
		}
	}
}

// Ended waits until the terminal is closed, as when its command ends.
func (s *Screen) Ended() { <-s.ended }
