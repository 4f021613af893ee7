package typing

import "github.com/mcpkiln/mcpkiln/generator/internal/model"

// use marks which functions of d and of everything below it are called. Validators are only ever read with.
func use(d *model.Decl, u model.Use) {
	if d == nil || d.Use&u == u {
		return
	}
	d.Use |= u
	Needed(d, u, use)
}

// Needed calls f for each declaration that the functions u of d name, with what they call of it: nothing, where they name a
// type alone.
func Needed(d *model.Decl, u model.Use, f func(*model.Decl, model.Use)) {
	if d.Same != nil {
		f(d.Same, u)
		return
	}
	if u&^model.Table == 0 {
		return
	}
	m := mentions{f}
	m.assertions(d.Checks)
	switch b := d.Body.(type) {
	case *model.Struct:
		m.properties(b, u)
	case *model.Union:
		for _, member := range b.Members {
			f(member.Decl, u)
		}
	case *model.Defined:
		m.value(&b.Value, u)
	case *model.Element:
		m.value(&b.Value, u)
	case *model.Check:
		m.value(&b.Value, model.Decode)
	case model.Condition:
		for _, called := range b.Calls() {
			f(called, model.Decode)
		}
	}
}

// mentions tells f what a declaration needs.
type mentions struct{ f func(*model.Decl, model.Use) }

func (n mentions) properties(s *model.Struct, u model.Use) {
	for _, p := range s.Props {
		if p.Name == "" {
			n.value(&p.Value, u&model.Decode)
			continue
		}
		n.value(&p.Value, u)
		if u&model.Decode != 0 {
			n.literal(p.Default)
		}
	}
	n.value(&s.AdditionalValue, u)
	n.f(s.Func, u)
}

func (n mentions) value(v *model.Value, u model.Use) {
	if u == 0 || v.Type == nil {
		return
	}
	n.assertions(v.Checks)
	switch t := v.Type.(type) {
	case *model.Slice:
		n.value(&t.Elem, u)
		n.f(t.Func, u)
	case *model.Map:
		n.value(&t.Elem, u)
		n.f(t.Func, u)
	case model.Named:
		if _, ok := t.Decl.Body.(*model.Enum); ok {
			n.f(t.Decl, tableIf(u))
			return
		}
		n.f(t.Decl, u)
	case *model.ByKind:
		for i := range t.Cases {
			n.value(&t.Cases[i].Value, u)
		}
	case *model.ByIndex:
		for i := range t.Cases {
			n.value(&t.Cases[i], u)
		}
		n.value(&t.Rest, u)
	case *model.Object:
		n.properties(t.Struct, u)
	}
}

// literal tells of the types that a default names, which may be those of a union's members.
func (n mentions) literal(l model.Literal) {
	switch l := l.(type) {
	case model.NullLiteral:
		n.named(&l.Of)
	case *model.Held:
		n.named(&l.Of)
		n.literal(l.Value)
	case *model.Convert:
		n.f(l.To, 0)
		n.literal(l.Value)
	case *model.Composite:
		n.named(&l.Of)
		for _, e := range l.Entries {
			n.literal(e.Value)
		}
	}
}

// named tells of the declared types in the Go type of v.
func (n mentions) named(v *model.Value) {
	switch t := v.Type.(type) {
	case *model.Slice:
		n.named(&t.Elem)
	case *model.Map:
		n.named(&t.Elem)
	case model.Named:
		n.f(t.Decl, 0)
	}
}

func (n mentions) assertions(all []model.Assertion) {
	for _, a := range all {
		switch a := a.(type) {
		case *model.Also:
			n.f(a.Decl, model.Decode)
		case *model.Group:
			for _, b := range a.Branches {
				n.f(b, model.Decode)
			}
		}
	}
}

// tableIf is Table for who decodes an enum in place; writing one needs no table.
func tableIf(u model.Use) model.Use {
	if u&model.Decode != 0 {
		return model.Table
	}
	return 0
}
