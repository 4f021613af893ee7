package generator

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"slices"
	"strings"

	"golang.org/x/tools/txtar"

	"github.com/mcpkiln/mcpkiln/generator/internal/model"
	"github.com/mcpkiln/mcpkiln/schema/manifest"
)

// explanations has a file for each diagnostic code, generated from the goldens of manifests and schemas by go test -update.
//
//go:embed explanations.txtar
var explanations []byte

// Explanations says for each diagnostic code which rule is broken, with an example and what to write instead; and for each kind of
// change that Diff reports, what it means.
func Explanations() map[string]string {
	all := map[string]string{}
	for _, f := range txtar.Parse(explanations).Files {
		all[f.Name] = string(f.Data)
	}
	for _, r := range manifest.Changes {
		all[r.ID] = explainChange(r)
	}
	return all
}

func explainChange(r manifest.ChangeRule) string {
	text := r.Says + "\n\n    class: " + string(r.Class) + "\n    concerns: " + string(r.Axis) + "\n"
	if r.Do != "" {
		text += "\n" + r.Do + "\n"
	}
	return text + "\nIn the manifest, another class for it:\n\n    diff: {classes: {" + r.ID + ": " + string(otherClass(r.Class)) + "}}\n"
}

// otherClass is a class other than c, for the example.
func otherClass(c manifest.Class) manifest.Class {
	if c == manifest.Compatible {
		return manifest.Breaking
	}
	return manifest.Compatible
}

// Explain describes what is generated for a tool: its method and types in Go, its policies, what each revision's clients see, and the files that
// mention it. ok is false if there is no such tool.
func (r *Result) Explain(tool string) (text string, ok bool) {
	i := slices.IndexFunc(r.pkg.Tools, func(t *model.Tool) bool { return t.Name == tool })
	if i < 0 {
		return "", false
	}
	t := r.pkg.Tools[i]
	var b strings.Builder
	code, files := r.declarations(t)
	fmt.Fprintf(&b, "%s is %s of Handlers in package %s.\n\nIn Go:\n\n%s\n", t.Name, t.GoName, r.Package, indent(code))
	b.WriteString("How it runs, and its limits:\n\n")
	for _, sentence := range t.Policy {
		fmt.Fprintf(&b, "    %s\n", sentence)
	}
	b.WriteString("\nOn the wire, where tools/call runs it:\n\n")
	for _, w := range r.pkg.Wires {
		fmt.Fprintf(&b, "    %s: %s\n", w.Revision, manner(t, w))
	}
	for _, w := range r.pkg.Wires {
		if shown := definition(t, w); !strings.Contains(b.String(), shown) {
			fmt.Fprintf(&b, "\nIn tools/list of %s:\n\n%s", strings.Join(r.listedAs(t, shown), ", "), shown)
		}
	}
	fmt.Fprintf(&b, "\nFiles of %s:\n\n%s", r.Out, indent(strings.Join(files, "\n")))
	return b.String(), true
}

// manner says how the clients of a revision call a tool.
func manner(t *model.Tool, w *model.Wire) string {
	how := "each request for itself"
	if w.Handshake {
		how = "in a session"
	}
	switch {
	case t.Task.Support == model.TaskForbidden:
		how += ", inline"
	case w.Task == nil:
		how += ", inline: the revision has no tasks"
	case t.Task.Support == model.TaskRequired:
		how += ", as a task"
	case w.Handshake:
		how += ", inline, or as a task if the client asks for one"
	default:
		how += ", inline, or as a task if the client knows tasks"
	}
	return how
}

// listedAs are the revisions in which a tool has this definition.
func (r *Result) listedAs(t *model.Tool, shown string) (all []string) {
	for _, w := range r.pkg.Wires {
		if definition(t, w) == shown {
			all = append(all, w.Revision)
		}
	}
	return all
}

// definition is what tools/list shows of a tool, indented.
func definition(t *model.Tool, w *model.Wire) string {
	var b bytes.Buffer
	_ = json.Indent(&b, []byte(listed(t, w)), "    ", "  ") // no error: package lower made the JSON
	return "    " + b.String() + "\n"
}

// declarations are the method of a tool and its types as they are generated, and the files that name any of them.
func (r *Result) declarations(t *model.Tool) (code string, files []string) {
	wanted := []string{t.Input.Name, t.Call}
	if t.Output != nil {
		wanted = append(wanted, t.Output.Name)
	}
	var method, types bytes.Buffer
	for _, f := range r.Files {
		if !strings.HasSuffix(f.Path, ".go") {
			continue
		}
		set := token.NewFileSet()
		parsed, err := parser.ParseFile(set, f.Path, f.Content, parser.ParseComments)
		if err != nil {
			continue // the tests compile what is generated
		}
		named := false
		ast.Inspect(parsed, func(n ast.Node) bool {
			id, ok := n.(*ast.Ident)
			named = named || ok && (id.Name == t.GoName || slices.Contains(wanted, id.Name))
			return true
		})
		if named {
			files = append(files, f.Path)
		}
		for _, d := range parsed.Decls {
			gen, ok := d.(*ast.GenDecl)
			if !ok || gen.Tok != token.TYPE {
				continue
			}
			for _, spec := range gen.Specs {
				spec := spec.(*ast.TypeSpec)
				if spec.Name.Name == "Handlers" && f.Path == "handlers.gen.go" {
					writeMethod(&method, set, spec, t.GoName)
				}
				if slices.Contains(wanted, spec.Name.Name) && !spec.Assign.IsValid() {
					writeNode(&types, set, gen)
				}
			}
		}
	}
	return method.String() + types.String(), files
}

// writeMethod writes one method of an interface without its comment, which Explain shows in sections of its own.
func writeMethod(b *bytes.Buffer, set *token.FileSet, spec *ast.TypeSpec, name string) {
	methods, ok := spec.Type.(*ast.InterfaceType)
	if !ok {
		return
	}
	for _, m := range methods.Methods.List {
		if len(m.Names) != 1 || m.Names[0].Name != name {
			continue
		}
		b.WriteString(name)
		var signature bytes.Buffer
		_ = format.Node(&signature, set, m.Type) // what was parsed can be printed
		b.WriteString(strings.TrimPrefix(signature.String(), "func") + "\n\n")
	}
}

func writeNode(b *bytes.Buffer, set *token.FileSet, d *ast.GenDecl) {
	for _, line := range d.Doc.List {
		b.WriteString(line.Text + "\n")
	}
	doc := d.Doc
	d.Doc = nil
	_ = format.Node(b, set, d) // what was parsed can be printed
	d.Doc = doc
	b.WriteString("\n\n")
}

func indent(text string) string {
	var b strings.Builder
	for line := range strings.Lines(strings.TrimRight(text, "\n") + "\n") {
		if strings.TrimSpace(line) != "" {
			b.WriteString("    ")
		}
		b.WriteString(line)
	}
	return b.String()
}
