package manifest

import (
	"errors"
	"fmt"
	"go/token"
	"path"
	"slices"
	"strings"

	"golang.org/x/mod/module"

	"github.com/mcpkiln/mcpkiln/schema"
)

func (l *loader) goPackage(n *schema.Node) {
	g := &l.m.Go
	g.Node = n
	l.fields(n, "go", map[string]func(*schema.Node){
		"package": l.into(&g.Package),
		"out":     l.into(&g.Out),
		"client":  l.into(&g.Client),
	})
	if p := g.Package; p.Node.Is(schema.String) && !IsPackageName(p.Value) {
		l.ds.Report(p.Node, "go-package", "use a short name in lower case, like "+PackageName(p.Value),
			"%q can not be the name of a package that others import", p.Value)
	}
	l.dir("out", g.Out)
	l.dir("client", g.Client)
}

func (l *loader) dir(key string, dir Text) {
	if !dir.Node.Is(schema.String) {
		return
	}
	if err := CheckDir(key, dir.Value); err != nil {
		l.ds.Report(dir.Node, "go-out", outHint, "%s", err)
	}
}

const outHint = "write a path like internal/tools: letters, digits and any of - . _ ~ +"

// CheckDir returns an error if no importable package can be in the output directory out; key is the name of its setting.
func CheckDir(key, out string) error {
	if path.IsAbs(out) || strings.Contains(out, `\`) {
		return fmt.Errorf("%s is a path below the manifest's directory, written with /, not %q", key, out)
	}
	elements := strings.Split(path.Clean(out), "/")
	for len(elements) > 0 && (elements[0] == ".." || elements[0] == ".") {
		elements = elements[1:] // package generator checks that it is in the module
	}
	if len(elements) == 0 {
		return nil
	}
	if err := CheckImport(strings.Join(elements, "/")); err != nil {
		return fmt.Errorf("%s can not be %q: %w", key, out, err)
	}
	return nil
}

// CheckImport returns an error if a path can not be that of the package: Go has to accept it (module.CheckImportPath), patterns such as ./...
// have to find the package, and others have to be allowed to import it.
func CheckImport(importPath string) error {
	before := ""
	for e := range strings.SplitSeq(importPath, "/") {
		switch {
		case e == "vendor":
			return errors.New("what is below vendor is imported by another path")
		case e == "testdata" || e != "" && strings.ContainsRune("-._", rune(e[0])):
			return fmt.Errorf("go commands leave out directories like %q", e)
		case e == "internal" && before == e:
			return errors.New("only packages below the first internal may import what is below internal/internal")
		}
		before = e
	}
	var invalid *module.InvalidPathError
	if err := module.CheckImportPath(importPath); errors.As(err, &invalid) {
		return fmt.Errorf("Go can not import it: %w", invalid.Err)
	}
	return nil
}

// IsPackageName reports whether others can import a package of that name. Go ignores the files of a package documentation, and
// lets no file call an import init.
func IsPackageName(name string) bool {
	return token.IsIdentifier(name) && !slices.Contains([]string{"_", "main", "init", "documentation"}, name)
}

// PackageName makes a name for a package, and for its directory, from any text: its ASCII letters and digits in lower case.
func PackageName(text string) string {
	name := strings.TrimLeft(strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z', '0' <= r && r <= '9':
			return r
		case 'A' <= r && r <= 'Z':
			return r + 'a' - 'A'
		}
		return -1
	}, text), "0123456789")
	switch {
	case name == "" || name == "main":
		return "tools"
	case !IsPackageName(name), CheckImport("internal/"+name) != nil:
		return "mcp" + name
	}
	return name
}
