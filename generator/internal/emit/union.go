package emit

import (
	"slices"
	"strconv"
	"strings"

	"github.com/mcpkiln/mcpkiln/generator/internal/model"
)

// readUnion writes
//
//	*v = check.Pick(d, &shape, func(d *check.Decoder, form int) Shape {
//		switch form {
//		case 0:
//			return check.New(d, decodeCircle)
//		default:
//			var v Label
//			decodeLabel(d, &v)
//			return check.Boxed(d, v)
//		}
//	})
func (s *source) readUnion(d *model.Decl, b *model.Union) {
	s.open("*v = check.Pick(d, &", d.Stem, ", func(d *check.Decoder, form int) ", d.Name, " {")
	s.forms(len(b.Members), func(i int) { s.readMember(b.Members[i]) })
	s.close("})")
}

// forms writes a case for each form.
func (s *source) forms(n int, write func(int)) {
	if n == 1 {
		write(0)
		return
	}
	s.open("switch form {")
	for i := range n {
		if i < n-1 {
			s.label("case ", decimalOf(i), ":")
		} else {
			s.label("default:")
		}
		write(i)
	}
	s.close("}")
}

// readMember writes the reading of a member: of a pointer, or of a value, which is allocated only when check.Boxed converts it to the interface.
func (s *source) readMember(m *model.UnionMember) {
	if m.Pointer {
		s.line("return check.New(d, ", m.Decl.Decode, ")")
		return
	}
	s.line("var v ", m.Decl.Name)
	s.line(m.Decl.Decode, "(d, &v)")
	s.line("return check.Boxed(d, v)")
}

// group writes
//
//	d.Group(&shapeAnyOf, checkShapeAnyOf1, checkShapeAnyOf2)
func (s *source) group(g *model.Group) {
	args := []string{"&" + g.Var}
	for _, b := range g.Branches {
		args = append(args, b.Decode)
	}
	s.line("d.", ifElse(g.Alone, "Choose", "Group"), "(", strings.Join(args, ", "), ")")
}

func (t *tables) union(d *model.Decl, b *model.Union) {
	forms := make([]model.Form, len(b.Members))
	for i, m := range b.Members {
		forms[i] = m.Form
	}
	switch r := b.Rule.(type) {
	case *model.ByTag:
		t.forms(d.Stem, r.At, r.Keyword, false, r.Key, "", forms)
	case *model.ByJSONKind:
		t.forms(d.Stem, r.At, r.Keyword, false, "", "", forms)
	case *model.Tried:
		t.forms(d.Stem, r.At, groupKeyword(r.One), r.One, r.Key, r.KindKey, forms)
	}
}

// forms adds the table of a union.
func (t *tables) forms(name, location, keyword string, one bool, key, kindKey string, forms []model.Form) {
	members := members(forms)
	all := make([]string, len(forms))
	for i := range forms {
		all[i] = form(&forms[i], members, one)
	}
	known := ""
	if len(members) > 0 {
		known = "Members: check.Object{" + list("Names", members) + "}"
	}
	t.add(name, "Union", at(location), text("Keyword", keyword), flag("One", one), text("Key", key), known, text("KindKey", kindKey),
		"Forms: []check.Form{"+strings.Join(all, ", ")+"}")
}

// members are the members of an object that any of the forms needs, sorted.
func members(forms []model.Form) []string {
	var all []string
	for i := range forms {
		all = append(all, forms[i].Needs...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// form is a row of a union's table. The titles are for messages of a oneOf.
func form(f *model.Form, members []string, one bool) string {
	var needs uint64
	var more []string
	for _, name := range f.Needs {
		if i, _ := slices.BinarySearch(members, name); i < 64 {
			needs |= 1 << i
		} else {
			more = append(more, decimalOf(i))
		}
	}
	var fields []string
	if one && f.Title != "" {
		fields = append(fields, text("Title", f.Title))
	}
	if f.Kinds != model.KindAny || f.Integer {
		fields = append(fields, "Kinds: "+kindRule(f.Kinds, f.Integer))
	}
	if needs != 0 {
		fields = append(fields, "Needs: 0b"+strconv.FormatUint(needs, 2))
	}
	if more != nil {
		fields = append(fields, exprs("More", "int", more))
	}
	if f.KeyKinds != 0 {
		fields = append(fields, "KeyKinds: "+kindRule(f.KeyKinds, false))
	}
	var texts, values []string
	for _, tag := range f.Tags {
		if tag.JSON {
			values = append(values, tag.Text)
		} else {
			texts = append(texts, tag.Text)
		}
	}
	for _, field := range []string{list("Tags", texts), list("JSON", values)} {
		if field != "" {
			fields = append(fields, field)
		}
	}
	return "{" + strings.Join(fields, ", ") + "}"
}
