package rpc

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"testing/synctest"
)

// What is lent has its place in the order, also where somebody else writes.
func TestFramesThatAreLentComeInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate()
		c := Lines(strings.NewReader(""), g, nil, LineOptions{MaxPending: 8})
		lent := func(frame string) error { return c.(Lending).WriteLent(append(make([]byte, 0, 10), frame...)) }
		done := make(chan error, 5)
		for _, write := range []func() error{
			func() error { return lent("first") }, func() error { return c.WriteFrame([]byte("2")) }, func() error { return lent("third") },
			func() error { return lent("4444") }, func() error { return c.WriteFrame([]byte("55555555")) },
		} {
			go func() { done <- write() }()
			synctest.Wait()
		}
		if len(g.entered) != 1 || len(done) != 2 { // two are pending, and two wait for room
			t.Errorf("%d writes began, %d frames were taken", len(g.entered), len(done))
		}
		close(g.open)
		for range cap(done) {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
		if want := "first\n2\nthird\n4444\n55555555\n"; string(g.out) != want {
			t.Errorf("%q, want %q", g.out, want)
		}
	})
}

func TestALentWriteThatFailsIsSticky(t *testing.T) {
	g := newGate()
	g.fail = io.ErrClosedPipe
	close(g.open)
	c := Lines(strings.NewReader(""), g, nil, LineOptions{})
	if err := c.(Lending).WriteLent([]byte("1")); err != io.ErrClosedPipe {
		t.Error(err)
	}
	if err := c.(Lending).WriteLent([]byte("2")); err != io.ErrClosedPipe || len(g.entered) != 1 {
		t.Error(err, len(g.entered))
	}
}

// A large frame that is lent costs no memory, and one that is not costs its copy alone.
func BenchmarkLinesWriteLarge(b *testing.B) {
	frame := append(make([]byte, 0, 1<<20+1), bytes.Repeat([]byte("x"), 1<<20)...)
	c := Lines(strings.NewReader(""), io.Discard, nil, LineOptions{})
	for name, write := range map[string]func([]byte) error{"copied": c.WriteFrame, "lent": c.(Lending).WriteLent} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(frame)))
			for b.Loop() {
				if err := write(frame); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
