package emit

import (
	"strconv"

	"github.com/dave/jennifer/jen"

	"github.com/mcpkiln/mcpkiln/generator/internal/model"
)

// readerCode returns the rules by which a wire reads messages, then its readers, a line each. done are the objects and shapes that are declared already.
func readerCode(w *model.Wire, done map[any]bool) []jen.Code {
	var rules, readers jen.Statement
	for _, m := range w.Functions {
		if m.Append {
			continue
		}
		readers.Add(readFunc(m)).Line()
		m.Root.Walk(func(o *model.WireObject) {
			if !done[o] {
				rules.Add(ruleVar(o)).Line()
			}
			done[o] = true
			for _, member := range o.Members {
				if member.Shape != nil && !done[member.Shape] {
					rules.Add(shapeVar(member)).Line()
					done[member.Shape] = true
				}
			}
		})
	}
	if len(readers) == 0 {
		return nil
	}
	return []jen.Code{&rules, &readers}
}

// func readCallTool20251125(d *check.Decoder, p *wire.Params) { callTool20251125.Read(d, p) }
func readFunc(m *model.Message) jen.Code {
	return jen.Func().Id(m.Func).Params(
		jen.Id("d").Op("*").Qual(checkPath, "Decoder"), jen.Id(m.Var).Op("*").Qual(wirePath, m.Struct),
	).Custom(jen.Options{Open: "{ ", Close: " }"}, jen.Id(m.Root.Ident).Dot("Read").Call(jen.Id("d"), jen.Id(m.Var)))
}

// ruleVar is the rule of an object, or of one that has forms:
//
//	var callTool20251125 = wire.Rule{
//		Names: []string{"name", "arguments"}, Required: []string{"name"}, Reads: wire.Reads{wire.SlotName, wire.SlotArguments},
//	}
func ruleVar(o *model.WireObject) jen.Code {
	if len(o.Forms) > 0 {
		return formsVar(o)
	}
	var names, required []string
	reads := composite{field: "Reads", text: "wire.Reads"}
	for _, m := range o.Members {
		names = append(names, m.Name)
		if m.Required {
			required = append(required, m.Name)
		}
		reads.items = append(reads.items, composite{text: readerOf(m)})
	}
	return literalVar(o.Ident, "wire.Rule", append(objectRule(names, required), reads)...)
}

// Names: []string{"name", "arguments"}, Required: []string{"name"}
func objectRule(names, required []string) []composite {
	if len(required) == 0 {
		return []composite{texts("Names", names)}
	}
	return []composite{texts("Names", names), texts("Required", required)}
}

// readerOf is wire.SlotName, or &request20260728Meta for a member with a rule of its own.
func readerOf(m *model.WireMember) string {
	switch {
	case m.Object != nil:
		return "&" + m.Object.Ident
	case m.Shape != nil:
		return "&" + m.Shape.Ident
	}
	return "wire.Slot" + m.Slot.Field
}

// var complete20251125Ref = wire.Forms{Union: check.Union{Keyword: "anyOf", Key: "type", Forms: []check.Form{…}}, Reads: []*wire.Rule{…}}
func formsVar(o *model.WireObject) jen.Code {
	forms, reads := composite{field: "Forms", text: "[]check.Form"}, composite{field: "Reads", text: "[]*wire.Rule"}
	for _, form := range o.Forms {
		forms.items = append(forms.items, composite{items: []composite{{field: "Kinds", text: "check.KindObject"}, texts("Tags", []string{form.Tag})}})
		reads.items = append(reads.items, composite{text: "&" + form.Object.Ident})
	}
	union := composite{field: "Union", text: "check.Union", items: []composite{
		{field: "Keyword", text: `"anyOf"`}, {field: "Key", text: strconv.Quote(o.Key)}, forms,
	}}
	return literalVar(o.Ident, "wire.Forms", union, reads)
}

func literalVar(ident, of string, fields ...composite) jen.Code {
	before := "var " + ident + " = "
	return jen.Op(before).Add(composite{text: of, items: fields}.code(0, len(before)))
}
