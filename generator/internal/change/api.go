package change

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"maps"
	"slices"
	"strings"

	"github.com/mcpkiln/mcpkiln/schema"
)

// exported is what a package exports, by name: get_quote's type, its fields as Type.Field, methods and constants. Each has its text.
type exported map[string]string

// api compares what handlers are written against.
func (c *comparison) api() {
	old, new := exports(c.old.Source), exports(c.new.Source)
	for _, name := range slices.Sorted(maps.Keys(old)) {
		text, there := new[name]
		switch p := c.owner(name, c.old); {
		case !there && (c.about("tool-removed", p) || parentGone(name, new)):
		case !there && strings.HasPrefix(name, "Handlers."):
			c.found("handler-removed", p, "%s is not called any more", name).Gone = true
		case !there:
			c.found("go-removed", p, "%s is gone: %s", name, old[name]).Gone = true
		case text != old[name]:
			c.found("go-changed", c.owner(name, c.new), "%s is %s, and was %s", name, text, old[name])
		}
	}
	var added []string
	for _, name := range slices.Sorted(maps.Keys(new)) {
		if _, there := old[name]; there {
			continue
		}
		p := c.owner(name, c.new)
		switch method, ok := strings.CutPrefix(name, "Handlers."); {
		case ok:
			c.found("handler-added", p, "Handlers has the method %s", method+strings.TrimPrefix(new[name], "func"))
		case !c.about("tool-added", p) && !parentGone(name, old):
			added = append(added, name)
		}
	}
	if len(added) > 0 {
		c.found("go-added", at("", schema.Position{File: c.new.Manifest.File}, nil), "the package has %s", strings.Join(added, ", "))
	}
}

// parentGone reports whether name is a member of a type that all lacks, which says enough.
func parentGone(name string, all exported) bool {
	parent, _, member := strings.Cut(name, ".")
	_, there := all[parent]
	return member && !there && parent != "Handlers"
}

// about reports whether a change of that id has been found of a subject.
func (c *comparison) about(id string, p place) bool {
	return p.subject != "" && slices.ContainsFunc(c.changes, func(x Change) bool { return x.ID == id && x.Subject == p.subject })
}

// owner is the tool that a name belongs to: names of types begin with the tool's.
func (c *comparison) owner(name string, s Side) place {
	name = strings.TrimPrefix(strings.TrimPrefix(strings.TrimPrefix(name, "client:"), "Client."), "Handlers.")
	best := at("", schema.Position{File: c.new.Manifest.File}, nil)
	longest := ""
	for _, t := range s.tools() {
		if strings.HasPrefix(name, t.made.GoName) && len(t.made.GoName) > len(longest) {
			best, longest = t.place(), t.made.GoName
		}
	}
	return best
}

// exports reads the Go files of a package.
func exports(source map[string][]byte) exported {
	all := exported{}
	for _, file := range slices.Sorted(maps.Keys(source)) {
		set := token.NewFileSet()
		parsed, err := parser.ParseFile(set, file, source[file], parser.SkipObjectResolution)
		if err != nil {
			continue // the tests compile what is generated
		}
		declared := exported{}
		for _, d := range parsed.Decls {
			declared.declaration(set, d)
		}
		prefix := ""
		if strings.HasPrefix(file, ClientFiles) {
			prefix = "client:"
		}
		for name, text := range declared {
			all[prefix+name] = text
		}
	}
	all.resolve()
	return all
}

// resolve gives other names what they stand for, so that it makes no difference which of several names of one type declares it.
func (all exported) resolve() {
	for _, name := range slices.Sorted(maps.Keys(all)) {
		kind, target, _ := strings.Cut(all[name], " ")
		switch original, there := all[target]; {
		case kind == "const" && there:
			all[name] = original
		case kind == "=":
			delete(all, name)
			for other, text := range maps.Clone(all) {
				if rest, member := strings.CutPrefix(other, target); member && (rest == "" || rest[0] == '.') {
					all[name+rest] = text
				}
			}
		}
	}
}

// ClientFiles is what names of a client's files begin with in Side.Source, where there is a server beside it.
const ClientFiles = "client/"

func (all exported) declaration(set *token.FileSet, d ast.Decl) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		name := d.Name.Name
		if d.Recv != nil {
			receiver := strings.TrimPrefix(text(set, d.Recv.List[0].Type), "*")
			if !ast.IsExported(receiver) {
				return
			}
			name = receiver + "." + name
		}
		if d.Name.IsExported() {
			all[name] = text(set, d.Type)
		}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			all.spec(set, d.Tok, spec)
		}
	}
}

func (all exported) spec(set *token.FileSet, tok token.Token, spec ast.Spec) {
	switch spec := spec.(type) {
	case *ast.TypeSpec:
		if spec.Name.IsExported() {
			all.typeOf(set, spec)
		}
	case *ast.ValueSpec:
		for i, name := range spec.Names {
			if name.IsExported() {
				all[name.Name] = tok.String()
				if i < len(spec.Values) && tok == token.CONST {
					all[name.Name] += " " + text(set, spec.Values[i])
				}
			}
		}
	}
}

// typeOf adds a type. Fields and methods are members of their own, since a new one breaks nobody.
func (all exported) typeOf(set *token.FileSet, spec *ast.TypeSpec) {
	name := spec.Name.Name
	members := func(kind string, list *ast.FieldList) {
		all[name] = kind
		for _, f := range list.List {
			for _, id := range f.Names {
				if id.IsExported() {
					all[name+"."+id.Name] = text(set, f.Type)
				}
			}
		}
	}
	switch t := spec.Type.(type) {
	case *ast.StructType:
		members("struct", t.Fields)
	case *ast.InterfaceType:
		members("interface", t.Methods)
	default:
		_, elsewhere := t.(*ast.SelectorExpr)
		switch {
		case !spec.Assign.IsValid():
			all[name] = text(set, spec.Type)
		case !elsewhere: // that of a part is read there
			all[name] = "= " + text(set, spec.Type)
		}
	}
}

func text(set *token.FileSet, n ast.Node) string {
	var b bytes.Buffer
	_ = printer.Fprint(&b, set, n) // what was parsed can be printed
	return strings.Join(strings.Fields(b.String()), " ")
}
