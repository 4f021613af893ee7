package emit

import (
	"fmt"
	"go/token"
	"strconv"

	"github.com/mcpkiln/mcpkiln/generator/internal/model"
)

// encoder writes the function that appends d as JSON.
func (s *source) encoder(d *model.Decl) {
	if d.Append == "" {
		return // a validator
	}
	s.line()
	if token.IsExported(d.Append) {
		s.comment(d.Append + " writes a " + d.Name + " as JSON.")
	}
	s.open("func ", d.Append, "(b []byte, ", s.parameter(d), ") []byte {")
	switch b := d.Body.(type) {
	case *model.Struct:
		if b.Array != nil {
			s.writeTuple(b)
		} else {
			s.writeStruct(b)
		}
	case *model.Enum:
		s.line("return ", s.runtime("AppendString"), "(b, *v)")
	case *model.Mixed:
		s.line("return ", s.runtime("AppendValue"), "(b, *v)")
	case *model.Union:
		s.writeUnion(b)
	case *model.Defined: // a named type over another one
		s.writeElement(&b.Value, d.Name)
	case *model.Element: // an element of a list or map, of a type without a name
		s.writeElement(&b.Value, "")
	}
	s.close("}")
}

// jsonMethods writes MarshalJSON and UnmarshalJSON for a type, if encoding/json alone would do something else than the generated functions.
//
//	func (v Order) MarshalJSON() ([]byte, error) { return appendOrder(nil, &v), nil }
//	func (v *Order) UnmarshalJSON(b []byte) error { return check.Unmarshal(b, check.Hiding("/token", decodeOrder), v) }
func (s *source) jsonMethods(d *model.Decl) {
	if d.Marshal {
		s.line()
		s.oneLine("func (v "+d.Name+") MarshalJSON() ([]byte, error)", "return "+d.Append+"(nil, &v), nil")
	}
	if d.Unmarshal {
		s.line()
		decode := d.Decode
		if d.Hidden != "" {
			decode = s.runtime("Hiding") + "(" + strconv.Quote(d.Hidden) + ", " + decode + ")"
		}
		s.oneLine("func (v *"+d.Name+") UnmarshalJSON(b []byte) error", "return "+s.runtime("Unmarshal")+"(b, "+decode+", v)")
	}
}

// writeStruct writes
//
//	b = append(b, '{')
//	b = check.AppendString(check.Member(b, `"symbol":`), v.Symbol)
//	return append(b, '}')
func (s *source) writeStruct(b *model.Struct) {
	s.line("b = append(b, '{')")
	for _, p := range b.Props {
		switch {
		case p.Const != "":
			s.line("b = ", s.runtime("Member"), "(b, ", goString(p.Quoted+":"+p.Const), ")")
		case p.Name != "":
			s.writeProp(p)
		} // one with neither is forbidden
	}
	switch { // additional properties, if a field stores them
	case b.Field != "" && b.Func == nil: // they are kept as check.Raw
		s.line("b = ", s.runtime("AppendAdditionalProperties"), "(b, v.", b.Field, ")")
	case b.Field != "":
		s.line("b = ", s.runtime("AppendMembers"), "(b, v.", b.Field, ", ", b.Func.Append, ")")
	}
	s.line("return append(b, '}')")
}

// writeProp writes one property. A field without a value is written as null or not at all, depending on its Presence.
func (s *source) writeProp(p *model.Prop) {
	field := "v." + p.Name
	switch p.Storage {
	case model.StoreBare:
		s.writeBare(p, field)
	case model.StoreOptional:
		s.writeOptional(p, field)
	case model.StorePointer:
		s.line("b = ", s.runtime(ifElse(p.Presence == model.Optional, "AppendPointer", "AppendPointerOrNull")), "(b, ", key(p), ", ", field,
			", ", p.Value.Type.(model.Named).Decl.Append, ")")
	default:
		s.writeNullable(p, field)
	}
}

// writeBare writes one of
//
//	b = check.AppendOptionalSlice(b, `"tags":`, v.Tags, check.AppendString)
//
//	b = check.AppendString(check.Member(b, `"symbol":`), v.Symbol)
//
//	if v.Shape != nil {
//		b = appendShape(check.Member(b, `"shape":`), &v.Shape)
//	}
func (s *source) writeBare(p *model.Prop, field string) {
	if call, ok := s.appendOptional(p, field); ok {
		s.line("b = ", call)
		return
	}
	write := "b = " + s.appendExpr(s.runtime("Member")+"(b, "+key(p)+")", field, &p.Value)
	switch p.Presence {
	case model.Optional:
		s.open("if ", field, " != nil {")
		s.line(write)
		s.close("}")
	case model.Nullable:
		s.open("if ", field, " == nil {")
		s.line("b = ", s.runtime("Member"), "(b, ", goString(p.Quoted+":null"), ")")
		s.orElse()
		s.line(write)
		s.close("}")
	default:
		s.line(write)
	}
}

// appendOptional is the call that writes a list, a map or a check.Raw that may be absent; false for other properties.
func (s *source) appendOptional(p *model.Prop, field string) (string, bool) {
	if p.Presence != model.Optional {
		return "", false
	}
	args := "(b, " + key(p) + ", " + field
	switch t := p.Value.Type.(type) {
	case *model.Slice:
		if f, ok := s.scalarAppend(&t.Elem); ok && t.Func == nil { // the runtime has all items in one call
			return s.runtime("AppendOptionalSlice") + args + ", " + f + ")", true
		}
		return s.runtime("AppendOptionalList") + args + ", " + t.Func.Append + ")", true
	case *model.Map:
		return s.runtime("AppendOptionalMap") + args + ", " + t.Func.Append + ")", true
	case model.Raw:
		return s.runtime("AppendOptionalRaw") + args + ")", true
	}
	return "", false
}

// writeOptional writes one of
//
//	b = check.AppendOptional(b, `"limit":`, v.Limit, check.AppendFloat)
//
//	if v.ID.Set {
//		b = appendThingID(check.Member(b, `"id":`), &v.ID.Value)
//	}
func (s *source) writeOptional(p *model.Prop, field string) {
	if f, ok := s.scalarAppend(&p.Value); ok {
		s.line("b = ", s.runtime(ifElse(p.Presence == model.Optional, "AppendOptional", "AppendOrNull")), "(b, ", key(p), ", ", field, ", ", f, ")")
		return
	}
	s.open("if ", field, ".Set {")
	s.line("b = ", s.appendExpr(s.runtime("Member")+"(b, "+key(p)+")", field+".Value", &p.Value))
	if p.Presence != model.Optional {
		s.orElse()
		s.line("b = ", s.runtime("Member"), "(b, ", goString(p.Quoted+":null"), ")")
	}
	s.close("}")
}

// writeNullable writes one of
//
//	b = check.AppendNullable(b, `"limit":`, v.Limit, check.AppendFloat)
//
//	b = check.AppendNullablePointer(b, `"parent":`, v.Parent, appendBuyer)
//
//	switch {
//	case v.ID.Null:
//		b = check.Member(b, `"id":null`)
//	case v.ID.Set:
//		b = appendThingID(check.Member(b, `"id":`), &v.ID.Value)
//	}
func (s *source) writeNullable(p *model.Prop, field string) {
	if f, ok := s.scalarAppend(&p.Value); ok {
		s.line("b = ", s.runtime("AppendNullable"), "(b, ", key(p), ", ", field, ", ", f, ")")
		return
	}
	if p.Storage == model.StoreNullablePointer {
		s.line("b = ", s.runtime("AppendNullablePointer"), "(b, ", key(p), ", ", field, ", ", p.Value.Type.(model.Named).Decl.Append, ")")
		return
	}
	s.open("switch {")
	s.label("case ", field, ".Null:")
	s.line("b = ", s.runtime("Member"), "(b, ", goString(p.Quoted+":null"), ")")
	s.label("case ", field, ".Set:")
	s.line("b = ", s.appendExpr(s.runtime("Member")+"(b, "+key(p)+")", field+".Value", &p.Value))
	s.close("}")
}

// writeElement writes the body of a function for a value without properties. name is the name of *v's type, if that is declared.
func (s *source) writeElement(v *model.Value, name string) {
	switch {
	case v.Storage == model.StoreOptional:
		s.nullIf("!v.Set")
		s.line("return ", s.appendExpr("b", "v.Value", v))
	case v.Storage == model.StorePointer:
		s.nullIf("*v == nil")
		s.line("return ", v.Type.(model.Named).Decl.Append, "(b, *v)")
	default:
		if v.Null {
			s.nullIf("*v == nil")
		}
		if named, ok := v.Type.(model.Named); ok && name != "" && isInterface(v.Type) {
			s.line("u := ", named.Decl.Name, "(*v)")
			s.line("return ", named.Decl.Append, "(b, &u)")
			return
		}
		s.line("return ", s.appendDeref(v, name))
	}
}

// isInterface reports whether a type is a union, or defined as one. A pointer to such a type must not be converted to a
// pointer to another one: the language allows it, but type switches then miss every case, because the interface value still has
// the method table of the first type. Values are converted instead.
func isInterface(t model.Type) bool {
	named, ok := t.(model.Named)
	if !ok {
		return false
	}
	switch b := named.Decl.Body.(type) {
	case *model.Union:
		return true
	case *model.Defined:
		return b.Value.Storage == model.StoreBare && isInterface(b.Value.Type)
	}
	return false
}

// nullIf writes null, and nothing else, under a condition.
func (s *source) nullIf(condition string) {
	s.open("if ", condition, " {")
	s.line(`return append(b, "null"...)`)
	s.close("}")
}

// appendDeref is appendExpr for *v, where v is the parameter. A declared scalar is converted by the generic functions of the
// runtime, other declared types here.
func (s *source) appendDeref(v *model.Value, name string) string {
	switch t := v.Type.(type) {
	case model.Named:
		if _, ok := t.Decl.Body.(*model.Enum); ok {
			return s.runtime("AppendString") + "(b, *v)"
		}
		if name != "" {
			return t.Decl.Append + "(b, (*" + t.Decl.Name + ")(v))"
		}
		return t.Decl.Append + "(b, v)"
	case model.Raw:
		if name != "" {
			return s.runtime("AppendRaw") + "(b, " + s.runtime("Raw") + "(*v))"
		}
	case model.Formatted:
		if name != "" {
			return s.runtime("Append"+t.Name) + "(b, " + s.formatted(t) + "(*v))"
		}
	case model.Decimal:
		if name != "" {
			return s.runtime("AppendLiteral") + "(b, " + s.runtime("Literal") + "(*v))"
		}
	}
	return s.appendExpr("b", "*v", v)
}

// writeUnion writes
//
//	switch v := (*v).(type) {
//	case *Circle:
//		if v != nil {
//			return appendCircle(b, v)
//		}
//	}
//	return append(b, "null"...)
//
// A nil pointer or interface is written as null, which the check of the output then reports.
func (s *source) writeUnion(b *model.Union) {
	s.open("switch v := (*v).(type) {")
	for _, m := range b.Members {
		s.label("case ", m.TypeName(), ":")
		if m.Pointer {
			s.open("if v != nil {")
			s.line("return ", m.Decl.Append, "(b, v)")
			s.close("}")
		} else {
			s.line("return ", m.Decl.Append, "(b, &v)")
		}
	}
	s.close("}")
	s.line(`return append(b, "null"...)`)
}

// appendExpr is the call that appends a value to dst.
func (s *source) appendExpr(dst, value string, v *model.Value) string {
	if f, ok := s.scalarAppend(v); ok {
		return f + "(" + dst + ", " + value + ")"
	}
	switch t := v.Type.(type) {
	case *model.Slice:
		if f, ok := s.scalarAppend(&t.Elem); ok && t.Func == nil {
			return s.runtime("AppendSlice") + "(" + dst + ", " + value + ", " + f + ")"
		}
		return s.runtime("AppendList") + "(" + dst + ", " + value + ", " + t.Func.Append + ")"
	case *model.Map:
		return s.runtime("AppendMap") + "(" + dst + ", " + value + ", " + t.Func.Append + ")"
	case model.Named:
		return t.Decl.Append + "(" + dst + ", &" + value + ")"
	}
	panic(fmt.Sprintf("emit: a %T is never written", v.Type))
}

// scalarAppend is the function of package check that appends a scalar, an enum or a check.Raw; false for other values.
func (s *source) scalarAppend(v *model.Value) (string, bool) {
	switch t := v.Type.(type) {
	case model.String:
		return s.runtime("AppendString"), true
	case model.Formatted:
		return s.runtime("Append" + t.Name), true
	case model.Int:
		return s.runtime("AppendInt"), true
	case model.Number:
		return s.runtime("AppendFloat"), true
	case model.Decimal:
		return s.runtime("AppendLiteral"), true
	case model.Bool:
		return s.runtime("AppendBool"), true
	case model.Raw:
		return s.runtime("AppendRaw"), true
	case model.Named:
		if _, ok := t.Decl.Body.(*model.Enum); ok {
			return s.runtime("AppendString"), true
		}
	}
	return "", false
}

// key is a property's name as an argument of the runtime's Member: quoted, with its colon, as Go source.
func key(p *model.Prop) string { return goString(p.Quoted + ":") }

func ifElse(condition bool, yes, no string) string {
	if condition {
		return yes
	}
	return no
}
