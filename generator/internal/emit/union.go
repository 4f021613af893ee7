package emit

import "github.com/mcpkiln/mcpkiln/generator/internal/model"

func (s *source) readUnion(d *model.Decl, b *model.Union) {
	switch rule := b.Rule.(type) {
	case *model.ByTag:
		s.open("switch d.Tag(&", d.Stem, ") {")
		s.taggedMembers(b)
		s.close("}")
	case *model.ByKindOf:
		s.open("switch d.Kind(&", d.Stem, ") {")
		for _, m := range b.Members {
			s.label("case ", kindNames(m.Kind), ":")
			s.readMember(m)
		}
		s.close("}")
	case *model.Tried:
		s.tryMembers(d, b, rule)
	}
}

// taggedMembers writes a case for each member. The table has one row for each value of the discriminator.
//
//	case 0:
//		*v = check.New(d, decodeCircle)
func (s *source) taggedMembers(b *model.Union) {
	tag := 0
	for _, m := range b.Members {
		label := ""
		for range m.Tags {
			if label != "" {
				label += ", "
			}
			label += decimalOf(tag)
			tag++
		}
		s.label("case ", label, ":")
		s.readMember(m)
	}
}

func (s *source) readMember(m *model.UnionMember) {
	if m.Pointer {
		s.line("*v = check.New(d, ", m.Decl.Decode, ")")
	} else {
		s.line("*v = *check.New(d, ", m.Decl.Decode, ")")
	}
}

// tryMembers writes
//
//	t := d.OneOf(&target)
//	if u, ok := check.Try(&t, decodeLine); ok {
//		*v = u
//	}
//	t.End()
func (s *source) tryMembers(d *model.Decl, b *model.Union, rule *model.Tried) {
	method := "AnyOf"
	if rule.One {
		method = "OneOf"
	}
	s.line("t := d.", method, "(&", d.Stem, ")")
	for _, m := range b.Members {
		s.open("if u, ok := check.Try(&t, ", m.Decl.Decode, "); ok {")
		if m.Pointer {
			s.line("*v = u")
		} else {
			s.line("*v = *u")
		}
		s.close("}")
	}
	s.line("t.End()")
}
