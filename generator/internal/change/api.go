package change

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/mcpkiln/mcpkiln/schema"
)

// exported has the text of each exported declaration of a package, by name: types, fields as Type.Field, methods likewise, and constants.
type exported map[string]string

// api compares the exported declarations, which handlers use.
func (c *comparison) api() {
	old, new := exports(c.old.Source), exports(c.new.Source)
	c.client(old, new)
	dropRepeated(old, new)
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

// client reports a client package that is only on one side as one change, in place of all its names.
func (c *comparison) client(old, new exported) {
	_, was := old[inClient+"Client"]
	_, is := new[inClient+"Client"]
	if was == is {
		return
	}
	of := func(name, _ string) bool { return strings.HasPrefix(name, inClient) }
	maps.DeleteFunc(old, of)
	maps.DeleteFunc(new, of)
	manifest := at("", schema.Position{File: c.new.Manifest.File}, nil)
	if was {
		c.found("go-removed", manifest, "the client is gone").Gone = true
	} else {
		c.found("go-added", manifest, "there is a client, whose package declares the types")
	}
}

// dropRepeated drops the names of the client's package whose text is that of the server's on both sides, so that a change is reported once.
func dropRepeated(old, new exported) {
	for _, name := range slices.Concat(slices.Collect(maps.Keys(old)), slices.Collect(maps.Keys(new))) {
		if short, ok := strings.CutPrefix(name, inClient); ok && old[short] == old[name] && new[short] == new[name] {
			delete(old, name)
			delete(new, name)
		}
	}
}

// parentGone reports whether name is a member of a type that all lacks: then only the type is reported.
func parentGone(name string, all exported) bool {
	parent, _, member := strings.Cut(name, ".")
	_, there := all[parent]
	return member && !there && parent != "Handlers"
}

// about reports whether a change with this id has been found about the subject of p.
func (c *comparison) about(id string, p place) bool {
	return p.subject != "" && slices.ContainsFunc(c.changes, func(x Change) bool { return x.ID == id && x.Subject == p.subject })
}

// owner is the place of the tool that a name belongs to, which begins with the tool's Go name; the manifest for other names.
func (c *comparison) owner(name string, s Side) place {
	name = strings.TrimPrefix(strings.TrimPrefix(strings.TrimPrefix(name, inClient), "Client."), "Handlers.")
	best := at("", schema.Position{File: c.new.Manifest.File}, nil)
	longest := ""
	for _, t := range s.tools() {
		if strings.HasPrefix(name, t.made.GoName) && len(t.made.GoName) > len(longest) {
			best, longest = t.place(), t.made.GoName
		}
	}
	return best
}

// exports are the exported declarations in the Go files of a package, and of its client.
func exports(source map[string][]byte) exported {
	p := packages{}
	for _, file := range slices.Sorted(maps.Keys(source)) {
		p.read(file, source[file])
	}
	all := exported{}
	for _, root := range []string{"", inClient} {
		for name := range p[root] {
			for member, text := range p.meaning(root, name) {
				all[root+name+member] = text
			}
		}
	}
	return all
}

// packages are the generated packages. Users import two of them: the server's, whose key is "", and the client's, inClient. The others, by their
// names, declare the types that these have aliases of.
type packages map[string]declared

// declared is what a package declares: by name, the text of the declaration under the key "", and those of its members under ".Field".
type declared map[string]map[string]string

// inClient is the prefix of names of the client's package, where there is a server beside it.
const inClient = "client:"

// ClientFiles is the prefix of the client's files in Side.Source, where there is a server beside it.
const ClientFiles = "client/"

func (p packages) read(file string, source []byte) {
	set := token.NewFileSet()
	parsed, err := parser.ParseFile(set, file, source, parser.SkipObjectResolution)
	if err != nil {
		return // the tests compile what is generated
	}
	name := path.Base(path.Dir(file))
	switch path.Dir(file) + "/" {
	case "./":
		name = ""
	case ClientFiles:
		name = inClient
	}
	if p[name] == nil {
		p[name] = declared{}
	}
	for _, d := range parsed.Decls {
		p[name].declaration(set, d)
	}
}

// meaning is the text that a name stands for, with aliases resolved: so it makes no difference where a type is declared, and under which of its names.
func (p packages) meaning(pkg, name string) map[string]string {
	text := p[pkg][name]
	kind, target, _ := strings.Cut(text[""], " ")
	if kind != "=" && kind != "const" {
		return text
	}
	if other, selected, ok := strings.Cut(target, "."); ok {
		pkg, target = other, selected
	}
	if p[pkg][target] == nil {
		return text
	}
	return p.meaning(pkg, target)
}

func (all declared) add(name, member, text string) {
	if all[name] == nil {
		all[name] = map[string]string{}
	}
	all[name][member] = text
}

func (all declared) declaration(set *token.FileSet, d ast.Decl) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		name, member := d.Name.Name, ""
		if d.Recv != nil {
			name, member = strings.TrimPrefix(text(set, d.Recv.List[0].Type), "*"), "."+name
		}
		if ast.IsExported(name) && d.Name.IsExported() {
			all.add(name, member, text(set, d.Type))
		}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			all.spec(set, d.Tok, spec)
		}
	}
}

func (all declared) spec(set *token.FileSet, tok token.Token, spec ast.Spec) {
	switch spec := spec.(type) {
	case *ast.TypeSpec:
		if spec.Name.IsExported() {
			all.typeOf(set, spec)
		}
	case *ast.ValueSpec:
		for i, name := range spec.Names {
			if name.IsExported() {
				value := tok.String()
				if i < len(spec.Values) && tok == token.CONST {
					value += " " + text(set, spec.Values[i])
				}
				all.add(name.Name, "", value)
			}
		}
	}
}

// typeOf adds a type. Fields and methods are members with a text of their own, since adding one breaks no code.
func (all declared) typeOf(set *token.FileSet, spec *ast.TypeSpec) {
	name := spec.Name.Name
	members := func(kind string, list *ast.FieldList) {
		all.add(name, "", kind)
		for _, f := range list.List {
			for _, id := range f.Names {
				if id.IsExported() {
					all.add(name, "."+id.Name, text(set, f.Type))
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
		means := text(set, t)
		if spec.Assign.IsValid() {
			means = "= " + means
		}
		all.add(name, "", means)
	}
}

func text(set *token.FileSet, n ast.Node) string {
	var b bytes.Buffer
	_ = printer.Fprint(&b, set, n) // what was parsed can be printed
	return strings.Join(strings.Fields(b.String()), " ")
}
