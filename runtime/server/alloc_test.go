//go:build !race

// Under the race detector pools forget at random, and then counting memory says nothing.

package server

import (
	"context"
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

// A report is kept only while it is held back, in the place of the one before.
func TestPRO05AReportThatIsNotSentCostsNoMemory(t *testing.T) {
	var each float64
	progressOf(t, withToken, func(ctx context.Context, call *Call) {
		step := 0.0
		each = testing.AllocsPerRun(1_000, func() {
			step++
			call.Progress(ctx, step, 0, "")
		})
	})
	if each > 0 {
		t.Errorf("%v allocations", each)
	}
}
