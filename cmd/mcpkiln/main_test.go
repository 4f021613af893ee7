package main

import (
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

var update = flag.Bool("update", false, "rewrite what the scripts expect")

// raceExits has programs that are built with the race detector end at once: otherwise each waits for a second, for races that other goroutines might
// still find, and the tests here start hundreds.
const raceExits = "atexit_sleep_ms=0"

func TestMain(m *testing.M) {
	if err := os.Setenv("GORACE", strings.TrimSpace(os.Getenv("GORACE")+" "+raceExits)); err != nil {
		log.Fatal(err)
	}
	testscript.Main(inDir{m}, map[string]func(){"mcpkiln": main, "shop": serveShop, "deaf": serveDeaf, "odd": serveOdd})
}

// inDir are tests that have a directory for the command that they build.
type inDir struct{ *testing.M }

var commandDir string

func (m inDir) Run() int {
	var err error
	if commandDir, err = os.MkdirTemp("", "mcpkiln-test-"); err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(commandDir)
	return m.M.Run()
}

// raced are the scripts whose commands do several things at once that no other package's tests do: clients of servers. The race detector looks at
// them.
var raced = []string{"call", "exitcodes", "tools", "toolslist", "tsk27-client", "tsk27-tasks"}

// buildPlain builds the command as users have it, for tests under the race detector: with it a run takes several times as long, and there are
// hundreds. What generates is under the detector in the tests of package generator. Without the detector the test itself is such a command.
var buildPlain = sync.OnceValue(func() error {
	if info, ok := debug.ReadBuildInfo(); !ok || !slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"}) {
		return nil
	}
	if out, err := exec.Command("go", "build", "-race=false", "-buildvcs=false", "-o", filepath.Join(commandDir, "mcpkiln"), ".").CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	return nil
})

// withPlain is PATH with what buildPlain has built in front.
func withPlain(path string) string { return commandDir + string(filepath.ListSeparator) + path }

// TestScripts runs the command as its users do; each script says what it proves.
func TestScripts(t *testing.T) {
	t.Parallel()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	url, _ := openShop(t)
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Cmds:                map[string]func(*testscript.TestScript, bool, []string){"imagebuild": imageBuild, "status": status, "asks": asks, "pasted": pasted},
		Setup: func(env *testscript.Env) error {
			env.Setenv("MODULE", root)
			env.Setenv("SHOP", url)
			env.Setenv("GORACE", os.Getenv("GORACE"))
			if !slices.Contains(raced, strings.TrimPrefix(filepath.Base(env.WorkDir), "script-")) {
				if err := buildPlain(); err != nil {
					return err
				}
				env.Setenv("PATH", withPlain(env.Getenv("PATH")))
			}
			env.Setenv("XDG_CONFIG_HOME", filepath.Join(env.WorkDir, ".config"))
			return passGo(env)
		},
	})
}

// status is the command status N COMMAND…: it runs a command that exits with N.
func status(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: status N COMMAND…")
	}
	err := ts.Exec(args[1], args[2:]...)
	var exit *exec.ExitError
	if !errors.As(err, &exit) || strconv.Itoa(exit.ExitCode()) != args[0] {
		ts.Fatalf("%v, want exit status %s", err, args[0])
	}
}

// passGo lets scripts use the caches of the go command that runs the tests.
func passGo(env *testscript.Env) error {
	names := []string{"GOCACHE", "GOMODCACHE", "GOPROXY", "GOSUMDB", "GONOSUMDB", "GOFLAGS"}
	out, err := exec.Command("go", append([]string{"env"}, names...)...).Output()
	if err != nil {
		return err
	}
	for i, value := range strings.SplitN(strings.TrimSuffix(string(out), "\n"), "\n", len(names)) {
		env.Setenv(names[i], value)
	}
	env.Setenv("HOME", os.Getenv("HOME"))
	return nil
}

// asks is the command asks FILE: it waits until the task of a reference asks something.
func asks(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: asks FILE")
	}
	for range 1000 {
		ts.Check(ts.Exec("mcpkiln", "task", "get", "@"+args[0]))
		if strings.HasPrefix(ts.ReadFile("stdout"), "input_required") {
			return
		}
	}
	ts.Fatalf("the task asks nothing")
}

// pasted is the command pasted FILE ANSWER: it runs the line of FILE that says how to answer a task, with ANSWER for its fields.
func pasted(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: pasted FILE ANSWER")
	}
	_, line, _ := strings.Cut(ts.ReadFile(args[0]), ": mcpkiln ")
	words := strings.Fields(line)
	if len(words) != 6 || words[3] != "--key" {
		ts.Fatalf("%q is no command that answers one field", line)
	}
	ts.Check(ts.Exec("mcpkiln", append(words[:5], args[1])...))
}
