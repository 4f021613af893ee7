package generator

import (
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"os/exec"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"
)

// compiler type-checks generated packages against the compiled runtime: all that the compiler would refuse, at a hundredth of
// its time. It is not safe for concurrent use.
type compiler struct {
	files *token.FileSet
	from  types.Importer
}

// exports are the files of compiled packages, by import path.
var exports = sync.OnceValues(func() (map[string]string, error) {
	out, err := exec.Command("go", "list", "-export", "-deps", "-f", "{{.ImportPath}} {{.Export}}", "../runtime/...", "testing/synctest", "net/http/httptest").Output()
	all := map[string]string{}
	for line := range strings.Lines(string(out)) {
		name, file, _ := strings.Cut(strings.TrimSpace(line), " ")
		all[name] = file
	}
	return all, err
})

func newCompiler(t testing.TB) *compiler {
	t.Helper()
	compiled, err := exports()
	if err != nil {
		t.Fatal(err)
	}
	fset := token.NewFileSet()
	return &compiler{fset, importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(compiled[path]) })}
}

// check returns what is wrong with the packages of a result, whose own path is root.
func (c *compiler) check(root string, files []File) error {
	p := &packages{compiler: c, sources: map[string][]*ast.File{}, checked: map[string]*types.Package{}}
	for _, f := range files {
		if !strings.HasSuffix(f.Path, ".go") {
			continue
		}
		parsed, err := parser.ParseFile(c.files, f.Path, f.Content, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		dir := path.Join(root, path.Dir(f.Path))
		p.sources[dir] = append(p.sources[dir], parsed)
	}
	for _, dir := range slices.Sorted(maps.Keys(p.sources)) {
		if _, err := p.Import(dir); err != nil {
			return err
		}
	}
	return nil
}

// packages are those of one result, which import each other.
type packages struct {
	*compiler
	sources map[string][]*ast.File
	checked map[string]*types.Package
}

func (p *packages) Import(path string) (*types.Package, error) {
	if pkg := p.checked[path]; pkg != nil || p.sources[path] == nil {
		if pkg != nil {
			return pkg, nil
		}
		return p.from.Import(path)
	}
	config := types.Config{Importer: p, GoVersion: "go1.26"}
	pkg, err := config.Check(path, p.files, p.sources[path], nil)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	p.checked[path] = pkg
	return pkg, nil
}
