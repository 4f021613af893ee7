package lower

import (
	"strings"

	"github.com/mcpkiln/mcpkiln/generator/internal/model"
	"github.com/mcpkiln/mcpkiln/generator/internal/typing"
)

// division says in which package each declaration is.
type division struct {
	shared    *model.Package
	packageOf map[*model.Decl]*model.Package
}

// claim records that the code of a package refers to decl. A declaration that two packages refer to is shared, with all that it refers to.
func (d *division) claim(decl *model.Decl, by *model.Package) {
	if decl == nil {
		return
	}
	switch d.packageOf[decl] {
	case by, d.shared:
		return
	case nil:
	default:
		by = d.shared
	}
	d.packageOf[decl] = by
	typing.Needed(decl, model.Decode|model.Encode, func(n *model.Decl, _ model.Use) { d.claim(n, by) })
}

// unite moves the unions that have a shared member to the shared package, since a member's method must be declared beside its type. It reports whether
// there was such a union.
func (d *division) unite(decls []*model.Decl) bool {
	moved := false
	for _, decl := range decls {
		union, ok := decl.Body.(*model.Union)
		if !ok || d.packageOf[decl] == d.shared {
			continue
		}
		for _, m := range union.Members {
			if d.packageOf[m.Decl.Origin()] == d.shared {
				d.claim(decl, d.shared)
				moved = true
				break
			}
		}
	}
	return moved
}

// sharedUses collects which declarations of the shared package each package uses.
type sharedUses struct {
	division *division
	of       map[*model.Package]map[*model.Decl]model.Use
}

func newSharedUses(d *division) *sharedUses {
	return &sharedUses{d, map[*model.Package]map[*model.Decl]model.Use{}}
}

// by returns a function that records the use of a shared declaration by a package.
func (l *sharedUses) by(user *model.Package) func(*model.Decl, model.Use) {
	if l.of[user] == nil {
		l.of[user] = map[*model.Decl]model.Use{}
	}
	return func(d *model.Decl, u model.Use) {
		if d == nil || l.division.packageOf[d] != l.division.shared {
			return
		}
		if d.Same != nil {
			l.of[user][d] |= 0 // records that the name of the alias is used, and no function
			d = d.Same
		}
		l.of[user][d] |= u
	}
}

// record stores the uses in the packages that have them, in the order of the declarations, and names the functions that are lent.
func (l *sharedUses) record(p *packageLowering) {
	lent := map[*model.Decl]model.Use{}
	decls := append(p.pkg.Decls[:len(p.pkg.Decls):len(p.pkg.Decls)], l.division.shared.Views...)
	own := l.of[l.division.shared]
	delete(l.of, l.division.shared)
	for user, uses := range l.of {
		for _, d := range decls {
			if u, ok := uses[d]; ok {
				user.Uses = append(user.Uses, model.Reference{Decl: d, Use: u})
				lent[d] |= u
			}
		}
	}
	for _, d := range decls {
		if l.division.packageOf[d] == l.division.shared && own[d]&model.Table == 0 {
			d.Use &^= model.Table // each part that reads such an enum declares the table itself
		}
		if u := lent[d] &^ model.Table; u != 0 {
			d.LentDecode, d.LentAppend = p.lentName(d.Decode, u&model.Decode), p.lentName(d.Append, u&model.Encode)
			l.division.shared.Lends = append(l.division.shared.Lends, model.Reference{Decl: d, Use: u})
		}
	}
}

// lentName is the exported name of a function, for the packages that use it.
func (l *packageLowering) lentName(name string, use model.Use) string {
	if use == 0 {
		return ""
	}
	return l.types.Names.Take(strings.ToUpper(name[:1]) + name[1:])
}
