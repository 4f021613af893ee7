package rpc

import (
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestCloseDrainsButNotForEver(t *testing.T) {
	for _, stuck := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			g := newGate()
			c := Lines(strings.NewReader(""), g, nil, LineOptions{CloseWait: time.Minute})
			go c.WriteFrame([]byte("1"))
			synctest.Wait()
			_ = c.WriteFrame([]byte("2"))
			closed := make(chan error, 1)
			go func() { closed <- c.Close() }()
			synctest.Wait()
			if len(closed) > 0 || c.WriteFrame([]byte("3")) != ErrClosed {
				t.Error("closed before frames drained, or still open for more")
			}
			start := time.Now()
			if stuck {
				if err := <-closed; err != errNotDrained || time.Since(start) != time.Minute {
					t.Errorf("%v after %v", err, time.Since(start))
				}
				close(g.open)
				return
			}
			close(g.open)
			if err := <-closed; err != nil || string(g.out) != "1\n2\n" {
				t.Errorf("%v, %q", err, g.out)
			}
		})
	}
}

// A write that fails while Close waits has lost frames that were accepted.
func TestCloseReportsAWriteThatFailsMeanwhile(t *testing.T) {
	write := map[string]func(c Conn) error{
		"a frame":        func(c Conn) error { return c.WriteFrame([]byte("1")) },
		"several frames": func(c Conn) error { return c.(Batched).WriteFrames([][]byte{[]byte("1")}) },
		"a lent frame":   func(c Conn) error { return c.(Lending).WriteLent([]byte("1")) },
		"a copied frame": func(c Conn) error { return c.(Copying).CopyFrame(strings.NewReader("1")) },
	}
	for name, first := range write {
		synctest.Test(t, func(t *testing.T) {
			g := newGate()
			g.fail = io.ErrClosedPipe
			c := Lines(strings.NewReader(""), g, nil, LineOptions{})
			wrote, closed := make(chan error, 1), make(chan error, 1)
			go func() { wrote <- first(c) }()
			synctest.Wait()
			if err := c.WriteFrame([]byte("2")); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			go func() { closed <- c.Close() }()
			synctest.Wait()
			close(g.open)
			if err := <-closed; err != g.fail || c.Close() != g.fail || <-wrote != g.fail {
				t.Errorf("%s: Close: %v", name, err)
			}
			if err := c.WriteFrame([]byte("3")); err != ErrClosed {
				t.Errorf("%s: after Close: %v", name, err)
			}
		})
	}
}
