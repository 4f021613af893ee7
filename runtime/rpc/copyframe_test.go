package rpc

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
)

// A frame that is copied is the line that it would be in memory, wherever its pieces end.
func TestLET02AFrameThatIsCopiedIsALine(t *testing.T) {
	text := "{\n\"a\":\r\"\u2028 \u2027 \u2029\u2028é\"}"
	for _, tail := range []string{"", "\u2028", "\xe2", "\xe2\x80"} {
		for n := copyPiece - 2*len(text); n < copyPiece+8; n++ {
			frame := strings.Repeat("x", n) + text + tail
			want := string(appendLine(nil, []byte(frame), isPlainLine([]byte(frame))))
			for name, r := range map[string]io.Reader{"whole": strings.NewReader(frame), "halves": iotest.HalfReader(strings.NewReader(frame)), "at its end": iotest.DataErrReader(strings.NewReader(frame))} {
				var out strings.Builder
				c := Lines(strings.NewReader(""), &out, nil, LineOptions{})
				if err := c.(Copying).CopyFrame(r); err != nil || out.String() != want {
					t.Fatalf("%s, %d and %q: %v, %d bytes, want %d", name, n, tail, err, out.Len(), len(want))
				}
			}
		}
	}
}

// What is copied has its place in the order, also where somebody else writes, and what comes after it waits.
func TestFramesThatAreCopiedComeInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate()
		c := Lines(strings.NewReader(""), g, nil, LineOptions{MaxPending: 8})
		copied := func(frame string) func() error {
			return func() error { return c.(Copying).CopyFrame(strings.NewReader(frame)) }
		}
		put := func(frame string) func() error { return func() error { return c.WriteFrame([]byte(frame)) } }
		done := make(chan error, 6)
		for _, write := range []func() error{copied("first"), put("2"), copied("third"), put("4444"), put("55555555"), copied("6")} {
			go func() { done <- write() }()
			synctest.Wait()
		}
		close(g.open)
		for range cap(done) {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
		if want := "first\n2\nthird\n4444\n55555555\n6\n"; string(g.out) != want {
			t.Errorf("%q, want %q", g.out, want)
		}
	})
}

// A frame that breaks off ends the connection, and so does one that can not be written: who waits behind it is told.
func TestACopyThatFailsIsSticky(t *testing.T) {
	broken := errors.New("broken")
	for name, fail := range map[string]bool{"reading": false, "writing": true} {
		synctest.Test(t, func(t *testing.T) {
			g := newGate()
			var r io.Reader = io.MultiReader(strings.NewReader(strings.Repeat("x", copyPiece)), iotest.ErrReader(broken))
			if fail {
				g.fail, r = broken, strings.NewReader("{}")
			}
			c := Lines(strings.NewReader(""), g, nil, LineOptions{})
			done := make(chan error, 2)
			go func() { done <- c.(Copying).CopyFrame(r) }()
			synctest.Wait()
			go func() { done <- c.(Copying).CopyFrame(strings.NewReader("behind")) }()
			synctest.Wait()
			close(g.open)
			for range cap(done) {
				if err := <-done; err != broken {
					t.Errorf("%s: %v", name, err)
				}
			}
			if err := c.WriteFrame([]byte("later")); err != broken || strings.Contains(string(g.out), "behind") {
				t.Errorf("%s: %v, %.20q", name, err, g.out)
			}
		})
	}
}

// Close ends those that wait to copy.
func TestCloseEndsCopies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate()
		c := Lines(strings.NewReader(""), g, nil, LineOptions{})
		first, second := make(chan error, 1), make(chan error, 1)
		go func() { first <- c.(Copying).CopyFrame(strings.NewReader("first")) }()
		synctest.Wait()
		go func() { second <- c.(Copying).CopyFrame(strings.NewReader("second")) }()
		synctest.Wait()
		if err := c.Close(); !errors.Is(err, errNotDrained) {
			t.Error(err)
		}
		if err := <-second; err != ErrClosed {
			t.Error(err)
		}
		close(g.open)
		<-first
		if err := c.(Copying).CopyFrame(strings.NewReader("third")); err != ErrClosed {
			t.Error(err)
		}
	})
}
