package lower

import "github.com/mcpkiln/mcpkiln/generator/internal/model"

// use marks which functions of d and of everything below it are called. Validators are only ever read with.
func use(d *model.Decl, u model.Use) {
	if d == nil || d.Use&u == u {
		return
	}
	d.Use |= u
	for _, a := range d.Checks {
		useAssertion(a)
	}
	switch b := d.Body.(type) {
	case *model.Struct:
		useStruct(b, u)
	case *model.Union:
		for _, m := range b.Members {
			use(m.Decl, u)
		}
	case *model.Defined:
		useValue(&b.Value, u)
	case *model.Element:
		useValue(&b.Value, u)
	case *model.Check:
		useValue(&b.Value, model.Decode)
	case model.Condition:
		for _, called := range b.Calls() {
			use(called, model.Decode)
		}
	}
}

func useStruct(s *model.Struct, u model.Use) {
	for _, p := range s.Props {
		if p.Name == "" {
			useValue(&p.Value, u&model.Decode)
			continue
		}
		useValue(&p.Value, u)
	}
	useValue(&s.Extra, u)
	use(s.Func, u)
}

func useValue(v *model.Value, u model.Use) {
	if u == 0 || v.Type == nil {
		return
	}
	for _, a := range v.Checks {
		useAssertion(a)
	}
	switch t := v.Type.(type) {
	case *model.Slice:
		useValue(&t.Elem, u)
		use(t.Func, u)
	case *model.Map:
		useValue(&t.Elem, u)
		use(t.Func, u)
	case model.Named:
		if _, ok := t.Decl.Body.(*model.Enum); ok {
			t.Decl.Use |= tableIf(u)
			return
		}
		use(t.Decl, u)
	case *model.ByKind:
		for i := range t.Cases {
			useValue(&t.Cases[i].Value, u)
		}
	case *model.ByIndex:
		for i := range t.Cases {
			useValue(&t.Cases[i], u)
		}
		useValue(&t.Rest, u)
	case *model.Object:
		useStruct(t.Struct, u)
	}
}

func useAssertion(a model.Assertion) {
	switch a := a.(type) {
	case *model.Also:
		use(a.Decl, model.Decode)
	case *model.Group:
		for _, b := range a.Branches {
			use(b, model.Decode)
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
