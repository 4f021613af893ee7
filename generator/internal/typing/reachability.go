package typing

import "github.com/mcpkiln/mcpkiln/generator/internal/model"

// use marks which functions of d and of everything below it are called. A validator has only a Decode.
func use(d *model.Decl, u model.Use) {
	if d == nil || d.Use&u == u {
		return
	}
	d.Use |= u
	Needed(d, u, use)
}

// Needed calls f for each declaration that the functions u of d refer to, with the functions of it that they call: none if
// they only name its type. f gets nil where there is no function: in validators, and where the runtime reads or writes the value.
func Needed(d *model.Decl, u model.Use, f func(*model.Decl, model.Use)) {
	if d.Same != nil {
		f(d.Same, u)
		return
	}
	if u&^model.Table == 0 {
		return
	}
	m := neededVisitor{f}
	m.assertions(d.Checks)
	switch b := d.Body.(type) {
	case *model.Struct:
		b.Children(m.with(u))
		f(b.Func, u)
	case *model.Union:
		for _, member := range b.Members {
			f(member.Decl, u)
		}
	case *model.Defined:
		m.value(&b.Value, u)
	case *model.Element: // an element whose type has no name
		m.value(&b.Value, u)
	case *model.Check:
		m.value(&b.Value, model.Decode)
	case model.Condition:
		for _, called := range b.Calls() {
			f(called, model.Decode)
		}
	}
}

// neededVisitor calls f for the declarations that another one needs.
type neededVisitor struct{ f func(*model.Decl, model.Use) }

// with returns a visitor for values whose functions u are called. A property without a field has a validator at most.
func (n neededVisitor) with(u model.Use) func(*model.Value, *model.Prop) {
	return func(v *model.Value, of *model.Prop) {
		if of != nil && of.Name == "" {
			n.value(v, u&model.Decode)
			return
		}
		n.value(v, u)
		if of != nil && u&model.Decode != 0 {
			n.literal(of.Default)
		}
	}
}

func (n neededVisitor) value(v *model.Value, u model.Use) {
	if u == 0 || v.Type == nil {
		return
	}
	n.assertions(v.Checks)
	v.Children(n.with(u))
	switch t := v.Type.(type) {
	case *model.Slice:
		n.f(t.Func, u)
	case *model.Map:
		n.f(t.Func, u)
	case *model.Object:
		n.f(t.Struct.Func, u)
	case model.Named:
		if _, ok := t.Decl.Body.(*model.Enum); ok {
			n.f(t.Decl, tableIf(u))
			return
		}
		n.f(t.Decl, u)
	}
}

// literal visits the types in a default, which may be members of a union.
func (n neededVisitor) literal(l model.Literal) {
	switch l := l.(type) {
	case model.NullLiteral:
		n.named(&l.Of)
	case *model.Stored:
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

// named visits the declared types in the Go type of v.
func (n neededVisitor) named(v *model.Value) {
	if t, ok := v.Type.(model.Named); ok {
		n.f(t.Decl, 0)
	}
	v.Children(func(inner *model.Value, _ *model.Prop) { n.named(inner) })
}

// assertions visits validators. They count as decoded even below what is only encoded.
func (n neededVisitor) assertions(all []model.Assertion) {
	for _, a := range all {
		switch a := a.(type) {
		case *model.Conjunct:
			n.f(a.Decl, model.Decode)
		case *model.Group:
			for _, b := range a.Branches {
				n.f(b, model.Decode)
			}
		}
	}
}

// tableIf is Table if an enum is decoded: its caller reads it with the table. Encoding needs none.
func tableIf(u model.Use) model.Use {
	if u&model.Decode != 0 {
		return model.Table
	}
	return 0
}
