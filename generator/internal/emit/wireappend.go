package emit

import (
	"fmt"
	"strconv"

	"github.com/dave/jennifer/jen"

	"github.com/mcpkiln/mcpkiln/generator/internal/model"
)

// appendFunc emits the writer of a message. An optional member whose field is zero is left out, a required one is
// always written.
//
//	func appendCallResult20251125(b []byte, r *server.CallResult) []byte {
//		b = append(b, '{')
//		b = append(check.Member(b, `"content":`), r.Content...)
//		if r.IsError {
//			b = check.AppendBool(check.Member(b, `"isError":`), r.IsError)
//		}
//		return append(b, '}')
//	}
func appendFunc(m *model.Message) jen.Code {
	a := &appender{m: m}
	body := append([]jen.Code{set(jen.Append(jen.Id("b"), jen.LitRune('{')))}, a.members(m.Root, "")...)
	body = append(body, jen.Return(jen.Append(jen.Id("b"), jen.LitRune('}'))))
	return jen.Func().Id(m.Func).
		Params(jen.Id("b").Index().Byte(), jen.Id(m.Var).Op("*").Qual(serverPath, m.Struct)).Index().Byte().
		Block(body...)
}

type appender struct{ m *model.Message }

// set is b = value.
func set(value jen.Code) *jen.Statement { return jen.Id("b").Op("=").Add(value) }

// member is check.Member(b, `"name":`).
func member(name string) *jen.Statement {
	return jen.Qual(checkPath, "Member").Call(jen.Id("b"), raw(strconv.Quote(name)+":"))
}

// members writes the members of o. known is the condition that is true already where they are written.
func (a *appender) members(o *model.WireObject, known string) []jen.Code {
	var code []jen.Code
	for _, m := range o.Members {
		condition := a.condition(m)
		if condition == nil || condition.GoString() == known {
			code = append(code, a.write(m, known)...)
			continue
		}
		code = append(code, jen.If(condition).Block(a.write(m, condition.GoString())...))
	}
	if o.Splice != "" {
		code = append(code, set(jen.Qual(serverPath, "AppendMembers").Call(jen.Id("b"), a.field(o.Splice))))
	}
	return code
}

func (a *appender) field(name string) *jen.Statement { return jen.Id(a.m.Var).Dot(name) }

func (a *appender) write(m *model.WireMember, known string) []jen.Code {
	switch {
	case m.Literal != "":
		return []jen.Code{set(jen.Append(member(m.Name), raw(m.Literal).Op("...")))}
	case m.Call != "":
		return []jen.Code{set(jen.Id(m.Call).Call(member(m.Name), jen.Id(a.m.Var)))}
	case m.Object != nil:
		code := []jen.Code{set(jen.Append(member(m.Name), jen.LitRune('{')))}
		code = append(code, a.members(m.Object, known)...)
		return append(code, set(jen.Append(jen.Id("b"), jen.LitRune('}'))))
	default:
		return []jen.Code{set(a.value(m))}
	}
}

func (a *appender) value(m *model.WireMember) jen.Code {
	v := a.field(m.Slot.Field)
	switch m.Slot.Kind {
	case model.StringSlot:
		return jen.Qual(checkPath, "AppendString").Call(member(m.Name), v)
	case model.BoolSlot:
		return jen.Qual(checkPath, "AppendBool").Call(member(m.Name), v)
	case model.FloatSlot:
		return jen.Qual(checkPath, "AppendFloat").Call(member(m.Name), v)
	case model.IntSlot:
		return jen.Qual(checkPath, "AppendInt").Call(member(m.Name), v)
	case model.RawSlot:
		return jen.Append(member(m.Name), v.Op("..."))
	case model.StringsSlot:
		return jen.Qual(checkPath, "AppendSlice").Call(member(m.Name), v, jen.Qual(checkPath, "AppendString").Types(jen.String()))
	case model.IDSlot, model.MillisSlot, model.TimeSlot:
		return v.Dot("AppendJSON").Call(member(m.Name))
	default:
		panic(fmt.Sprintf("emit: slots of kind %d are never written", m.Slot.Kind))
	}
}

// condition is when m is written; nil is always.
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
