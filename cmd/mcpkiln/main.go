// Command mcpkiln generates Model Context Protocol servers from a manifest of tools.
//
// Results go to stdout, diagnostics to stderr as file:line:col: severity[code]: message. The exit status is 0 when
// everything is well, 1 when there are findings (errors in a manifest, drift), and 2 when the command could not run.
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

// garbagePercent lets the heap of a run that is over in a moment grow instead of collecting it: a quarter of the time for a
// thousand tools (GOGC 100 against 400, measured).
const garbagePercent = 400

// For manifests of more bytes than largeManifest, of some thousands of tools, memory counts: a quarter less time would cost half as much again.
const (
	largeManifest       = 1 << 20
	largeGarbagePercent = 100
)

func main() {
	debug.SetGCPercent(garbagePercent)
	if isVetTool(os.Args[1:]) {
		unitchecker.Main(vet.Analyzers...)
	}
	ctx, stop := signal.NotifyContext(context.Background(), endings()...)
	context.AfterFunc(ctx, stop) // a second signal ends what does not look at ctx
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// endings are the signals that ask the command to end. Who started it may have had it ignore some, as nohup and shells with a job in the
// background do: those stay ignored.
func endings() []os.Signal {
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
	root := newRoot(stderr)
	root.SetArgs(args)
	results := &sink{Writer: stdout}
	root.SetOut(plain.Writer(results))
	root.SetErr(plain.Writer(stderr))
	root.SetIn(interruptible{ctx, os.Stdin})
	err := root.ExecuteContext(ctx)
	if results.failed != nil {
		err = fmt.Errorf("the results can not be written: %w", results.failed)
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

// sink remembers that something could not be written, so that no command that prints can forget to look.
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
