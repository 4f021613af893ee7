//go:build !race

// Under the race detector pools forget at random, and then counting allocations says nothing.

package rpc

import (
	"testing"

	"github.com/mcpkiln/mcpkiln/runtime/check"
)

func TestParseDoesNotAllocateForIntegerIDs(t *testing.T) {
	for _, frame := range [][]byte{
		[]byte(`{"jsonrpc":"2.0","id":12345,"method":"tools/call","params":{"name":"x","arguments":{"a":[1,2,3]}}}`),
		[]byte(`{"jsonrpc":"2.0","id":12345,"result":{"content":[]}}`),
	} {
		if n := testing.AllocsPerRun(100, func() { _, _ = Parse(frame, check.Limits{}) }); n > 0 {
			t.Errorf("%v allocations for %s", n, frame)
		}
	}
}
