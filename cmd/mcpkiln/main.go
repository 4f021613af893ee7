// Command mcpkiln generates Model Context Protocol servers from a manifest of tools.
//
// Results go to stdout, diagnostics to stderr as file:line:col: severity[code]: message. The exit status is 0 for success, 1 for findings (errors
// in a manifest, drift), and 2 when the command could not run. Commands that talk to a server have more, in status.go.
//
// Words: a visit is one session of a command with a server; a reference is the JSON that names a task for other commands, and is kept if this
// machine stores it; a way is a set of flags that a manifest is generated with.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
	"time"

	"golang.org/x/tools/go/analysis/unitchecker"

	"github.com/mcpkiln/mcpkiln/cmd/mcpkiln/internal/plain"
	"github.com/mcpkiln/mcpkiln/generator/vet"
	"github.com/mcpkiln/mcpkiln/schema"
)

// errFindings ends a command whose findings have been printed.
var errFindings = errors.New("findings")

const (
	exitClean    = 0
	exitFindings = 1
	exitFailed   = 2
)

// garbagePercent lets the heap of a short run grow instead of collecting it, which saves a quarter of the time for a thousand tools (measured
// with GOGC 400 and 100).
const garbagePercent = 400

// Manifests larger than largeManifest bytes, which have thousands of tools, are collected more often: memory matters more there, and
// garbagePercent would take half as much again to save a quarter of the time.
const (
	largeManifest       = 1 << 20
	largeGarbagePercent = 100
)

func main() {
	debug.SetGCPercent(garbagePercent)
	if isVetTool(os.Args[1:]) {
		unitchecker.Main(vet.Analyzers...)
	}
	ctx, stop := signal.NotifyContext(context.Background(), endSignals()...)
	context.AfterFunc(ctx, func() { time.AfterFunc(sameInterrupt, stop) }) // a second signal kills the process, if something ignores ctx; during a visit hurry catches it
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// endSignals returns the signals that ask the command to end, without those that it was started to ignore, as by nohup or as a background job
// of a shell.
func endSignals() []os.Signal {
	all := []os.Signal{syscall.SIGTERM}
	for _, s := range []os.Signal{os.Interrupt, syscall.SIGHUP} {
		if !signal.Ignored(s) {
			all = append(all, s)
		}
	}
	return all
}

// run executes one command line and returns the exit status.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	root := newRoot(stderr, args...)
	root.SetArgs(args)
	results := &sink{Writer: stdout}
	root.SetOut(plain.Writer(results))
	root.SetErr(plain.Writer(stderr))
	root.SetIn(interruptible{ctx, os.Stdin})
	addStandard(root)
	err := root.ExecuteContext(ctx)
	if results.failed != nil {
		err = unwritten(err, results.failed)
	}
	stderr = root.ErrOrStderr()
	code := exitFailed
	var remote *statusError
	switch {
	case err == nil:
		return exitClean
	case errors.Is(err, errFindings):
		return exitFindings
	case errors.Is(err, errInterrupted):
		code = exitInterrupted
	case errors.As(err, &remote):
		if code = remote.status; remote.err == nil {
			return code
		}
	}
	if ds := (schema.Diagnostics)(nil); errors.As(err, &ds) {
		fmt.Fprintln(stderr, ds)
	} else {
		fmt.Fprintln(stderr, "mcpkiln:", err)
	}
	return code
}

// unwritten returns the error for results that can not be written. That of a server has been asked for, so that the command is not refused.
func unwritten(err, failed error) error {
	failed = fmt.Errorf("the results can not be written: %w", failed)
	if visited := (*statusError)(nil); errors.As(err, &visited) {
		return &statusError{exitTool, failed}
	}
	return failed
}

// sink remembers the first write error, so that commands need not check each write.
type sink struct {
	io.Writer
	failed error
}

func (s *sink) Write(p []byte) (n int, err error) {
	if n, err = s.Writer.Write(p); err != nil && s.failed == nil {
		s.failed = err
	}
	return n, err
}
