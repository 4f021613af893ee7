package emit

import (
	"fmt"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/mcpkiln/mcpkiln/generator/internal/model"
)

// var callTool20251125 = check.Object{Names: []string{"name", "arguments"}, Required: []string{"name"}, AdditionalProperties: check.Skip}
func readRule(o *model.WireObject) jen.Code {
	names := make([]jen.Code, len(o.Members))
	var required []jen.Code
	for i, member := range o.Members {
		names[i] = jen.Lit(member.Name)
		if member.Required {
			required = append(required, names[i])
		}
	}
	fields := []jen.Code{field("Names", jen.Index().String().Values(names...))}
	if len(required) > 0 {
		fields = append(fields, field("Required", jen.Index().String().Values(required...)))
	}
	fields = append(fields, field("AdditionalProperties", jen.Qual(checkPath, "Skip")))
	return jen.Var().Id(o.Ident).Op("=").Qual(checkPath, "Object").Values(fields...)
}

//	func readCallTool20251125(d *check.Decoder, p *server.Params) {
//		for f := d.Object(&callTool20251125); f >= 0; f = d.Next() {
//			switch f {
//			case 0:
//				p.Name = d.String(nil)
//			case 1:
//				readCallTool20251125Meta(d, p)
//			}
//		}
//	}
func readFunc(m *model.Message, o *model.WireObject) jen.Code {
	cases := make([]jen.Code, len(o.Members))
	for i, member := range o.Members {
		cases[i] = jen.Case(jen.Lit(i)).Block(readMember(m, member)...)
	}
	return jen.Func().Id(readName(o)).Params(
		jen.Id("d").Op("*").Qual(checkPath, "Decoder"),
		jen.Id(m.Var).Op("*").Qual(serverPath, m.Struct),
	).Block(
		jen.For(
			jen.Id("f").Op(":=").Id("d").Dot("Object").Call(jen.Op("&").Id(o.Ident)),
			jen.Id("f").Op(">=").Lit(0),
			jen.Id("f").Op("=").Id("d").Dot("Next").Call(),
		).Block(jen.Switch(jen.Id("f")).Block(cases...)),
	)
}

// readName is the name of the reader of o: its rule's, as a verb. Readers share objects, so it can not be the message's.
func readName(o *model.WireObject) string { return "read" + strings.ToUpper(o.Ident[:1]) + o.Ident[1:] }

func readMember(m *model.Message, member *model.WireMember) []jen.Code {
	var code []jen.Code
	if s := member.Slot; s != nil {
		to := jen.Id(m.Var).Dot(s.Field)
		code = append(code, to.Op("=").Add(readSlot(s.Kind)))
		if s.Set != "" {
			code = append(code, jen.Id(m.Var).Dot(s.Set).Op("=").True())
		}
	}
	if member.Object != nil {
		code = append(code, jen.Id(readName(member.Object)).Call(jen.Id("d"), jen.Id(m.Var)))
	}
	return code
}

func readSlot(k model.SlotKind) *jen.Statement {
	method := map[model.SlotKind]string{
		model.StringSlot: "String", model.IntSlot: "Int", model.FloatSlot: "Float", model.BoolSlot: "Bool", model.RawSlot: "Alias",
	}
	if name, ok := method[k]; ok {
		return jen.Id("d").Dot(name).Call(jen.Nil())
	}
	if k == model.StringsSlot {
		return jen.Id("d").Dot("Strings").Call(jen.Nil(), jen.Nil())
	}
	if k != model.IDSlot {
		panic(fmt.Sprintf("emit: slots of kind %d are never read", k))
	}
	return jen.Qual(serverPath, "ReadID").Call(jen.Id("d"))
}
