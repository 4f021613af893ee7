package server

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpkiln/mcpkiln/runtime/rpc"
)

// longBatches is a server of 2025-03-26 with the tools "big", whose answers are in files, of which one client has room for two, and "hang".
func longBatches(t *testing.T) (*fixture, *hold) {
	h := newHold()
	return batchFixture(t, []Tool{bigText(1 << 20), tool("hang", h.handler())}, WithMaxBytesUnread(1<<20)), h
}

// dialLong is a client of 2025-03-26 that reads lines of any length.
func (f *fixture) dialLong() *client {
	c := f.dialStateless(rpc.LineOptions{})
	c.request("0", "initialize", `{"protocolVersion":"2025-03-26","capabilities":{},"clientInfo":{"name":"c","version":"1"}}`)
	c.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return c
}

var bigAndHang = `[` + callFrame("2", "big") + `,` + callFrame("3", "hang") + `,` + ping("4") + `]`

// While others wait for the room of files, what is in some goes before the rest of its batch, and the rest follows.
func TestTSK28LongAnswersOfABatchDoNotHoldTheRoomOfFiles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, h := longBatches(t)
		var batches []*client
		for i := range 3 {
			c := f.dialLong()
			c.send(bigAndHang)
			synctest.Wait()
			if i == 0 && len(c.frames) > 0 {
				t.Errorf("nobody waits, and there is %.200s", <-c.frames)
			}
			batches = append(batches, c)
		}
		c, start := f.dialReader(), time.Now()
		c.send(callFrame("2", "big"))
		if size := c.line(func() {}); size < 1<<20 || time.Since(start) > 0 {
			t.Errorf("%d bytes after %v", size, time.Since(start))
		}
		c.close()
		if got := batches[0].array(); len(got) != 1 || len(got["2"]) < 1<<20 {
			t.Errorf("%d answers, %.200s", len(got), got["2"])
		}
		h.free()
		if got := batches[0].array(); len(got) != 2 || got["3"] == "" || got["4"] != "{}" {
			t.Error(got)
		}
		synctest.Wait()
		for _, c := range batches {
			c.close()
		}
		synctest.Wait()
		f.counted()
	})
}

// Who does not read them is given up then.
func TestTSK28WhoDoesNotReadALongBatchBlocksNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, h := longBatches(t)
		var silent []*lineReader
		for range 4 {
			c := f.dialReaderAs("2025-03-26")
			c.send(bigAndHang)
			silent = append(silent, c)
		}
		synctest.Wait()
		c, start := f.dialReader(), time.Now()
		c.send(callFrame("2", "big"))
		if size := c.line(func() {}); size < 1<<20 || time.Since(start) > time.Minute {
			t.Errorf("%d bytes after %v", size, time.Since(start))
		}
		c.close()
		h.free()
		for _, c := range silent {
			c.close()
		}
		synctest.Wait()
		f.counted()
	})
}

// Answers of a batch do not wait for the room of those that wait for them: each comes, however many there are.
func TestTSK28ALongBatchDoesNotWaitForItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, _ := longBatches(t)
		c, start := f.dialLong(), time.Now()
		calls := []string{}
		for _, id := range []string{"1", "2", "3", "4", "5", "6", "7", "8"} {
			calls = append(calls, callFrame(id, "big"))
		}
		c.send(`[` + strings.Join(calls, ",") + `]`)
		for left := len(calls); left > 0; {
			got := c.array()
			left -= len(got)
			for id, answer := range got {
				if len(answer) < 1<<20 {
					t.Errorf("%s: %.200s", id, answer)
				}
			}
		}
		if waited := time.Since(start); waited > time.Minute {
			t.Errorf("after %v", waited)
		}
		c.close()
		f.counted()
	})
}

// A cancelled answer leaves its batch with its file, and its id is free.
func TestCAN02ALongAnswerThatIsCancelledInItsBatchTakesNoRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, h := longBatches(t)
		c := f.dialLong()
		c.send(bigAndHang)
		synctest.Wait()
		if f.srv.files.total() == 0 {
			t.Error("nothing is held")
		}
		c.cancel("2")
		synctest.Wait()
		if n := f.srv.files.total(); n > 0 {
			t.Errorf("%d bytes are held", n)
		}
		c.send(ping("2"))
		if m := c.next(); string(m.ID) != "2" || m.field("result") != "{}" {
			t.Errorf("%.300s", m.raw)
		}
		h.free()
		if got := c.array(); len(got) != 2 || got["3"] == "" || got["4"] != "{}" {
			t.Errorf("%d answers", len(got))
		}
		c.close()
		f.counted()
	})
}
