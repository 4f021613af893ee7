//go:build !race

// Under the race detector pools forget at random, and then counting allocations says nothing.

package rpc

import (
	"bytes"
	"io"
	"strings"
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

// What is lent is written from where it is, however long.
func TestAFrameThatIsLentIsNotCopied(t *testing.T) {
	c := Lines(strings.NewReader(""), io.Discard, nil, LineOptions{}).(Lending)
	frame := append(make([]byte, 0, 1<<20+1), bytes.Repeat([]byte("x"), 1<<20)...)
	if n := testing.AllocsPerRun(10, func() { _ = c.WriteLent(frame) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}
