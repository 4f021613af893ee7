package emit

import "github.com/mcpkiln/mcpkiln/generator/internal/model"

// readTuple writes
//
//	for ok := d.Array(&point); ok; ok = d.Item() {
//		switch d.Index() {
//		case 0:
//			v.X = d.Float(nil)
//		default:
//			check.Add(d, &v.Rest, decodeRaw)
//		}
//	}
func (s *source) readTuple(b *model.Struct) {
	s.open("for ok := d.Array(&", b.Array.Var, "); ok; ok = d.Item() {")
	s.open("switch d.Index() {")
	for i, p := range b.Props {
		s.label("case ", decimalOf(i), ":")
		if p.Name == "" {
			s.discard(&p.Value)
		} else {
			s.read("v."+p.Name, &p.Value, p.Storage)
		}
	}
	s.label("default:")
	if b.Field == "" {
		s.discard(&b.AdditionalValue)
	} else {
		s.line(s.runtime("Add"), "(d, &v.", b.Field, ", ", b.Func.Decode, ")")
	}
	s.close("}")
	s.close("}")
}

// writeTuple writes
//
//	b = append(b, '[')
//	b = check.AppendFloat(check.Item(b), v.X)
//	return append(b, ']')
//
// A missing item is written as null if others follow: end is the length of b after the last present item.
func (s *source) writeTuple(b *model.Struct) {
	end := ""
	s.line("b = append(b, '[')")
	for _, p := range b.Props {
		if p.Const == "" && p.Name == "" {
			break // no item is allowed here or later
		}
		if end == "" && !p.Presence.Required() {
			end = "end"
			s.line("end := len(b)")
		}
		s.writeItem(p)
	}
	if b.Field != "" {
		s.writeRest(b, end)
	}
	if end != "" {
		s.line("return append(b[:end], ']')")
		return
	}
	s.line("return append(b, ']')")
}

func (s *source) writeRest(b *model.Struct, end string) {
	write := "b = " + s.runtime("AppendItems") + "(b, v." + b.Field + ", " + b.Func.Append + ")"
	if end == "" {
		s.line(write)
		return
	}
	s.open("if len(v.", b.Field, ") > 0 {")
	s.line(write)
	s.line("end = len(b)")
	s.close("}")
}

// writeItem writes one item, or null for a missing one.
func (s *source) writeItem(p *model.Prop) {
	field, item := "v."+p.Name, s.runtime("Item")+"(b)"
	if p.Const != "" {
		s.line("b = append(", item, ", ", goString(p.Const), "...)")
		return
	}
	value, set := s.appendExpr(item, field, &p.Value), field+" != nil"
	switch {
	case p.Storage == model.StoreBare && p.Presence == model.Required:
		s.line("b = ", value)
		return
	case p.Storage == model.StorePointer:
		value = p.Value.Type.(model.Named).Decl.Append + "(" + item + ", " + field + ")"
	case p.Storage == model.StoreOptional, p.Storage == model.StoreNullable:
		value, set = s.appendExpr(item, field+".Value", &p.Value), field+".Set"
	case p.Storage == model.StoreNullablePointer:
		value, set = p.Value.Type.(model.Named).Decl.Append+"("+item+", "+field+".Value)", field+".Value != nil"
	}
	s.open("if ", set, " {")
	s.line("b = ", value)
	if p.Presence == model.Optional {
		s.line("end = len(b)")
	}
	s.close("} else {")
	s.depth++
	s.line("b = append(", item, `, "null"...)`)
	s.close("}")
	if p.Presence == model.NullOptional {
		s.open("if ", field, ".Set || ", field, ".Null {")
		s.line("end = len(b)")
		s.close("}")
	}
}
