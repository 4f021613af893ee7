//go:build unix

package main

import (
	"bytes"
	"context"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestCAN15CtrlCEndsACommandThatWaitsForAFile: nobody has opened the FIFO for writing, so that not even its opening ends.
func TestCAN15CtrlCEndsACommandThatWaitsForAFile(t *testing.T) {
	dir := t.TempDir()
	fifo := filepath.Join(dir, "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"import", fifo, "-o", filepath.Join(dir, "mcpkiln.yaml")},
		{"init", "--from", fifo, filepath.Join(dir, "project")},
		{"call", "http://127.0.0.1:1/mcp", "tool", "@" + fifo},
		{"call", "--config", fifo, "entry", "tool"},
		{"tools", "--config", fifo, "entry"},
		{"task", "get", "@" + fifo},
		{"task", "answer", `{"id":"1","endpoint":"http://127.0.0.1:1/mcp","revision":"2026-07-28"}`, "@" + fifo},
	} {
		ctx, interrupt := context.WithCancel(t.Context())
		go interrupt()
		var out, errs bytes.Buffer
		if code := run(ctx, args, &out, &errs); code != exitInterrupted || !strings.HasSuffix(errs.String(), "interrupted\n") || out.Len() > 0 {
			t.Errorf("%v: exit status %d, %q, %q", args, code, out.String(), errs.String())
		}
	}
}
