//go:build unix

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcpkiln/mcpkiln/cmd/mcpkiln/internal/screen"
)

// TestWhatAServerWritesWaitsForTheFormAndIsMarked: with --verbose, its standard error is not drawn into an open form, nor passes for lines of this command.
func TestWhatAServerWritesWaitsForTheFormAndIsMarked(t *testing.T) {
	fifo := filepath.Join(t.TempDir(), "say")
	cmd := command(t, "call", "-v", "confirm_delete", "filename=f", "--", "sh", "-c", `mkfifo "$0"; cat "$0" >&2 & exec shop`, fifo)
	s := screen.Start(t, cmd)
	s.Sees("  | the shop is open")
	s.Sees(`(calls itself "conformance") asks`)
	if err := os.WriteFile(fifo, []byte("begun\nmcpkiln: not authorized\nwithout an end"), 0); err != nil {
		t.Fatal(err)
	}
	s.Types("y")
	text := exits(t, cmd, s, 0)
	if !strings.Contains(text, "  | begun\r\n  | mcpkiln: not authorized\r\n") || !strings.Contains(text, "  | without an end\r\n") || strings.Contains(text, "\nmcpkiln: not") {
		t.Errorf("%q", text)
	}
}

// TestVerboseShowsLogRecordsOfTheServer, which are asked for, in every revision that has them.
func TestVerboseShowsLogRecordsOfTheServer(t *testing.T) {
	url, _ := openShop(t)
	for _, revision := range []string{"2026-07-28", "2025-11-25"} {
		cmd := command(t, "call", "-v", "--revision", revision, url, "test_tool_with_logging")
		s := screen.Start(t, cmd)
		s.Sees(`  | warning shop: {"text":"low\n\u001b[2J"}`)
		s.Types("\x03")
		exits(t, cmd, s, exitInterrupted)
	}
}

func TestLinesOfAServerAreShownWhole(t *testing.T) {
	var shown []string
	s := &serverLines{show: func(text string) { shown = append(shown, text) }}
	long := strings.Repeat("x", maxLine+1)
	for _, piece := range []string{"a", "b\nc\n\r\n", "d", "\x1b", "\ne", long, "f\r\n", "g"} {
		_, _ = s.Write([]byte(piece))
	}
	s.flush()
	s.flush()
	if got, want := strings.Join(shown, ""), "  | ab\n  | c\n  | d\\x1b\n  | e"+long+"\n  | f\n  | g\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
