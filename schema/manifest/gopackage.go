package manifest

import (
	"go/token"
	"path"
	"strings"

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
	if o := g.Out; o.Node.Is(schema.String) && (path.IsAbs(o.Value) || strings.Contains(o.Value, `\`)) {
		l.ds.Report(o.Node, "go-out", "", "out is a path below the manifest's directory, written with /, not %q", o.Value)
	}
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
