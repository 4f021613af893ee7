package main

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

var update = flag.Bool("update", false, "rewrite what the scripts expect")

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"mcpkiln": main})
}

// TestScripts runs the command as its users do; each script says what it proves.
func TestScripts(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Cmds:                map[string]func(*testscript.TestScript, bool, []string){"imagebuild": imageBuild},
		Setup: func(env *testscript.Env) error {
			env.Setenv("MODULE", root)
			return passGo(env)
		},
	})
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
