package main

import (
	"bufio"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestWatchGeneratesAgain when the manifest changes, also one that could not be generated, until it is interrupted.
func TestWatchGeneratesAgain(t *testing.T) {
	dir := t.TempDir()
	manifest := filepath.Join(dir, "mcpkiln.yaml")
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	const tools = "protocol: {revisions: [\"2025-11-25\"]}\nserver: {name: watched, version: 1.0.0}\ntools: {first: {inputSchema: {type: object}}"
	write("go.mod", "module example.com/m\n")
	write("mcpkiln.yaml", tools+"}\n")

	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	r, w := io.Pipe()
	ended := make(chan int)
	go func() {
		code := run(ctx, []string{"generate", "--watch", manifest}, w, w)
		w.Close()
		ended <- code
	}()
	said := bufio.NewScanner(r)
	wait := func(text string) {
		t.Helper()
		for said.Scan() {
			if strings.Contains(said.Text(), text) {
				return
			}
		}
		t.Fatalf("the output ended before %q", text)
	}
	wait("watching")
	write("mcpkiln.yaml", tools+", second: {}}\n")
	wait("error[")
	wait("watching")
	write("mcpkiln.yaml", tools+", second: {inputSchema: {type: object}}}\n")
	wait("tools.gen.go")
	wait("watching")
	go interrupt()
	for said.Scan() {
	}
	if code := <-ended; code != exitClean {
		t.Errorf("exit status %d", code)
	}
	if text, err := os.ReadFile(filepath.Join(dir, "internal/watched/tools.gen.go")); err != nil || !strings.Contains(string(text), `"second"`) {
		t.Errorf("%v\n%s", err, text)
	}
}
