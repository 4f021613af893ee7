package server

import (
	"context"
	"fmt"
	"io"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// slowLetters is a reader of n letters in pieces, before each of which it calls pause.
type slowLetters struct {
	letters
	pause func()
}

func (s *slowLetters) Read(b []byte) (int, error) {
	s.pause()
	return s.letters.Read(b[:min(len(b), 32<<10)])
}

// slowText is a tool whose result has a text of n letters from such a reader.
func slowText(n int, pause func()) Tool {
	return tool("slow", plain(func(_ context.Context, call *Call) (*echoOutput, error) {
		call.Content(TextResourceFrom("x://y", "", func() (io.ReadCloser, error) { return &slowLetters{letters{n}, pause}, nil }))
		return &echoOutput{"out"}, nil
	}))
}

// lineIn is how long the client waits for the answer to a call.
func (c *lineReader) lineIn(call string, size int) time.Duration {
	c.t.Helper()
	start := time.Now()
	c.send(call)
	if n := c.line(func() {}); n < size {
		c.t.Errorf("%d bytes", n)
	}
	return time.Since(start)
}

// However many connections of one caller do not read answers that are in files, one that does waits for few of them.
func TestTSK28WhoReadsLongAnswersDoesNotWaitForOthersOfItsCaller(t *testing.T) {
	for _, size := range []int{100 << 10, 250 << 10} {
		synctest.Test(t, func(t *testing.T) {
			f := batchFixture(t, []Tool{bigText(size)}, WithMaxBytesUnread(1<<20))
			var silent []*lineReader
			for range 30 {
				c := f.dialReaderAs("2025-03-26")
				c.send(callFrame("1", "big"))
				c.send(`[` + callFrame("2", "big") + `,` + callFrame("3", "big") + `]`)
				silent = append(silent, c)
			}
			synctest.Wait()
			c := f.dialReader()
			for i := range 3 {
				if took := c.lineIn(callFrame("1", "big"), size); took > maxStall+2*checkEvery {
					t.Errorf("call %d: %d bytes took %v", i, size, took)
				}
			}
			c.close()
			for _, c := range silent {
				c.close()
			}
			synctest.Wait()
			f.counted()
		})
	}
}

// A client that is the only one of its caller that waits is not given up: nobody else waits for what it does not read.
func TestTSK28WhoWaitsForItselfIsNotGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := batchFixture(t, []Tool{bigText(1 << 20)}, WithMaxBytesUnread(1<<20))
		c := f.dialReader()
		for i := range 3 {
			c.send(callFrame(fmt.Sprint(i), "big"))
		}
		time.Sleep(3 * maxStall)
		for range 3 {
			if n := c.line(func() {}); n < 1<<20 {
				t.Errorf("%d bytes", n)
			}
		}
		c.close()
		f.counted()
	})
}

// A file takes room as it grows, so many can be written at the same time, however slow their readers.
func TestTSK28LongAnswersOfSlowReadersAreMadeAtTheSameTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const n = 1 << 20
		f := batchFixture(t, []Tool{slowText(n, func() { time.Sleep(100 * time.Millisecond) })})
		took := make([]time.Duration, 46)
		var all sync.WaitGroup
		for i := range took {
			all.Go(func() {
				c := f.dialReader()
				took[i] = c.lineIn(callFrame("1", "slow"), n)
				c.close()
			})
		}
		all.Wait()
		for i, d := range took {
			if d > 4*time.Second {
				t.Errorf("%d took %v", i, d)
			}
		}
		f.counted()
	})
}

// Files that have grown half-way and need more room than there is do not wait for each other: all are written, and together they never take much
// more than the room.
func TestTSK28FilesThatGrowDoNotWaitForEachOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const n, callers, calls = 1 << 20, 4, 6
		half := make(chan struct{})
		f := batchFixture(t, []Tool{tool("slow", plain(func(_ context.Context, call *Call) (*echoOutput, error) {
			pieces := 0
			pause := func() {
				if pieces++; pieces == 5 {
					<-half
				}
			}
			call.Content(TextResourceFrom("x://y", "", func() (io.ReadCloser, error) { return &slowLetters{letters{n}, pause}, nil }))
			return &echoOutput{"out"}, nil
		}))}, WithMaxBytesUnread(1<<20))
		var all sync.WaitGroup
		for i := range callers {
			for j := range calls {
				all.Go(func() {
					c := f.dialReaderOf(WithPrincipal(t.Context(), fmt.Sprint(i, j/3)), "2025-11-25")
					c.lineIn(callFrame("1", "slow"), n)
					c.close()
				})
			}
		}
		synctest.Wait()
		if got := f.srv.spooled.waits(); got == 0 {
			t.Error("none waits for room")
		}
		close(half)
		for range 1000 {
			if got, most := f.srv.spooled.total(), 2*f.srv.spooled.limit; got > most {
				t.Fatalf("%d bytes are in files, want at most %d", got, most)
			}
			time.Sleep(time.Millisecond)
		}
		all.Wait()
		f.counted()
	})
}

// A file may be larger than the room of all, once others have left that: it does not wait for itself.
func TestTSK28AFileMayBeLargerThanTheRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const n = 6 << 20
		f := batchFixture(t, []Tool{bigText(n)}, WithMaxBytesUnread(1<<20))
		var all sync.WaitGroup
		for range 5 {
			all.Go(func() {
				c := f.dialReader()
				c.lineIn(callFrame("1", "big"), n)
				c.close()
			})
		}
		all.Wait()
		f.counted()
	})
}
