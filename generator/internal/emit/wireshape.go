package emit

import (
	"github.com/dave/jennifer/jen"

	"github.com/mcpkiln/mcpkiln/generator/internal/model"
)

// var requestMetaLogLevel20260728 = wire.Shape{Kind: check.KindString, Enum: check.Enum{Values: []string{"alert", …}}}
func shapeVar(s *model.WireShape) jen.Code {
	return jen.Var().Id(s.Ident).Op("=").Add(shapeOf(s))
}

// func readRequest20260728MetaLogLevel(d *check.Decoder, p *wire.Params) { p.LogLevel = request20260728MetaLogLevel.ReadText(d) }
func shapeFunc(m *model.WireMember) jen.Code {
	read := "Read"
	if m.Slot.Kind == model.StringSlot {
		read = "ReadText"
	}
	return jen.Func().Id(m.Shape.Func).Params(
		jen.Id("d").Op("*").Qual(checkPath, "Decoder"), jen.Id("p").Op("*").Qual(wirePath, "Params"),
	).Custom(jen.Options{Open: "{ ", Close: " }"}, jen.Id("p").Dot(m.Slot.Field).Op("=").Id(m.Shape.Ident).Dot(read).Call(jen.Id("d")))
}

// wire.Shape{Kind: check.KindObject, Object: check.Object{Names: []string{"name"}}, Members: []wire.Shape{{Kind: check.KindString}}}
func shapeOf(s *model.WireShape) *jen.Statement {
	return jen.Qual(wirePath, "Shape").Values(shapeFields(s)...)
}

func shapeFields(s *model.WireShape) (fields []jen.Code) {
	if s.Kind != "" {
		fields = append(fields, field("Kind", jen.Qual(checkPath, s.Kind)))
	}
	if s.Null {
		fields = append(fields, field("Null", jen.True()))
	}
	if len(s.Enum) > 0 {
		fields = append(fields, field("Enum", jen.Qual(checkPath, "Enum").Values(field("Values", textList(s.Enum)))))
	}
	if len(s.Members) > 0 {
		var names, required []string
		members := make([]jen.Code, len(s.Members))
		for i, m := range s.Members {
			names = append(names, m.Name)
			if m.Required {
				required = append(required, m.Name)
			}
			members[i] = jen.Values(shapeFields(&m.Shape)...)
		}
		rule := []jen.Code{field("Names", textList(names))}
		if len(required) > 0 {
			rule = append(rule, field("Required", textList(required)))
		}
		fields = append(fields, field("Object", jen.Qual(checkPath, "Object").Values(rule...)), field("Members", jen.Index().Qual(wirePath, "Shape").Values(members...)))
	}
	if s.Others != nil {
		fields = append(fields, field("Others", jen.Op("&").Add(shapeOf(s.Others))))
	}
	if s.Items != nil {
		fields = append(fields, field("Items", jen.Op("&").Add(shapeOf(s.Items))))
	}
	return fields
}
