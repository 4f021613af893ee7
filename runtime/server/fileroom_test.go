package server

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// Sessions that do not read their answers do not hold up those of other sessions of their caller.
func TestTSK28SessionsThatDoNotReadFilesHoldUpNoOtherSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, []Tool{bigText(100 << 10)}, WithMaxBytesUnread(8<<20))
		ctx := WithPrincipal(t.Context(), "alice")
		var silent []*lineReader
		for range 12 {
			c := f.dialReaderOf(ctx, "2025-11-25")
			for i := range 30 {
				c.send(callFrame(fmt.Sprint(i+1), "big"))
			}
			silent = append(silent, c)
		}
		synctest.Wait()
		c := f.dialReaderOf(ctx, "2025-11-25")
		for i := range 3 {
			start := time.Now()
			c.send(callFrame(fmt.Sprint(i+1), "big"))
			if size := c.line(func() {}); size < 100<<10 || time.Since(start) > 3*maxStall {
				t.Errorf("%d bytes after %v", size, time.Since(start))
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

// slowText is a tool whose data comes in two halves, the second one when release is closed. half counts those of which one is read.
func slowText(n int, half *atomic.Int64, release <-chan struct{}) Tool {
	return tool("slow", plain(func(_ context.Context, call *Call) (*echoOutput, error) {
		call.Content(TextResourceFrom("x://y", "", func() (io.ReadCloser, error) {
			first, second := &letters{n / 2}, &letters{n / 2}
			wait := readerFunc(func([]byte) (int, error) {
				half.Add(1)
				<-release
				return 0, io.EOF
			})
			return io.NopCloser(io.MultiReader(first, wait, second)), nil
		}))
		return &echoOutput{"out"}, nil
	}))
}

// Readers of data that are slow are read at the same time: files that are small until then take little of the room.
func TestTSK28ManySlowReadersAreReadAtTheSameTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var half atomic.Int64
		release := make(chan struct{})
		const calls, size = 30, 200 << 10
		f := newFixture(t, []Tool{slowText(size, &half, release)})
		c := f.dialReader()
		for i := range calls {
			c.send(callFrame(fmt.Sprint(i+1), "slow"))
		}
		synctest.Wait()
		if n := half.Load(); n < calls {
			t.Errorf("%d are read at the same time, want %d", n, calls)
		}
		close(release)
		for range calls {
			if n := c.line(func() {}); n < size {
				t.Errorf("%d bytes", n)
			}
		}
		c.close()
		f.counted()
	})
}

// Files that get larger than they were expected to be do not wait for one another for ever, and readers that hang hold up their caller only.
func TestTSK28FilesThatGrowAllGetComplete(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const sessions, calls, size = 12, 6, 1 << 20
		var half atomic.Int64
		hung := make(chan struct{})
		f := newFixture(t, []Tool{bigText(size), slowText(2*size, &half, hung)}, WithMaxBytesUnread(8<<20)) // a file grows through two size classes
		mallory := f.dialReaderOf(WithPrincipal(t.Context(), "mallory"), "2025-11-25")
		for i := range 40 {
			mallory.send(callFrame(fmt.Sprint(i+1), "slow"))
		}
		synctest.Wait()
		start := time.Now()
		sizes := make(chan int, sessions*calls)
		var all []*lineReader
		for i := range sessions {
			c := f.dialReaderOf(WithPrincipal(t.Context(), fmt.Sprint("alice", i%3)), "2025-11-25")
			all = append(all, c)
			for k := range calls {
				c.send(callFrame(fmt.Sprint(k+1), "big"))
			}
			go func() {
				for range calls {
					sizes <- c.line(func() {})
				}
			}()
		}
		for range sessions * calls {
			if n := <-sizes; n < size {
				t.Errorf("%d bytes", n)
			}
		}
		if took := time.Since(start); took > time.Second {
			t.Errorf("after %v", took)
		}
		close(hung)
		mallory.close()
		for _, c := range all {
			c.close()
		}
		synctest.Wait()
		f.counted()
	})
}

// A batch with more files than its session has room for does not wait for a clock.
func TestTSK28CAN24FilesOfABatchMakeRoomForItsOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const calls, size = 120, 200 << 10
		f := batchFixture(t, []Tool{bigText(size)}, WithMaxBytesUnread(8<<20))
		c, start := f.dialReaderAs("2025-03-26"), time.Now()
		var batch []string
		for i := range calls {
			batch = append(batch, callFrame(fmt.Sprint(i+1), "big"))
		}
		c.send(`[` + strings.Join(batch, ",") + `]`)
		for total := 0; total < calls*size; {
			total += c.line(func() {})
		}
		if took := time.Since(start); took > time.Second {
			t.Errorf("after %v", took)
		}
		c.close()
		f.counted()
	})
}

// What an answer takes beyond the largest size class holds up its own caller alone, however slowly its client reads it.
func TestTSK28AVeryLargeAnswerHoldsUpNoOtherCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const huge = 20 << 20
		f := newFixture(t, []Tool{bigText(huge), slowText(1<<20, new(atomic.Int64), released())}, WithMaxBytesUnread(4<<20))
		slow := f.dialReaderOf(WithPrincipal(t.Context(), "slow"), "2025-11-25")
		slow.send(callFrame("1", "big"))
		read := make(chan int)
		go func() { read <- slow.line(func() { time.Sleep(time.Second) }) }()
		time.Sleep(10 * time.Second)
		c, start := f.dialReaderOf(WithPrincipal(t.Context(), "other"), "2025-11-25"), time.Now()
		c.send(callFrame("1", "slow"))
		if n := c.line(func() {}); n < 1<<20 || time.Since(start) > time.Second {
			t.Errorf("%d bytes after %v", n, time.Since(start))
		}
		if n := <-read; n < huge {
			t.Errorf("%d bytes", n)
		}
		slow.close()
		c.close()
		f.counted()
	})
}

func released() <-chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}

// Large answers that wait for room do not fill that of smaller ones: after the first, those of the same handler wait elsewhere.
func TestTSK28LargeAnswersThatWaitHoldUpNoSmallOnes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var half atomic.Int64
		hung := make(chan struct{})
		f := newFixture(t, []Tool{slowText(3<<20, &half, hung), bigText(100 << 10)}, WithMaxBytesUnread(8<<20))
		var all []*lineReader
		for range 6 {
			c := f.dialReader()
			for i := range 20 {
				c.send(callFrame(fmt.Sprint(i+1), "slow"))
				synctest.Wait()
			}
			all = append(all, c)
		}
		c, start := f.dialReader(), time.Now()
		c.send(callFrame("1", "big"))
		if n := c.line(func() {}); n < 100<<10 || time.Since(start) > time.Second {
			t.Errorf("%d bytes after %v", n, time.Since(start))
		}
		close(hung)
		for _, c := range append(all, c) {
			c.close()
		}
		synctest.Wait()
		f.counted()
	})
}

// countedReader counts itself as open until it is closed.
type countedReader struct {
	letters
	open *atomic.Int64
}

func (r *countedReader) Close() error { r.open.Add(-1); return nil }

// Of an answer that is in a file before it is sent one opener is open at a time, however many there are.
func TestTSK28TheDataOfAnAnswerIsOpenedInTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const blocks, size = 50, 10 << 10
		var open, most atomic.Int64
		f := newFixture(t, []Tool{tool("many", plain(func(_ context.Context, call *Call) (*echoOutput, error) {
			for range blocks {
				call.Content(TextResourceFrom("x://y", "", func() (io.ReadCloser, error) {
					most.Store(max(most.Load(), open.Add(1)))
					return &countedReader{letters{size}, &open}, nil
				}))
			}
			return &echoOutput{"out"}, nil
		}))})
		c := f.dialReader()
		c.send(callFrame("1", "many"))
		if n := c.line(func() {}); n < blocks*size || most.Load() != 1 || open.Load() != 0 {
			t.Errorf("%d bytes, at most %d open, %d left", n, most.Load(), open.Load())
		}
		c.close()
		f.counted()
	})
}

// A reader that was there before its answer is closed however that ends, also if it is not read any more. What would have to be opened is not.
func TestCAN03ReadersThatAreNotReadAreClosed(t *testing.T) {
	var open atomic.Int64
	late := func() (io.ReadCloser, error) {
		t.Error("it is opened for nobody")
		return nil, io.ErrUnexpectedEOF
	}
	f := newFixture(t, []Tool{tool("fails", plain(func(_ context.Context, call *Call) (*echoOutput, error) {
		open.Add(2)
		call.Content(ImageFrom("image/png", ReaderOf(&countedReader{letters{1}, &open})),
			ImageFrom("image/png", func() (io.ReadCloser, error) { return nil, io.ErrUnexpectedEOF }),
			ImageFrom("image/png", ReaderOf(&countedReader{letters{1}, &open})), ImageFrom("image/png", late))
		return &echoOutput{"out"}, nil
	}))})
	c := f.dial(t.Context())
	c.initialize(nothing)
	c.call("1", "fails", `{}`)
	if m, _ := c.answer("1"); m.Error == nil || open.Load() != 0 {
		t.Errorf("%d are open: %s", open.Load(), m.raw)
	}
}

// Data that can not be opened is not tried once more to close it, also where it is opened before the first byte.
func TestCAN03DataIsOpenedOnce(t *testing.T) {
	for _, opens := range []bool{false, true} {
		f := newFixture(t, nil)
		c := f.dial(t.Context())
		c.initialize(nothing)
		r := f.srv.newRequest(f.srv.onlyPeer())
		r.ctx = t.Context()
		tries := 0
		r.placeholders = []placeholder{{open: func() (io.ReadCloser, error) { tries++; return nil, io.ErrUnexpectedEOF }}}
		w := &answerWriter{r: r, buf: make([]byte, 0, streamPiece), opens: opens}
		if err := w.fill([]byte{placeholderMark[0]}); err == nil || tries != 1 {
			t.Errorf("before the first byte %t: opened %d times, %v", opens, tries, err)
		}
		r.release()
	}
}

// However many answers there are, a bounded number of them is in open files, and those of one caller are few of these.
func TestTSK28FewAnswersAreInOpenFiles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHold()
		f := batchFixture(t, []Tool{bigText(70 << 10), tool("hang", h.handler())})
		before := lowestFree(t)
		var clients []*lineReader
		for i := range 4 {
			c := f.dialReaderOf(WithPrincipal(t.Context(), fmt.Sprint("mallory", i)), "2025-03-26")
			calls := []string{callFrame("0", "hang")}
			for id := range 400 {
				calls = append(calls, callFrame(fmt.Sprint(id+1), "big"))
			}
			c.send(`[` + strings.Join(calls, ",") + `]`)
			clients = append(clients, c)
		}
		synctest.Wait()
		if n := int64(lowestFree(t) - before); n == 0 || n > maxFiles(descriptors()) {
			t.Errorf("%d files are open", n)
		}
		h.free()
		for _, c := range clients {
			c.close()
		}
		synctest.Wait()
		f.counted()
	})
}

// lowestFree is the lowest number that no open file has.
func lowestFree(t *testing.T) int {
	t.Helper()
	file, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	return int(file.Fd())
}

// A process with few descriptors has fewer files.
func TestTSK28HowManyFilesThereMayBe(t *testing.T) {
	for has, want := range map[uint64]int64{0: 1024, 1: 1, 256: 32, 1024: 128, 1 << 20: 1024, 1<<64 - 1: 1024} {
		if got := maxFiles(has); got != want {
			t.Errorf("%d: %d, want %d", has, got, want)
		}
	}
}

// The smallest files of a size class are as many as may be open, whatever the limits.
func TestTSK28AFileTakesEnoughToBoundTheirNumber(t *testing.T) {
	for _, unread := range []int64{1, 1 << 20, 128 << 20, 8 << 30} {
		for _, files := range []int64{1, 32, 1024} {
			s := newFixture(t, nil, WithMaxBytesUnread(unread)).srv
			s.openFileRoom(files)
			for i := range s.files {
				c, by := &s.files[i], new(fileShares)
				claim := fileClaim{of: &s.files, by: by, class: i, waiting: new(atomic.Int64)}
				if err := claim.grow(t.Context(), 1); err != nil {
					t.Fatal(err)
				}
				claim.settle(1)
				if n := c.limit / claim.held; n > files {
					t.Errorf("limit %d, class %d: %d files, want at most %d", unread, i, n, files)
				}
			}
		}
	}
}

// What an answer has in memory besides the data of Openers counts while it waits for the room of its file: handlers do not begin meanwhile, whoever calls.
func TestTSK28WhatWaitsForFilesCountsInMemory(t *testing.T) {
	for _, callers := range []int{1, 8} {
		synctest.Test(t, func(t *testing.T) {
			var ran atomic.Int64
			f := newFixture(t, []Tool{tool("both", plain(func(_ context.Context, call *Call) (*echoOutput, error) {
				ran.Add(1)
				call.Content(Text(strings.Repeat("x", 1<<20)), TextResourceFrom("x://y", "", func() (io.ReadCloser, error) { return &letters{100 << 10}, nil }))
				return &echoOutput{"out"}, nil
			}))}, WithMaxBytesUnread(4<<20))
			var clients []*lineReader
			for i := range callers {
				c := f.dialReaderOf(WithPrincipal(t.Context(), fmt.Sprint("mallory", i)), "2025-11-25")
				c.send(callFrame("0", "both")) // its size is known then
				c.line(func() {})
				clients = append(clients, c)
			}
			ran.Store(0)
			for i := range 80 {
				clients[i%callers].send(callFrame(fmt.Sprint(i+1), "both"))
			}
			synctest.Wait()
			if n := ran.Load(); n > 24 {
				t.Errorf("%d of 80 handlers have run, though few answers have room", n)
			}
			if n := f.srv.coming.total() + f.srv.unread.total(); n > 6<<20 {
				t.Errorf("%d bytes are in memory", n)
			}
			var read sync.WaitGroup
			for _, c := range clients {
				read.Go(func() {
					for range 80 / callers {
						if n := c.line(func() {}); n < 1<<20 {
							t.Errorf("%d bytes", n)
						}
					}
				})
			}
			read.Wait()
			for _, c := range clients {
				c.close()
			}
			f.counted()
		})
	}
}
