package endurance

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

var (
	kills  = flag.Int("kills", 15, "how many runs to kill")
	pairs  = flag.Int("pairs", 6, "how many pairs of runs to start at once")
	merges = flag.Int("merges", 1, "how many pairs of branches to merge")
	seed   = flag.Uint64("seed", 1, "of the random numbers")
)

// mcpkiln is the command, built once, and root this module.
var mcpkiln, root string

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(run(m))
}

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "endurance")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	if root, err = filepath.Abs("../../.."); err != nil {
		panic(err)
	}
	mcpkiln = filepath.Join(dir, "mcpkiln.exe")
	build := exec.Command("go", "build", "-o", mcpkiln, "./cmd/mcpkiln")
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		panic(fmt.Sprintf("%v\n%s", err, out))
	}
	return m.Run()
}

// random numbers differ from test to test, and are the same for a seed.
func random(t *testing.T) *rand.Rand {
	t.Helper()
	t.Logf("seed %d", *seed)
	return rand.New(rand.NewPCG(*seed, uint64(len(t.Name()))))
}

// module is a new module that links against this one.
func module(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	put(t, dir, "go.mod", fmt.Sprintf("module example.com/m\n\ngo 1.26.0\n\nrequire github.com/mcpkiln/mcpkiln v0.0.0\n\nreplace github.com/mcpkiln/mcpkiln => %s\n", root))
	return dir
}

// put replaces a file at once, as an editor or git does.
func put(t *testing.T, dir, name, text string) {
	t.Helper()
	aside := filepath.Join(t.TempDir(), "aside")
	if err := os.WriteFile(aside, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(aside, filepath.Join(dir, name)); err != nil {
		t.Fatal(err)
	}
}

// command is one that is to run in dir.
func command(ctx context.Context, dir, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	return cmd
}

// generate runs mcpkiln generate, which has to succeed.
func generate(t *testing.T, dir string, args ...string) {
	t.Helper()
	mustRun(t, dir, mcpkiln, append([]string{"generate"}, args...)...)
}

func mustRun(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	out, err := command(t.Context(), dir, name, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", filepath.Base(name), strings.Join(args, " "), err, out)
	}
	return string(out)
}

// tree is every file below dir with its content. Empty folders do not count, as in git.
func tree(t *testing.T, dir string) string {
	t.Helper()
	var b bytes.Buffer
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, _ := filepath.Rel(dir, path)
		data, err := os.ReadFile(path)
		fmt.Fprintf(&b, "-- %s --\n%s", rel, data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// names are the lines of a tree that name files, which is all that a message needs.
func names(tree string) string {
	var b strings.Builder
	for line := range strings.Lines(tree) {
		if strings.HasPrefix(line, "-- ") {
			b.WriteString(line)
		}
	}
	return b.String()
}
