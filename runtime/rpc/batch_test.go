package rpc

import (
	"runtime"
	"strings"
	"testing"

	"github.com/mcpkiln/mcpkiln/runtime/check"
)

// A batch that is refused for its length takes no memory for what is in it, which could be 8 million messages of a byte each.
func TestTSK28ABatchThatIsTooLongTakesLittleMemory(t *testing.T) {
	frame := []byte("[" + strings.Repeat("1,", 1_000_000) + "1]")
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := Batch(frame, check.Limits{Bytes: 16 << 20, Depth: 512})
	runtime.ReadMemStats(&after)
	if err == nil || !strings.HasSuffix(err.Message, "at most 1000 messages, not 1000001") {
		t.Error(err)
	}
	if taken := after.TotalAlloc - before.TotalAlloc; taken > 1<<20 {
		t.Errorf("%d bytes of memory", taken)
	}
}
