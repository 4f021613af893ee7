package emit

import (
	"github.com/dave/jennifer/jen"

	"github.com/mcpkiln/mcpkiln/generator/internal/model"
)

// toolsFile emits the table of tools. It is one literal, so that a new tool is one hunk.
//
//	// tools are the tools of h, in the manifest's order.
//	func tools(h Handlers) []server.Tool {
//		return []server.Tool{
//			{…},
//		}
//	}
func toolsFile(pkg *model.Package) ([]File, error) {
	f := newFile(pkg)
	entries := make([]jen.Code, len(pkg.Tools))
	for i, t := range pkg.Tools {
		entries[i] = toolEntry(pkg, t)
	}
	f.Add(comment("tools are the tools that h answers, in the manifest's order. A definition is what tools/list shows.")).Line().
		Func().Id("tools").Params(jen.Id("h").Id("Handlers")).Index().Qual(serverPath, "Tool").
		Block(jen.Return(jen.Index().Qual(serverPath, "Tool").Add(onLines(entries...))))
	content, err := format(f)
	return one("tools.gen.go", content, err)
}

//	{
//		Name: "get_quote",
//		Definition: `{"name":"get_quote",…}`,
//		Handler: server.Bind(decodeGetQuoteInput, h.GetQuote, server.Structured(appendGetQuoteOutput, decodeGetQuoteOutput)),
//		Cancel: getQuoteCancel,
//		Task: getQuoteTask,
//	}
func toolEntry(pkg *model.Package, t *model.Tool) jen.Code {
	fields := []jen.Code{
		field("Name", jen.Lit(t.Name)),
		field("Definition", raw(t.Definition)),
	}
	if t.Execution != "" {
		fields = append(fields, field("Execution", raw(t.Execution)))
	}
	fields = append(fields, field("Handler", jen.Qual(serverPath, "Bind").Call(jen.Id(t.Input.Decode), method(pkg, t), codec(pkg, t))))
	if t.Cancel != (model.CancelPolicy{}) {
		fields = append(fields, field("Cancel", jen.Id(t.Ident+"Cancel")))
	}
	if t.Task.Support != model.TaskForbidden {
		fields = append(fields, field("Task", jen.Id(t.Ident+"Task")))
	}
	if before := beforeQuestions(t); len(before) > 0 {
		fields = append(fields, field("Before", jen.Index().Qual(serverPath, "BeforeQuestion").Values(before...)))
	}
	return onLines(fields...)
}

// importOrdersConfirmQuestion.Before()
func beforeQuestions(t *model.Tool) []jen.Code {
	var all []jen.Code
	for _, q := range t.Questions {
		if q.BeforeTask {
			all = append(all, jen.Id(q.Ident).Dot("Before").Call())
		}
	}
	return all
}

// method is h.GetQuote, or for a tool with questions a function that gives the call its questions:
//
//	func(ctx context.Context, call *server.Call, in *ImportOrdersInput) (*ImportOrdersOutput, error) {
//		return h.ImportOrders(ctx, &ImportOrdersCall{call}, in)
//	}
func method(pkg *model.Package, t *model.Tool) jen.Code {
	if t.Call == "" {
		return jen.Id("h").Dot(t.GoName)
	}
	return jen.Func().Params(
		jen.Id("ctx").Qual("context", "Context"),
		jen.Id("call").Op("*").Qual(serverPath, "Call"),
		jen.Id("in").Op("*").Id(t.Input.Name),
	).Params(jen.Op("*").Id(outputName(pkg, t)), jen.Error()).Block(
		jen.Return(jen.Id("h").Dot(t.GoName).Call(jen.Id("ctx"), jen.Op("&").Id(t.Call).Values(jen.Id("call")), jen.Id("in"))))
}

// server.Structured(appendGetQuoteOutput, decodeGetQuoteOutput) or server.Unstructured(appendCallToolResult)
func codec(pkg *model.Package, t *model.Tool) jen.Code {
	if t.Output == nil {
		return jen.Qual(serverPath, "Unstructured").Call(jen.Id(pkg.Result.Append))
	}
	return jen.Qual(serverPath, "Structured").Call(jen.Id(t.Output.Append), jen.Id(t.Output.Decode))
}
