package rpc

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
)

func TestPipeCarriesFramesBothWays(t *testing.T) {
	a, b := Pipe()
	for i := range 100 {
		if a.WriteFrame(fmt.Append(nil, i)) != nil || b.WriteFrame(fmt.Append(nil, -1-i)) != nil {
			t.Fatal("not accepted")
		}
	}
	for i := range 100 {
		fromA, errA := b.ReadFrame(nil)
		fromB, errB := a.ReadFrame(nil)
		if string(fromA) != fmt.Sprint(i) || string(fromB) != fmt.Sprint(-1-i) || errA != nil || errB != nil {
			t.Fatalf("%d: %s %v, %s %v", i, fromA, errA, fromB, errB)
		}
	}
}

func TestPipeClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := Pipe()
		_ = a.WriteFrame([]byte("last"))
		pending := make(chan error, 1)
		go func() {
			_, err := a.ReadFrame(nil)
			pending <- err
		}()
		synctest.Wait()
		_ = a.Close()
		_ = a.Close()
		if err := <-pending; err != ErrClosed {
			t.Errorf("a's pending read: %v", err)
		}
		if err := a.WriteFrame([]byte("x")); err != ErrClosed {
			t.Errorf("a's write: %v", err)
		}
		if err := b.WriteFrame([]byte("x")); !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("b's write: %v", err)
		}
		if got := readAll(b); got != "last\nEOF" {
			t.Errorf("b reads %q", got)
		}
	})
}

func TestPipeIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := Pipe()
		frame := []byte(strings.Repeat("x", 100<<10))
		sent := make(chan int, 100)
		go func() {
			for i := 0; a.WriteFrame(frame) == nil; i++ {
				sent <- i
			}
			close(sent)
		}()
		synctest.Wait()
		if n := len(sent); n != 10 {
			t.Errorf("%d frames of 100 KiB fit", n)
		}
		if _, err := b.ReadFrame(nil); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if n := len(sent); n != 20 {
			t.Errorf("%d frames after one batch was taken", n)
		}
		_ = b.Close()
		for range sent {
		}
		if err := a.WriteFrame(make([]byte, DefaultMaxFrame+1)); err == nil {
			t.Error("a frame over the limit was taken")
		}
	})
}

func TestPipeWithManyWriters(t *testing.T) {
	a, b := Pipe()
	var all sync.WaitGroup
	const writers, frames = 8, 2000
	for id := range writers {
		all.Go(func() {
			for n := range frames {
				if err := a.WriteFrame(fmt.Append(nil, id, " ", n)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	go func() { all.Wait(); a.Close() }()
	next := [writers]int{}
	lines := strings.Split(readAll(b), "\n")
	for _, line := range lines[:len(lines)-1] {
		var id, n int
		if _, err := fmt.Sscan(line, &id, &n); err != nil || n != next[id] {
			t.Fatalf("%q: %v, want number %d", line, err, next[id])
		}
		next[id]++
	}
	if len(lines) != writers*frames+1 || lines[len(lines)-1] != "EOF" {
		t.Errorf("%d lines, the last %q", len(lines), lines[len(lines)-1])
	}
}
