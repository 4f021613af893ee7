package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestCAN15CtrlCEndsACommandThatReads: standard input that says nothing, and does not end, keeps nobody.
func TestCAN15CtrlCEndsACommandThatReads(t *testing.T) {
	dir := t.TempDir()
	for _, args := range [][]string{
		{"import", "-", "-o", filepath.Join(dir, "mcpkiln.yaml")},
		{"init", "--from", "-", filepath.Join(dir, "project")},
		{"call", "http://127.0.0.1:1/mcp", "tool", "-"},
		{"task", "get", "-"},
	} {
		input, silent, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		before := os.Stdin
		os.Stdin = input
		ctx, interrupt := context.WithCancel(t.Context())
		go interrupt()
		var out, errs bytes.Buffer
		code := run(ctx, args, &out, &errs)
		os.Stdin = before
		if code != exitInterrupted || !strings.HasSuffix(errs.String(), "interrupted\n") || out.Len() > 0 {
			t.Errorf("%v: exit status %d, %q, %q", args, code, out.String(), errs.String())
		}
		if err := silent.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestDAY06TooFewAndTooManyArguments: a command says what it takes.
func TestDAY06TooFewAndTooManyArguments(t *testing.T) {
	for words, want := range map[string]string{
		"init":         "mcpkiln: too few arguments: write mcpkiln init DIR [flags]\n  mcpkiln init --help has examples\n",
		"init a b":     "mcpkiln: too many arguments: write mcpkiln init DIR [flags]\n  mcpkiln init --help has examples\n",
		"generate a b": "mcpkiln: too many arguments: write mcpkiln generate [MANIFEST] [flags]\n  mcpkiln generate --help has examples\n",
		"version x":    "mcpkiln: too many arguments: write mcpkiln version [flags]\n  mcpkiln version --help has examples\n",
		"task answer":  "mcpkiln: too few arguments: write mcpkiln task answer REF [FIELD…] [-- COMMAND…] [flags]\n  mcpkiln task answer --help has examples\n",
	} {
		var out, errs bytes.Buffer
		if code := run(t.Context(), strings.Fields(words), &out, &errs); code != exitFailed || errs.String() != want || out.Len() > 0 {
			t.Errorf("%s: exit status %d, %q, %q", words, code, out.String(), errs.String())
		}
	}
}

// TestCAN15CtrlCWinsOverInputThatEndsWithIt: it ends the whole pipeline, and with that what the command reads.
func TestCAN15CtrlCWinsOverInputThatEndsWithIt(t *testing.T) {
	for _, want := range []error{errInterrupted, nil} {
		synctest.Test(t, func(t *testing.T) {
			ctx, interrupt := context.WithCancel(t.Context())
			defer interrupt()
			if want != nil {
				time.AfterFunc(pipelineEnd/2, interrupt)
			}
			if _, err := io.ReadAll(interruptible{ctx, strings.NewReader("x")}); err != want {
				t.Errorf("%v, want %v", err, want)
			}
		})
	}
}
