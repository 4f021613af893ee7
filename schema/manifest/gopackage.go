package manifest

import (
	"errors"
	"fmt"
	"go/token"
	"path"
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
		"client":  l.flag(&g.Client),
	})
	if p := g.Package; p.Node.Is(schema.String) && (!token.IsIdentifier(p.Value) || p.Value == "_" || p.Value == "main") {
		l.ds.Report(p.Node, "go-package", "use a short name in lower case, like "+PackageName(p.Value),
			"%q can not be the name of a package that others import", p.Value)
	}
	if o := g.Out; o.Node.Is(schema.String) {
		if err := CheckOut(o.Value); err != nil {
			l.ds.Report(o.Node, "go-out", outHint, "%s", err)
		}
	}
}

const outHint = "write a path like internal/tools: letters, digits and any of - . _ ~ +"

// CheckOut returns what is wrong with an output directory: packages in it have to be importable (module.CheckImportPath), and
// patterns such as ./... have to find them.
func CheckOut(out string) error {
	if path.IsAbs(out) || strings.Contains(out, `\`) {
		return fmt.Errorf("out is a path below the manifest's directory, written with /, not %q", out)
	}
	elements := strings.Split(path.Clean(out), "/")
	for len(elements) > 0 && (elements[0] == ".." || elements[0] == ".") {
		elements = elements[1:] // whether it is in the module is for the writer to see
	}
	for _, e := range elements {
		switch {
		case e == "vendor":
			return fmt.Errorf("out can not be %q: what is below vendor is imported by another path", out)
		case e != "" && strings.ContainsRune("-._", rune(e[0])):
			return fmt.Errorf("out can not be %q: go commands leave out directories like %q", out, e)
		}
	}
	var invalid *module.InvalidPathError
	if err := module.CheckImportPath(strings.Join(elements, "/")); len(elements) > 0 && errors.As(err, &invalid) {
		return fmt.Errorf("out can not be %q, because Go can not import it: %w", out, invalid.Err)
	}
	return nil
}

// PackageName makes the name of a package of any text: its ASCII letters and digits in lower case.
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
	case token.IsKeyword(name):
		return "mcp" + name
	}
	return name
}
