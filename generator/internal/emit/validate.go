package emit

import (
	"go/token"

	"github.com/mcpkiln/mcpkiln/generator/internal/model"
)

// ValidateFile returns validate.gen.go: decoders, encoders, rule tables and methods of decls.
func ValidateFile(header, pkg string, decls []*model.Decl) []byte {
	s := sized(len(decls) * 1024)
	for _, d := range decls {
		if d.Use == 0 || d.Same != nil {
			continue
		}
		if d.Use&(model.Decode|model.Table) != 0 {
			s.ruleTables(d)
		}
		if d.Use&model.Decode != 0 {
			s.decoder(d)
		}
		if d.Use&model.Encode != 0 {
			s.encoder(d)
		}
		s.jsonMethods(d)
	}
	return s.file(header, pkg)
}

// decoder writes the function that validates and reads d.
//
//	func decodeSide(d *check.Decoder, v *Side) {
//		*v = Side(d.Enum(&side))
//	}
//
// and for a schema that may be read more than once at one place, as a condition or a record of the members and items that were evaluated,
//
//	d.Once(&sideOnce, func(d *check.Decoder) { … })
//
//	if !e.Again(&sideOnce) { … }
func (s *source) decoder(d *model.Decl) {
	s.line()
	switch {
	case token.IsExported(d.Decode) && d.Name != "":
		s.comment(d.Decode + " reads a " + d.Name + " and checks it.")
	case token.IsExported(d.Decode):
		s.comment(d.Decode + " checks a value.")
	}
	fills := s.parameter(d)
	if fills != "" {
		fills = ", " + fills
	}
	s.open("func ", d.Decode, "(d *", s.runtime("Decoder"), fills, ") {")
	_, evaluated := d.Body.(*model.Evaluated)
	switch {
	case d.Once == "":
		s.decoderBody(d)
	case evaluated:
		s.open("if !e.Again(&", d.Once, ") {")
		s.decoderBody(d)
		s.close("}")
	default:
		s.open("d.Once(&", d.Once, ", func(d *check.Decoder) {")
		s.decoderBody(d)
		s.close("})")
	}
	s.close("}")
}

func (s *source) decoderBody(d *model.Decl) {
	s.assertions(d.Checks)
	switch b := d.Body.(type) {
	case *model.Struct:
		if b.Array != nil {
			s.readTuple(b)
		} else {
			s.readStruct(b)
		}
	case *model.Enum:
		s.line("*v = ", d.Name, "(d.Enum(&", d.Stem, "))")
	case *model.Mixed:
		s.line("*v = ", d.Name, "(d.Value(&", b.Rule.Var, "))")
	case *model.Union:
		s.readUnion(d, b)
	case *model.Defined:
		s.readDefined(d, &b.Value)
	case *model.Element: // a value with a Go type that needs no declaration, in a list, a map or a union: decodeStrings(d, v *[]string)
		s.read("*v", &b.Value, b.Value.Storage)
	case *model.Check:
		s.discard(&b.Value)
	case model.Condition:
		s.condition(d)
	}
}

// parameter is the parameter of a decoder or encoder beside the first: the value that it reads or writes. A function with the body model.Evaluated has
// the record that it fills; validators have no such parameter.
func (s *source) parameter(d *model.Decl) string {
	switch b := d.Body.(type) {
	case *model.Evaluated:
		return "e *" + s.runtime("Evaluated")
	case *model.Check, model.Condition:
		return ""
	case *model.Element:
		return "v *" + s.typ(&b.Value, b.Value.Storage)
	default:
		return "v *" + d.Name
	}
}

// readStruct writes
//
//	v.Venue = "XNYS"
//	for f := d.Object(&order); f >= 0; f = d.Next() {
//		switch f {
//		case 0:
//			v.Symbol = d.String(&orderSymbol)
//		default:
//			d.Keep(&v.AdditionalProperties)
//		}
//	}
func (s *source) readStruct(b *model.Struct) {
	for _, p := range b.Props {
		if p.Default != nil {
			s.line("v.", p.Name, " = ", s.literal(p.Default))
		}
	}
	s.members(b, func(p *model.Prop) {
		if p.Name == "" {
			s.discardProp(p)
			return
		}
		s.readProp(p)
	}, func() {
		if b.Func == nil {
			s.line("d.Keep(&v.", b.Field, ")")
		} else {
			s.line("check.AddMember(d, &v.", b.Field, ", ", b.Func.Decode, ")")
		}
	})
}

// members writes the loop over an object's members.
func (s *source) members(b *model.Struct, known func(*model.Prop), unknown func()) {
	if len(b.Props) == 0 && b.AdditionalProperties != model.Keep {
		s.line("d.Object(&", b.Rule.Var, ")")
		return
	}
	s.open("for f := d.Object(&", b.Rule.Var, "); f >= 0; f = d.Next() {")
	if len(b.Props) == 0 {
		unknown()
		s.close("}")
		return
	}
	s.open("switch f {")
	for i, p := range b.Props {
		s.label("case ", decimalOf(i), ":")
		known(p)
	}
	if b.AdditionalProperties == model.Keep {
		s.label("default:")
		unknown()
	}
	s.close("}")
	s.close("}")
}

// readProp writes the statements that read one property. If the rule table lists it as nullable, the runtime has consumed a null already.
func (s *source) readProp(p *model.Prop) {
	v := p.Value
	if nullInTable(p) {
		v.Null = false
	}
	to := "v." + p.Name
	if p.Default != nil && s.keeps(&v, p.Storage) {
		s.line(to, " = ", s.typ(&v, p.Storage), "{}")
	}
	s.read(to, &v, p.Storage)
}

// keeps reports whether reading may leave a part of the default in place, because a decoder sets only the fields for members that are present.
func (s *source) keeps(v *model.Value, storage model.Storage) bool {
	_, simple := s.expr(v)
	switch storage {
	case model.StoreOptional:
		return !simple
	case model.StoreBare:
		return isStruct(v)
	}
	return false
}

// isStruct reports whether a value is a Go struct, into which a decoder writes field by field.
func isStruct(v *model.Value) bool {
	named, ok := v.Type.(model.Named)
	if !ok {
		return false
	}
	switch b := named.Decl.Body.(type) {
	case *model.Struct:
		return true
	case *model.Defined:
		return b.Value.Storage == model.StoreBare && isStruct(&b.Value)
	}
	return false
}

func (s *source) discardProp(p *model.Prop) {
	v := p.Value
	if nullInTable(p) {
		v.Null = false
	}
	s.discard(&v)
}

// nullInTable reports whether the rule table lists the property as nullable, so that the runtime consumes null: if nothing has to be stored for null,
// and no other check applies to it.
func nullInTable(p *model.Prop) bool {
	if !p.Value.Null || len(p.Value.Checks) > 0 {
		return false
	}
	return p.Name == "" || p.Presence == model.Nullable
}

// readDefined writes
//
//	*v = BatchID(d.String(&batchID))
func (s *source) readDefined(d *model.Decl, v *model.Value) {
	t, ok := v.Type.(model.Named)
	if e, simple := s.expr(v); simple && v.Storage == model.StoreBare && !v.Null {
		s.assertions(v.Checks)
		s.line("*v = ", d.Name, "(", e, ")")
		return
	}
	if ok && v.Storage == model.StoreBare && !v.Null && !isInterface(t) {
		s.assertions(v.Checks)
		s.line(t.Decl.Decode, "(d, (*", t.Decl.Name, ")(v))")
		return
	}
	s.line("var u ", s.typ(v, v.Storage))
	s.read("u", v, v.Storage)
	s.line("*v = ", d.Name, "(u)")
}
