package model

// Children calls f for each value directly in the body of d; if it is the value of a property, with the property. It does not follow
// the declarations that these values name.
func (d *Decl) Children(f func(*Value, *Prop)) {
	switch b := d.Body.(type) {
	case *Struct:
		b.Children(f)
	case *Defined:
		f(&b.Value, nil)
	case *Element:
		f(&b.Value, nil)
	case *Check:
		f(&b.Value, nil)
	}
}

// Children calls f for each value directly in v.
func (v *Value) Children(f func(*Value, *Prop)) {
	switch t := v.Type.(type) {
	case *Slice:
		f(&t.Elem, nil)
	case *Map:
		f(&t.Elem, nil)
	case *ByKind:
		for i := range t.Cases {
			f(&t.Cases[i].Value, nil)
		}
	case *ByIndex:
		for i := range t.Cases {
			f(&t.Cases[i], nil)
		}
		f(&t.Items, nil)
	case *Object:
		t.Struct.Children(f)
	}
}

// Children calls f for the values of the properties, then for that of additional properties, if any.
func (s *Struct) Children(f func(*Value, *Prop)) {
	for _, p := range s.Props {
		f(&p.Value, p)
	}
	if s.AdditionalValue.Type != nil {
		f(&s.AdditionalValue, nil)
	}
}

// Walk calls f for every value in d, from the outside in.
func (d *Decl) Walk(f func(*Value, *Prop)) {
	var visit func(*Value, *Prop)
	visit = func(v *Value, of *Prop) {
		f(v, of)
		v.Children(visit)
	}
	d.Children(visit)
}

// Encoders calls f for each declaration whose encoder is called by the encoder of d, and with nil for a Func that is nil.
func (d *Decl) Encoders(f func(*Decl)) {
	switch b := d.Body.(type) {
	case *Struct:
		f(b.Func)
	case *Union:
		for _, m := range b.Members {
			f(m.Decl)
		}
	}
	d.Walk(func(v *Value, _ *Prop) {
		switch t := v.Type.(type) {
		case Named:
			f(t.Decl)
		case *Slice:
			f(t.Func)
		case *Map:
			f(t.Func)
		}
	})
}
