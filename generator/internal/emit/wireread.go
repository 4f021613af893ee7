package emit

import (
	"fmt"

	"github.com/dave/jennifer/jen"

	"github.com/mcpkiln/mcpkiln/generator/internal/model"
)

// paramsVar is the table that an object of params, or a form of one, is read by.
func paramsVar(o *model.WireObject) jen.Code {
	if len(o.Forms) > 0 {
		return paramsForms(o)
	}
	return paramsRule(o)
}

// var callTool20251125 = wire.ParamsRule{Object: check.Object{…}, Read: []func(*check.Decoder, *wire.Params){wire.ReadName, …}}
func paramsRule(o *model.WireObject) jen.Code {
	reads := make([]jen.Code, len(o.Members))
	for i, member := range o.Members {
		switch {
		case member.Object != nil:
			reads[i] = jen.Id(member.Object.Func)
		case member.Shape != nil:
			reads[i] = jen.Id(member.Shape.Func)
		default:
			reads[i] = jen.Qual(wirePath, "Read"+member.Slot.Field)
		}
	}
	return jen.Var().Id(o.Ident).Op("=").Qual(wirePath, "ParamsRule").Values(
		field("Object", objectRule(o)), field("Read", jen.Index().Qual(wirePath, "ReadParam").Values(reads...)))
}

// var complete20251125Ref = wire.ParamsForms{Union: check.Union{Keyword: "anyOf", Key: "type", Forms: []check.Form{…}}, Read: []wire.ReadParam{…}}
func paramsForms(o *model.WireObject) jen.Code {
	forms, reads := make([]jen.Code, len(o.Forms)), make([]jen.Code, len(o.Forms))
	for i, form := range o.Forms {
		forms[i] = jen.Values(field("Kinds", jen.Qual(checkPath, "KindObject")), field("Tags", textList([]string{form.Tag})))
		reads[i] = jen.Id(form.Object.Func)
	}
	union := jen.Qual(checkPath, "Union").Values(
		field("Keyword", jen.Lit("anyOf")), field("Key", jen.Lit(o.Key)), field("Forms", jen.Index().Qual(checkPath, "Form").Values(forms...)))
	return jen.Var().Id(o.Ident).Op("=").Qual(wirePath, "ParamsForms").Values(
		field("Union", union), field("Read", jen.Index().Qual(wirePath, "ReadParam").Values(reads...)))
}

// func readCallTool20251125(d *check.Decoder, p *wire.Params) { p.Read(d, &callTool20251125) }
func paramsFunc(o *model.WireObject) jen.Code {
	read := "Read"
	if len(o.Forms) > 0 {
		read = "ReadForm"
	}
	return jen.Func().Id(o.Func).Params(
		jen.Id("d").Op("*").Qual(checkPath, "Decoder"), jen.Id("p").Op("*").Qual(wirePath, "Params"),
	).Custom(jen.Options{Open: "{ ", Close: " }"}, jen.Id("p").Dot(read).Call(jen.Id("d"), jen.Op("&").Id(o.Ident)))
}

// var callResult20251125 = check.Object{…}
func readRule(o *model.WireObject) jen.Code { return jen.Var().Id(o.Ident).Op("=").Add(objectRule(o)) }

// check.Object{Names: []string{"name", "arguments"}, Required: []string{"name"}, AdditionalProperties: check.Skip}
func objectRule(o *model.WireObject) *jen.Statement {
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
	return jen.Qual(checkPath, "Object").Values(fields...)
}

//	func readElicitResult20251125(d *check.Decoder, r *server.ElicitResult) {
//		for f := d.Object(&elicitResult20251125); f >= 0; f = d.Next() {
//			switch f {
//			case 0:
//				r.Action = d.String(nil)
//			case 1:
//				r.Content = d.Alias(nil)
//			}
//		}
//	}
func readFunc(m *model.Message) jen.Code {
	o := m.Root
	cases := make([]jen.Code, len(o.Members))
	for i, member := range o.Members {
		cases[i] = jen.Case(jen.Lit(i)).Block(jen.Id(m.Var).Dot(member.Slot.Field).Op("=").Add(readSlot(member.Slot.Kind)))
	}
	return jen.Func().Id(o.Func).Params(
		jen.Id("d").Op("*").Qual(checkPath, "Decoder"),
		jen.Id(m.Var).Op("*").Qual(wirePath, m.Struct),
	).Block(
		jen.For(
			jen.Id("f").Op(":=").Id("d").Dot("Object").Call(jen.Op("&").Id(o.Ident)),
			jen.Id("f").Op(">=").Lit(0),
			jen.Id("f").Op("=").Id("d").Dot("Next").Call(),
		).Block(jen.Switch(jen.Id("f")).Block(cases...)),
	)
}

func readSlot(k model.SlotKind) *jen.Statement {
	method := map[model.SlotKind]string{model.StringSlot: "String", model.BoolSlot: "Bool", model.RawSlot: "Alias"}
	if name, ok := method[k]; ok {
		return jen.Id("d").Dot(name).Call(jen.Nil())
	}
	panic(fmt.Sprintf("emit: slots of kind %d are never read", k))
}
