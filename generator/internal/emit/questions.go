package emit

import (
	"github.com/dave/jennifer/jen"

	"github.com/mcpkiln/mcpkiln/generator/internal/model"
)

// questionsFile emits, for each tool that asks, its call type, the methods that ask, and the questions.
func questionsFile(pkg *model.Package) ([]File, error) {
	if !pkg.Needs.Questions {
		return nil, nil
	}
	f := newFile(pkg)
	for _, t := range pkg.Tools {
		if t.Call == "" {
			continue
		}
		f.Add(callType(t))
		for _, q := range t.Questions {
			f.Line()
			f.Add(askMethod(t, q))
			f.Line()
			f.Add(questionVar(q))
		}
		f.Line()
	}
	content, err := format(f)
	return one("questions.gen.go", content, err)
}

// // ImportOrdersCall is a call of import_orders, with its questions.
// type ImportOrdersCall struct{ *server.Call }
func callType(t *model.Tool) jen.Code {
	return jen.Add(comment(t.Call + " is a call of " + t.Name + ", with its questions.")).Line().
		Type().Id(t.Call).Struct(jen.Op("*").Qual(serverPath, "Call"))
}

// // ConfirmOverwrite asks the user …
//
//	func (c *ImportOrdersCall) ConfirmOverwrite(ctx context.Context, message string) (server.Answer[ImportOrdersConfirmOverwrite], error) {
//		return server.Ask(ctx, c.Call, &importOrdersConfirmOverwriteQuestion, message)
//	}
func askMethod(t *model.Tool, q *model.Question) jen.Code {
	return jen.Add(comment(q.Doc...)).Line().
		Func().Params(jen.Id("c").Op("*").Id(t.Call)).Id(q.GoName).
		Params(jen.Id("ctx").Qual("context", "Context"), jen.Id("message").String()).
		Params(jen.Qual(serverPath, "Answer").Types(jen.Id(q.Answer.Name)), jen.Error()).
		Block(jen.Return(jen.Qual(serverPath, "Ask").Call(jen.Id("ctx"), jen.Id("c").Dot("Call"), jen.Op("&").Id(q.Ident), jen.Id("message"))))
}

//	var importOrdersConfirmOverwriteQuestion = server.Question[ImportOrdersConfirmOverwrite]{
//		Name: "confirmOverwrite",
//		…
//	}
func questionVar(q *model.Question) jen.Code {
	fields := []jen.Code{
		field("Name", jen.Lit(q.Name)),
		field("Message", jen.Lit(q.Message)),
		field("Schema", raw(q.Schema)),
	}
	fields = append(fields, durations(duration{"Timeout", q.Timeout})...)
	if fallback := fallbackName(q.OnUnsupported); fallback != "" {
		fields = append(fields, field("OnUnsupported", jen.Qual(serverPath, fallback)))
	}
	fields = append(fields, field("Decode", jen.Id(q.Answer.Decode)))
	if q.Default != nil {
		fields = append(fields, field("Default", literal(q.Default)))
	}
	return jen.Var().Id(q.Ident).Op("=").Qual(serverPath, "Question").Types(jen.Id(q.Answer.Name)).Add(onLines(fields...))
}

func fallbackName(u model.Unsupported) string {
	switch u {
	case model.Decline:
		return "Decline"
	case model.UseDefault:
		return "UseDefault"
	default:
		return "" // Fail is the zero value
	}
}
