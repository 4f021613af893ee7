package emit

import (
	"fmt"

	"github.com/dave/jennifer/jen"

	"github.com/mcpkiln/mcpkiln/generator/internal/model"
)

// appendFunc emits the writer of a message. An optional member whose field is zero is left out, a required one is
// always written.
//
//	func appendCallResult20251125(b []byte, r *server.CallResult) []byte {
//		b = append(b, '{')
//		b = append(check.Member(b, `"content":`), r.Content...)
//		b = wire.OptionalBool(b, `"isError":`, r.IsError)
//		return append(b, '}')
//	}
func appendFunc(m *model.Message) jen.Code {
	a := &appender{m: m}
	body := append([]jen.Code{set(jen.Append(jen.Id("b"), jen.LitRune('{')))}, a.members(m.Root)...)
	body = append(body, jen.Return(jen.Append(jen.Id("b"), jen.LitRune('}'))))
	return jen.Func().Id(m.Func).
		Params(jen.Id("b").Index().Byte(), jen.Id(m.Var).Op("*").Qual(wirePath, m.Struct)).Index().Byte().
		Block(body...)
}

type appender struct{ m *model.Message }

// set is b = value.
func set(value jen.Code) *jen.Statement { return jen.Id("b").Op("=").Add(value) }

// member is check.Member(b, `"name":`).
func member(m *model.WireMember) *jen.Statement {
	return jen.Qual(checkPath, "Member").Call(jen.Id("b"), raw(m.Quoted+":"))
}

func (a *appender) members(o *model.WireObject) []jen.Code {
	var code []jen.Code
	for _, m := range o.Members {
		code = append(code, a.member(m)...)
	}
	if o.Splice != "" {
		code = append(code, set(jen.Qual(wirePath, "AppendMembers").Call(jen.Id("b"), a.field(o.Splice))))
	}
	return code
}

func (a *appender) field(name string) *jen.Statement { return jen.Id(a.m.Var).Dot(name) }

func (a *appender) member(m *model.WireMember) []jen.Code {
	switch {
	case m.Literal != "":
		return []jen.Code{set(jen.Append(member(m), raw(m.Literal).Op("...")))}
	case m.Call != "":
		return []jen.Code{set(jen.Id(m.Call).Call(member(m), jen.Id(a.m.Var)))}
	case m.Required && m.Slot != nil:
		return []jen.Code{set(a.value(m))}
	}
	if slot, opening, closing := optional(m); slot != nil {
		return []jen.Code{set(a.optional(slot, opening, closing))}
	}
	return a.object(m)
}

// optional is the slot of an optional member, or of an optional object with that slot alone, with the text around it.
func optional(m *model.WireMember) (slot *model.WireSlot, opening, closing string) {
	switch {
	case m.Required || m.Literal != "" || m.Call != "":
		return nil, "", ""
	case m.Object == nil:
		return m.Slot, m.Quoted + ":", ""
	case len(m.Object.Members) > 1 || m.Object.Splice != "":
		return nil, "", ""
	}
	slot, opening, closing = optional(m.Object.Members[0])
	return slot, m.Quoted + ":{" + opening, closing + "}"
}

// wire.OptionalString(b, `"_meta":{"task":`, r.RelatedTask, "}")
func (a *appender) optional(s *model.WireSlot, opening, closing string) jen.Code {
	name, ok := map[model.SlotKind]string{
		model.StringSlot: "String", model.BoolSlot: "Bool", model.FloatSlot: "Float", model.RawSlot: "Raw", model.StringsSlot: "Strings",
		model.IDSlot: "ID", model.MillisSlot: "Millis",
	}[s.Kind]
	if !ok {
		panic(fmt.Sprintf("emit: slots of kind %d are always written", s.Kind))
	}
	args := []jen.Code{jen.Id("b"), raw(opening), a.field(s.Field)}
	if closing != "" {
		args = append(args, jen.Lit(closing))
	}
	return jen.Qual(wirePath, "Optional"+name).Call(args...)
}

// object writes an object with its members, if it is required or one of them is present.
func (a *appender) object(m *model.WireMember) []jen.Code {
	code := []jen.Code{set(jen.Append(member(m), jen.LitRune('{')))}
	code = append(code, a.members(m.Object)...)
	code = append(code, set(jen.Append(jen.Id("b"), jen.LitRune('}'))))
	if condition := a.condition(m); condition != nil {
		return []jen.Code{jen.If(condition).Block(code...)}
	}
	return code
}

func (a *appender) value(m *model.WireMember) jen.Code {
	v := a.field(m.Slot.Field)
	switch m.Slot.Kind {
	case model.StringSlot:
		return jen.Qual(checkPath, "AppendString").Call(member(m), v)
	case model.BoolSlot:
		return jen.Qual(checkPath, "AppendBool").Call(member(m), v)
	case model.FloatSlot:
		return jen.Qual(checkPath, "AppendFloat").Call(member(m), v)
	case model.RawSlot:
		return jen.Append(member(m), v.Op("..."))
	case model.StringsSlot:
		return jen.Qual(checkPath, "AppendSlice").Call(member(m), v, jen.Qual(checkPath, "AppendString").Types(jen.String()))
	case model.IDSlot, model.MillisSlot, model.TimeSlot:
		return v.Dot("AppendJSON").Call(member(m))
	default:
		panic(fmt.Sprintf("emit: slots of kind %d are never written", m.Slot.Kind))
	}
}

// condition is the condition under which m is written; nil is always.
func (a *appender) condition(m *model.WireMember) *jen.Statement {
	if m.Required || m.Literal != "" || m.Call != "" {
		return nil
	}
	var any *jen.Statement
	for _, c := range a.conditions(m) {
		if c == nil {
			return nil
		}
		if any == nil {
			any = c
		} else {
			any = any.Op("||").Add(c)
		}
	}
	return any
}

func (a *appender) conditions(m *model.WireMember) []*jen.Statement {
	if m.Object == nil {
		return []*jen.Statement{a.nonZero(m.Slot)}
	}
	var all []*jen.Statement
	for _, inner := range m.Object.Members {
		all = append(all, a.condition(inner))
	}
	if m.Object.Splice != "" {
		all = append(all, jen.Len(a.field(m.Object.Splice)).Op(">").Lit(0))
	}
	return all
}

func (a *appender) nonZero(s *model.WireSlot) *jen.Statement {
	v := a.field(s.Field)
	switch s.Kind {
	case model.BoolSlot:
		return v
	case model.StringSlot:
		return v.Op("!=").Lit("")
	case model.RawSlot, model.StringsSlot:
		return jen.Len(v).Op(">").Lit(0)
	case model.IDSlot:
		return jen.Op("!").Add(v).Dot("IsZero").Call()
	default:
		return v.Op("!=").Lit(0)
	}
}
