package lower

import (
	"path"
	"slices"

	"github.com/mcpkiln/mcpkiln/generator/internal/model"
	"github.com/mcpkiln/mcpkiln/generator/internal/typing"
	"github.com/mcpkiln/mcpkiln/schema/manifest"
)

// SchemaName is the package of the types that server and client share. It is below the client's, since that is what others import.
const SchemaName = "schema"

// refuseResumeClashes refuses a tool whose method in the client would have the name of the method that resumes a task of another tool. tools are
// all tools by their Go names.
func (l *packageLowering) refuseResumeClashes(tools map[string]*manifest.Tool) {
	if l.in.Client.Name == "" {
		return
	}
	for name, t := range tools {
		if other := tools["Resume"+name]; t.Execution.Tasks() && other != nil {
			l.diags.ReportAt(other.Pos, other.Node.Pointer, "same-go-name", "give it a goName",
				"tool %q would be Resume%s in Go, the method of a client that follows tasks of %q (%s)", other.Name, name, t.Name, t.Pos)
		}
	}
}

// input lowers the input of a tool: a server receives it, a client checks and sends it.
func (l *packageLowering) input(r typing.Root) model.TypeRef {
	if l.in.Client.Name == "" {
		r.Use = model.Decode
		return l.types.Lower(r)
	}
	r.Use = model.Decode | model.Encode
	return l.lowerSent(r, !l.in.Client.Alone)
}

// output lowers the output of a tool: a server checks and sends it, a client receives it.
func (l *packageLowering) output(r typing.Root) model.TypeRef {
	r.Use = model.Decode
	if l.in.Client.Alone {
		return l.types.Lower(r)
	}
	r.Use |= model.Encode
	return l.lowerSent(r, l.in.Client.Name != "")
}

// lowerSent lowers a type that the generated packages send; received says that one of them also receives it.
func (l *packageLowering) lowerSent(r typing.Root, received bool) model.TypeRef {
	r.Sent = true
	ref := l.types.Lower(r)
	if received {
		r.Sent = false
		l.types.Lower(r) // the same type
	}
	return ref
}

// separate moves the types to a package of their own, which server and client import.
func (l *packageLowering) separate() {
	c := &model.Package{Name: l.in.Client.Name, Path: l.in.Client.Path, Manifest: l.pkg.Manifest, Revisions: l.pkg.Revisions, Server: l.pkg.Server, Tools: l.pkg.Tools}
	shared := &model.Package{Name: SchemaName, Dir: SchemaName, Path: path.Join(c.Path, SchemaName), Manifest: c.Manifest, Revisions: c.Revisions,
		Server: c.Server, Decls: l.pkg.Decls, Views: l.pkg.Views}
	borrowed := l.referencesOfPackage()
	l.pkg.Views, l.pkg.Client = nil, c
	l.pkg.Shared, c.Shared = shared, shared
	c.Decls = l.aliased(c)
	l.lend(borrowed)
	l.pkg.Exported = export(shared)
	c.Exported = l.pkg.Exported
}

// lend finds which functions of the types client and server use. borrowed are those that the server uses for other things than tools.
func (l *packageLowering) lend(borrowed []model.Reference) {
	c, shared := l.pkg.Client, l.pkg.Shared
	d := &division{shared: shared, packageOf: map[*model.Decl]*model.Package{}}
	for _, decl := range slices.Concat(shared.Decls, shared.Views) {
		d.packageOf[decl] = shared
	}
	uses := newSharedUses(d)
	for _, decl := range shared.Decls {
		typing.Needed(decl, decl.Use, uses.by(shared))
	}
	for _, t := range l.pkg.Tools {
		for _, ref := range l.calls(t) {
			uses.by(c)(ref.Decl, ref.Use)
		}
		if l.in.Client.Alone {
			continue
		}
		for _, ref := range l.references(t) {
			uses.by(l.pkg)(ref.Decl, ref.Use)
		}
	}
	for _, ref := range borrowed {
		uses.by(l.pkg)(ref.Decl, ref.Use)
	}
	uses.record(l)
	l.pkg.Uses, c.Uses = nil, nil // client and server need no wrappers: they call the exported functions
}

// export gives the functions that a package lends their exported names. It returns the exported names by the names that the functions had.
func export(shared *model.Package) map[string]string {
	names := map[string]string{}
	for _, ref := range shared.Lends {
		d := ref.Decl
		if d.LentDecode != "" {
			names[d.Decode], names[d.LentDecode] = d.LentDecode, d.LentDecode
			d.Decode = d.LentDecode
		}
		if d.LentAppend != "" {
			names[d.Append] = d.LentAppend
			d.Append = d.LentAppend
		}
	}
	shared.Lends = nil
	return names
}

// calls are the declarations that a client's code for a tool refers to, with the functions that it calls.
func (l *packageLowering) calls(t *model.Tool) []model.Reference {
	all := []model.Reference{{Decl: t.Input.Decl, Use: model.Decode | model.Encode}}
	if t.Output != nil {
		all = append(all, model.Reference{Decl: t.Output.Decl, Use: model.Decode})
	}
	return all
}

// aliased are the types that a client has aliases of: those of its tools, and all types in them.
func (l *packageLowering) aliased(c *model.Package) []*model.Decl {
	reached := map[*model.Decl]bool{}
	var reach func(*model.Decl, model.Use)
	reach = func(d *model.Decl, _ model.Use) {
		if d != nil && !reached[d] {
			reached[d] = true
			typing.Needed(d.Origin(), model.Decode|model.Encode, reach)
		}
	}
	for _, t := range c.Tools {
		for _, ref := range l.calls(t) {
			reach(ref.Decl, 0)
		}
	}
	return slices.DeleteFunc(slices.Clone(l.pkg.Decls), func(d *model.Decl) bool { return !reached[d] })
}
