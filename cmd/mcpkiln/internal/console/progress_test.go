//go:build unix

package console_test

import (
	"strings"
	"testing"
	"time"

	"github.com/mcpkiln/mcpkiln/cmd/mcpkiln/internal/console"
	"github.com/mcpkiln/mcpkiln/cmd/mcpkiln/internal/screen"
	"github.com/mcpkiln/mcpkiln/runtime/client"
)

// TestFewProgressIsDrawnOfMuch, and the last.
func TestFewProgressIsDrawnOfMuch(t *testing.T) {
	s, tty := screen.Open(t)
	c := console.Open(tty, tty)
	begun := time.Now()
	for n := range 1001 {
		c.Progress(client.Progress{Progress: float64(n), Total: 1000})
	}
	s.Sees("1000/1000")
	most := 2 + int(time.Since(begun)/(50*time.Millisecond))
	_ = tty.Close()
	if drawn := strings.Count(s.Raw(), "/1000"); drawn > most {
		t.Errorf("%d lines are drawn", drawn)
	}
}
