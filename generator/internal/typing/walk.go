package typing

import "github.com/mcpkiln/mcpkiln/generator/internal/model"

// eachValue calls visit for every value of a declaration, from the outside in, without following other declarations.
// Values of properties are left to eachProp's visitor to judge, but what they contain is visited.
func eachValue(d *model.Decl, visit func(*model.Value)) {
	switch b := d.Body.(type) {
	case *model.Struct:
		structValues(b, visit)
	case *model.Defined:
		valueAndInner(&b.Value, visit)
	case *model.Element:
		valueAndInner(&b.Value, visit)
	case *model.Check:
		valueAndInner(&b.Value, visit)
	}
}

func structValues(s *model.Struct, visit func(*model.Value)) {
	for _, p := range s.Props {
		innerValues(&p.Value, visit)
	}
	if s.AdditionalValue.Type != nil {
		valueAndInner(&s.AdditionalValue, visit)
	}
}

// valueAndInner visits a value and what it contains.
func valueAndInner(v *model.Value, visit func(*model.Value)) {
	visit(v)
	innerValues(v, visit)
}

func innerValues(v *model.Value, visit func(*model.Value)) {
	switch t := v.Type.(type) {
	case *model.Slice:
		valueAndInner(&t.Elem, visit)
	case *model.Map:
		valueAndInner(&t.Elem, visit)
	case *model.ByKind:
		for i := range t.Cases {
			valueAndInner(&t.Cases[i].Value, visit)
		}
	case *model.ByIndex:
		for i := range t.Cases {
			valueAndInner(&t.Cases[i], visit)
		}
		valueAndInner(&t.Rest, visit)
	case *model.Object:
		structValues(t.Struct, visit)
	}
}

// eachProp calls visit for every property of a declaration.
func eachProp(d *model.Decl, visit func(*model.Prop)) {
	if s, ok := d.Body.(*model.Struct); ok {
		for _, p := range s.Props {
			visit(p)
		}
	}
	eachValue(d, func(v *model.Value) {
		if o, ok := v.Type.(*model.Object); ok {
			for _, p := range o.Struct.Props {
				visit(p)
			}
		}
	})
}
