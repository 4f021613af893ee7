package main

import (
	"os/exec"
	"path"
	"strings"
	"testing"
)

const self = "github.com/mcpkiln/mcpkiln/"

// everywhere may be imported by all, like the standard library: it knows nothing of this project.
const everywhere = "runtime/check/lazyregexp"

// arrows lists what each room may import besides the standard library. Rooms are matched by prefix, the longest wins;
// an entry that ends in /... covers everything below it.
var arrows = map[string][]string{
	"cmd":                           {"cmd/mcpkiln/internal/...", "generator", "generator/disk", "generator/importer", "generator/markdown", "generator/vet", "runtime/client", "runtime/inflight", "runtime/rpc", "runtime/task", "schema/...", "templates", "github.com/spf13/cobra", "github.com/spf13/pflag", "golang.org/x/mod/...", "golang.org/x/tools/go/analysis/unitchecker", "golang.org/x/tools/go/packages"},
	"cmd/mcpkiln/internal/argument": {"cmd/mcpkiln/internal/plain", "schema", "github.com/santhosh-tekuri/jsonschema/v5"},
	"cmd/mcpkiln/internal/colour":   {},
	"cmd/mcpkiln/internal/console":  {"cmd/mcpkiln/internal/plain", "runtime/client", "runtime/inflight", "charm.land/...", "github.com/charmbracelet/..."},
	"cmd/mcpkiln/internal/keep":     {"generator/disk", "runtime/client"},
	"cmd/mcpkiln/internal/plain":    {},
	"cmd/mcpkiln/internal/screen":   {"github.com/creack/pty"},
	"cmd/mcpkiln/internal/target":   {"runtime/client", "schema"},
	// A tool is listed by the one rule that servers go by.
	"generator":          {"generator/disk", "generator/internal/...", "runtime/wire", "schema/...", "templates", "github.com/rogpeppe/go-internal/diff", "golang.org/x/tools/txtar"},
	"generator/disk":     {},
	"generator/markdown": {},
	"generator/importer": {"generator", "generator/internal/naming", "schema/...", "runtime/check/format"},
	"generator/vet":      {"golang.org/x/tools/go/..."},
	// runtime/check tells which properties are sensitive, by the one rule that servers go by.
	"generator/internal/lower":  {"schema/...", "generator/internal/model", "generator/internal/naming", "generator/internal/typing", "generator/internal/wire", "runtime/check", "runtime/check/paramheader", "runtime/check/secret"},
	"generator/internal/naming": {},
	"generator/internal/typing": {"schema", "schema/manifest", "generator/internal/model", "generator/internal/naming", "runtime/check/format", "runtime/check/pattern"},
	// runtime/wire says which keywords of a definition servers read.
	"generator/internal/wire":      {"schema", "schema/revision", "generator/internal/model", "generator/internal/naming", "generator/internal/typing", "runtime/wire"},
	"generator/internal/change":    {"schema", "schema/manifest", "schema/revision", "generator/internal/model", "generator/internal/subsume"},
	"generator/internal/subsume":   {"schema", "generator/internal/typing", "runtime/check/format", "runtime/check/pattern"},
	"generator/internal/reference": {"schema", "schema/manifest", "schema/revision", "generator/internal/model", "generator/internal/subsume", "generator/markdown"},
	"generator/internal/emit":      {"generator/internal/model", "templates", "github.com/dave/jennifer/jen"},
	"generator/internal/model":     {},
	"templates":                    {},
	"schema":                       {"schema/...", "runtime/check/format", "runtime/check/keyword", "runtime/check/pattern", "runtime/check/secret", "runtime/uritemplate", "golang.org/x/mod/module", "github.com/santhosh-tekuri/jsonschema/v5", "go.yaml.in/yaml/v3", "runtime/check/address"},
	"runtime":                      {"runtime/..."},
	// The two ends know nothing of each other: what both need stands below them.
	"runtime/client":     {"runtime/check", "runtime/client/internal/...", "runtime/inflight", "runtime/rpc", "runtime/task", "runtime/wire", "runtime/check/keyword", "runtime/check/paramheader", "runtime/internal/exact"},
	"runtime/server":     {"runtime/check/...", "runtime/inflight", "runtime/internal/...", "runtime/rpc", "runtime/task", "runtime/uritemplate", "runtime/wire/..."},
	"runtime/streamhttp": {"runtime/check", "runtime/inflight", "runtime/internal/...", "runtime/rpc", "runtime/server", "runtime/wire", "runtime/check/address", "runtime/check/paramheader"},
}

// TestImportArrows holds every package against the picture of the architecture.
func TestImportArrows(t *testing.T) {
	out, err := exec.Command("go", "list", "-f", `{{.ImportPath}} {{join .Imports " "}}`, self+"...").Output()
	if err != nil {
		t.Fatal(err)
	}
	checked := 0
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		pkg := strings.TrimPrefix(fields[0], self)
		allowed, ok := roomOf(pkg)
		if !ok {
			t.Errorf("%s is in no room: add it to the picture, or move it", pkg)
		}
		for _, imp := range fields[1:] {
			checked++
			if imp := strings.TrimPrefix(imp, self); !isStandard(imp) && imp != everywhere && !permits(allowed, imp) {
				t.Errorf("%s may not import %s", pkg, imp)
			}
		}
	}
	if checked == 0 {
		t.Fatal("no imports were listed")
	}
}

// roomOf returns what the package may import.
func roomOf(pkg string) ([]string, bool) {
	for dir := pkg; dir != "."; dir = path.Dir(dir) {
		if allowed, ok := arrows[dir]; ok {
			return allowed, true
		}
	}
	return nil, false
}

// isStandard tells the standard library by the dot that other import paths have in their first element.
func isStandard(imp string) bool {
	first, _, _ := strings.Cut(imp, "/")
	return !strings.Contains(first, ".")
}

func permits(allowed []string, imp string) bool {
	for _, a := range allowed {
		if tree, ok := strings.CutSuffix(a, "/..."); ok && (imp == tree || strings.HasPrefix(imp, tree+"/")) {
			return true
		}
		if imp == a {
			return true
		}
	}
	return false
}

// TestImportArrowsCanFail shows that the check above refuses what it should.
func TestImportArrowsCanFail(t *testing.T) {
	emit, _ := roomOf("generator/internal/emit")
	for _, imp := range []string{"schema", "schema/manifest", "github.com/spf13/cobra", "github.com/spf13/pflag", "runtime/rpc"} {
		if permits(emit, imp) {
			t.Errorf("emit may import %s, want refused", imp)
		}
	}
	if rt, _ := roomOf("runtime/server"); permits(rt, "generator") {
		t.Error("runtime may import generator, want refused")
	}
	if client, _ := roomOf("runtime/client"); permits(client, "runtime/server") {
		t.Error("the client may import the server, want refused")
	}
	if server, _ := roomOf("runtime/server"); permits(server, "runtime/client") {
		t.Error("the server may import the client, want refused")
	}
	if _, ok := roomOf("elsewhere/pkg"); ok {
		t.Error("a package outside every room was accepted")
	}
}
