package lower

import (
	"fmt"
	"hash/fnv"
	"path"

	"github.com/mcpkiln/mcpkiln/generator/internal/model"
	"github.com/mcpkiln/mcpkiln/generator/internal/typing"
)

// parts is how many packages the tools of a large package are divided over: enough that a changed tool builds quickly, few
// enough that the packages themselves cost little. It is constant, so that tools never move.
const parts = 16

// sharedName is the package of the declarations that several parts use.
const sharedName = "shared"

func partName(i int) string { return fmt.Sprintf("part%02d", i) }

// Folders are the folders that may be below an output directory: of the parts, or of the types of a client.
func Folders() []string {
	all := []string{folder(sharedName), SchemaName}
	for i := range parts {
		all = append(all, folder(partName(i)))
	}
	return all
}

func folder(name string) string { return "internal/" + name }

// partOf is the part of a tool. It follows from the name alone, so that adding or removing a tool moves no other.
func partOf(tool string) int {
	h := fnv.New32a()
	h.Write([]byte(tool))
	return int(h.Sum32() % parts)
}

// reserveParts takes the names of the packages, which are identifiers where one imports another, and the identifiers Tools, which each part declares,
// and order, which the generated package declares (emit/part.go).
func (l *packageLowering) reserveParts() {
	for _, name := range []string{sharedName, "Tools", "order"} {
		l.types.Names.Take(name)
	}
	for i := range parts {
		l.types.Names.Take(partName(i))
	}
}

// split divides the tools over parts, and moves each declaration to the part that uses it, or to the shared package if several
// use it.
func (l *packageLowering) split() {
	l.pkg.Path = l.in.Path
	d := &division{packageOf: map[*model.Decl]*model.Package{}}
	d.shared = l.below(sharedName)
	byNumber := make([]*model.Package, parts)
	for _, t := range l.pkg.Tools {
		i := partOf(t.Name)
		if byNumber[i] == nil {
			byNumber[i] = l.below(partName(i))
		}
		part := byNumber[i]
		part.Tools = append(part.Tools, t)
		part.Needs.Questions = part.Needs.Questions || t.Call != ""
		for _, ref := range l.references(t) {
			d.claim(ref.Decl, part)
		}
	}
	for _, part := range byNumber {
		if part != nil {
			l.pkg.Parts = append(l.pkg.Parts, part)
		}
	}
	l.assignDecls(d)
}

// below makes a package below the generated one.
func (l *packageLowering) below(name string) *model.Package {
	dir := folder(name)
	return &model.Package{Name: name, Dir: dir, Path: path.Join(l.in.Path, dir), Manifest: l.pkg.Manifest, Revisions: l.pkg.Revisions,
		Result: l.pkg.Result}
}

// assignDecls assigns the declarations to packages. The tools of all parts have claimed theirs before.
func (l *packageLowering) assignDecls(d *division) {
	references := l.referencesOfPackage()
	for _, ref := range references {
		d.claim(ref.Decl, d.shared)
	}
	for d.unite(l.pkg.Decls) { // sharing a union shares its members, which may be members of other unions
	}
	uses := newSharedUses(d)
	for _, decl := range l.pkg.Decls {
		home := d.packageOf[decl]
		if home == nil {
			home = d.packageOf[decl.Origin()]
		}
		if home == nil {
			home = d.shared
		}
		home.Decls = append(home.Decls, decl)
		typing.Needed(decl, decl.Use, uses.by(home))
	}
	for _, part := range l.pkg.Parts {
		for _, t := range part.Tools {
			for _, ref := range l.references(t) {
				uses.by(part)(ref.Decl, ref.Use)
			}
		}
	}
	for _, ref := range references {
		uses.by(l.pkg)(ref.Decl, ref.Use)
	}
	d.shared.Views = l.pkg.Views
	l.pkg.Shared, l.pkg.Views = d.shared, nil
	for _, part := range l.pkg.Parts {
		part.Shared = d.shared
	}
	uses.record(l)
}

// references are the declarations that the code of a tool refers to, with the functions that it calls.
func (l *packageLowering) references(t *model.Tool) []model.Reference {
	all := []model.Reference{{Decl: t.Input.Decl, Use: model.Decode}}
	if t.Output != nil {
		all = append(all, model.Reference{Decl: t.Output.Decl, Use: model.Decode | model.Encode})
	}
	for _, q := range t.Questions {
		all = append(all, model.Reference{Decl: q.Answer.Decl, Use: model.Decode})
	}
	if t.Output == nil {
		all = append(all, model.Reference{Decl: l.pkg.Result.Decl, Use: model.Encode})
	}
	return all
}

// referencesOfPackage are the declarations to which everything but the tools refers: the messages of requests beside tools, and the protocol's own
// result. A message that is sent and that the manifest defines is also decoded, which validates it; one of the protocol
// has the validator of its view.
func (l *packageLowering) referencesOfPackage() []model.Reference {
	var all []model.Reference
	add := func(use model.Use, d *model.Decl) {
		if d != nil {
			all = append(all, model.Reference{Decl: d, Use: use})
		}
	}
	if l.pkg.Result != nil {
		add(0, l.pkg.Result.Decl)
		for _, w := range l.pkg.Wires {
			add(model.Decode, w.CheckResult)
			add(model.Encode, l.view(w.AppendResult))
		}
	}
	for _, p := range l.pkg.Prompts {
		add(model.Decode, p.Input.Decl)
	}
	for _, r := range l.pkg.Templates {
		add(model.Decode, r.Input.Decl)
	}
	for _, h := range l.pkg.Entries { // the methods of Handlers for them
		for _, q := range h.Questions {
			add(model.Decode, q.Answer.Decl)
		}
	}
	for _, m := range l.pkg.Methods {
		add(model.Decode, m.Params.Decl)
		add(model.Encode, m.Result.Decl)
		if m.Custom {
			add(model.Decode, m.Result.Decl)
		}
		l.addViews(m.Views, add)
	}
	for _, s := range l.pkg.Sends {
		add(model.Encode, s.Params.Decl)
		if s.Extension != "" {
			add(model.Decode, s.Params.Decl)
		}
		add(model.Decode, s.Result.Decl)
		l.addViews(s.Views, add)
	}
	for _, n := range l.pkg.NoticesTaken {
		add(model.Decode, n.Params.Decl)
	}
	for _, n := range l.pkg.NoticesSent {
		add(model.Decode|model.Encode, n.Params.Decl)
	}
	return all
}

// addViews calls add for the validators and encoders of views.
func (l *packageLowering) addViews(views []model.View, add func(model.Use, *model.Decl)) {
	for _, v := range views {
		add(model.Decode, v.Check)
		add(model.Encode, l.view(v.Append))
	}
}

// view is the declaration in Views whose encoder has that name, nil for none.
func (l *packageLowering) view(name string) *model.Decl {
	for _, d := range l.pkg.Views {
		if d.Append == name {
			return d
		}
	}
	return nil
}
