package rpc

import (
	"bytes"
	"io"
	"runtime/debug"
	"runtime/metrics"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// switches is how often goroutines began to run, about: the runtime counts one of eight.
func switches() (n uint64) {
	samples := []metrics.Sample{{Name: "/sched/latencies:seconds"}}
	metrics.Read(samples)
	for _, count := range samples[0].Value.Float64Histogram().Counts {
		n += 8 * count
	}
	return n
}

// late is a writer whose peer begins to read when it is opened.
type late struct{ open chan struct{} }

func (l late) Write(p []byte) (int, error) {
	<-l.open
	time.Sleep(time.Millisecond) // everybody else has run
	return len(p), nil
}

// When a peer that did not read comes back, each writer that waits is woken once, not all of them for each frame.
func TestTSK28WritersThatWaitAreWokenOnce(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // it makes goroutines run
	const writers = 400
	for name, run := range map[string]struct {
		size int
		open func() (c Conn, read func())
	}{
		"lines": {2, func() (Conn, func()) {
			l := late{make(chan struct{})}
			return Lines(strings.NewReader(""), l, nil, LineOptions{MaxPending: 1}), func() { close(l.open) }
		}},
		"pipe": {DefaultMaxPending / 2, func() (Conn, func()) {
			far, near := Pipe()
			return near, func() {
				var frame []byte
				for range writers {
					synctest.Wait()
					var err error
					if frame, err = far.ReadFrame(frame[:0]); err != nil {
						t.Error(err)
					}
				}
			}
		}},
	} {
		synctest.Test(t, func(t *testing.T) {
			c, read := run.open()
			frame := bytes.Repeat([]byte("1"), run.size)
			var all sync.WaitGroup
			for range writers {
				all.Go(func() {
					if err := c.WriteFrame(frame); err != nil {
						t.Error(err)
					}
				})
			}
			synctest.Wait()
			before := switches()
			read()
			all.Wait()
			if n := switches() - before; n > 20*writers {
				t.Errorf("%s: goroutines ran %d times for %d frames", name, n, writers)
			}
		})
	}
}

// Writers that wait are told when there will be no room, each with its own error.
func TestWritersThatWaitSeeTheEnd(t *testing.T) {
	for name, want := range map[string]error{"the peer": io.ErrClosedPipe, "the writer": ErrClosed} {
		synctest.Test(t, func(t *testing.T) {
			far, near := Pipe()
			frame, ended := make([]byte, DefaultMaxPending), make(chan error, 3)
			copy(frame, "1")
			for range cap(ended) {
				go func() { ended <- near.WriteFrame(frame) }()
			}
			synctest.Wait()
			if len(ended) != 1 {
				t.Fatalf("%d frames were taken", len(ended))
			}
			<-ended
			if want == ErrClosed {
				_ = near.Close()
			} else {
				_ = far.Close()
			}
			for range 2 {
				if err := <-ended; err != want {
					t.Errorf("closed by %s: %v", name, err)
				}
			}
		})
	}
}
