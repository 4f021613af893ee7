// Package pagetest compiles what the README of a module of its own shows in Go. It is for tests of the stores and dispatchers.
package pagetest

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Program is the code that the blocks of a page assume.
type Program struct {
	Imports []string // beside those of package context and of the runtime's server
	Given   string   // declarations and parameters, such as "url string", that the blocks use
}

// assigned finds the variables of a block.
var assigned = regexp.MustCompile(`(?m)^([\w, ]+) :=`)

// Compiles fails the test if README.md of its directory has no Go block, or one that does not compile as the body of a function.
func Compiles(t *testing.T, p Program) {
	t.Helper()
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := strings.Split(string(text), "\n```go\n")[1:]
	if len(blocks) == 0 {
		t.Error("README.md has no Go block")
	}
	for _, block := range blocks {
		block, _, _ = strings.Cut(block, "\n```")
		if said, err := compile(t, p.around(block)); err != nil {
			t.Errorf("%v\n%s\n%s", err, block, said)
		}
	}
}

// around is a program with the block. Variables that the page leaves to the reader are used.
func (p *Program) around(block string) string {
	var used []string
	for _, names := range assigned.FindAllStringSubmatch(block, -1) {
		used = append(used, strings.Split(names[1], ", ")...)
	}
	slices.Sort(used)
	used = slices.Compact(used)
	for i, name := range used {
		used[i] = "\t_ = " + name + "\n"
	}
	return `package page

import (
	"context"

	"github.com/mcpkiln/mcpkiln/runtime/server"
` + "\t" + strings.Join(p.Imports, "\n\t") + `
)

type handlers struct{}

type generated struct{}

func (generated) New(*handlers, ...server.Option) (*server.Server, error) { panic("not run") }

func page(ctx context.Context, reports generated, ` + p.Given + `) {
` + block + "\n" + strings.Join(used, "") + "}\n"
}

// compile builds a package that is in an overlay of the module.
func compile(t *testing.T, source string) (said []byte, err error) {
	t.Helper()
	dir := t.TempDir()
	file, overlay := filepath.Join(dir, "page.go"), filepath.Join(dir, "overlay.json")
	here, err := filepath.Abs("pagetest-page")
	if err != nil {
		t.Fatal(err)
	}
	replaced, err := json.Marshal(map[string]any{"Replace": map[string]string{filepath.Join(here, "page.go"): file}})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(overlay, replaced, 0o600); err != nil {
		t.Fatal(err)
	}
	return exec.CommandContext(t.Context(), "go", "build", "-overlay", overlay, "./pagetest-page").CombinedOutput()
}
