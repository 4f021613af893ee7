package server

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/synctest"
)

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
		if n := lowestFree(t) - before; n == 0 || n > maxOpened {
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
	for has, want := range map[uint64]int64{0: 1024, 1: 1, 256: 64, 1024: 256, 1 << 20: 1024, 1<<64 - 1: 1024} {
		if got := maxFiles(has); got != want {
			t.Errorf("%d: %d, want %d", has, got, want)
		}
	}
}
