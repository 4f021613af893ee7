//go:build !race

// Under the race detector pools forget at random, and then counting memory says nothing.

package server

import (
	"runtime"
	"testing"
)

// An answer is encoded in the buffer that goes out, and that is used again.
func TestTSK28LargeAnswersUseTheirBuffersAgain(t *testing.T) {
	const calls = 50
	call := largeCalls(t, 1_000_000)
	for range 5 {
		call()
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range calls {
		call()
	}
	runtime.ReadMemStats(&after)
	if each := (after.TotalAlloc - before.TotalAlloc) / calls; each > 1<<20 {
		t.Errorf("%d bytes for an output of 1 MB", each)
	}
}
