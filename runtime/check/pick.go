package check

// Pick takes the value as the form of u that fits. read takes the value as the form with that index; it may be called for several forms.
//
//	*v = check.Pick(d, &shape, func(d *check.Decoder, form int) Shape {
//		switch form {
//		case 0:
//			return check.New(d, decodeCircle)
//		default:
//			var v Label // a string
//			decodeLabel(d, &v)
//			return check.Boxed(d, v)
//		}
//	})
func Pick[T any](d *Decoder, u *Union, read func(d *Decoder, form int) T) (v T) {
	kind := kindOf(d.peek())
	only, likely := d.look(u, kind)
	if only >= 0 {
		most := d.listFew(u)
		v = read(d, only)
		d.most = most
		return v
	}
	if likely != 0 {
		if v, ok := attempt(d, u, kind, likely, read); ok {
			return v
		}
	}
	return try(d, u, kind, read)
}

// try is Pick by a trial.
func try[T any](d *Decoder, u *Union, kind Kind, read func(d *Decoder, form int) T) (v T) {
	var t trial
	for keep, more := false, t.begin(d, u, kind, true); more; {
		read := read(d, t.form)
		if keep, more = t.done(); keep {
			v = read
		}
	}
	return v
}

// Boxed counts what an interface allocates to hold v, and returns v.
func Boxed[T any](d *Decoder, v T) T {
	d.countMemory(sizeOf[T]())
	return v
}

// Choose is Pick where only validation is needed. checks are the validators of the forms.
func (d *Decoder) Choose(u *Union, checks ...func(*Decoder)) {
	Pick(d, u, func(d *Decoder, form int) (none struct{}) {
		checks[form](d)
		return none
	})
}

// Group validates the value against the forms of u and goes back to the value's beginning.
func (d *Decoder) Group(u *Union, checks ...func(*Decoder)) {
	var t trial
	more := t.begin(d, u, kindOf(d.peek()), false)
	d.lookaheads++
	t.state.lookaheads = d.lookaheads // restored before each form
	for ; more; _, more = t.done() {
		checks[t.form](d)
	}
	d.lookaheads--
	d.rewind(t.start)
}
