package emit

import (
	"slices"
	"strconv"
	"strings"

	"github.com/mcpkiln/mcpkiln/generator/internal/model"
)

// toolsFile emits the table of tools. It is one literal, so that a new tool is one hunk.
//
//	// tools are the tools that h answers, in the manifest's order. …
//	func tools(h Handlers) []server.Tool {
//		return []server.Tool{
//			{…},
//		}
//	}
func toolsFile(pkg *model.Package) ([]File, error) {
	s := sized(len(pkg.Tools) * 1024)
	s.line()
	name := ifElse(pkg.Dir == "", "tools", "Tools")
	s.comment(name + " are the tools that h answers, in the manifest's order. A definition is what tools/list shows.")
	tool := s.use(serverPath, "Tool")
	s.open("func ", name, "(h Handlers) []", tool, " {")
	if len(pkg.Tools) == 0 {
		s.line("return []", tool, "{}")
	} else {
		s.open("return []", tool, "{")
		for _, t := range pkg.Tools {
			s.open("{")
			s.fields(s.toolEntry(pkg, t))
			s.close("},")
		}
		s.close("}")
	}
	s.close("}")
	return one("tools.gen.go", s.file(Header, pkg.Name), nil)
}

//	{
//		Name: "get_quote",
//		Definition: `{"name":"get_quote",…}`,
//		Handler: server.Bind(decodeGetQuoteInput, h.GetQuote, server.Structured(appendGetQuoteOutput, decodeGetQuoteOutput)),
//		Cancel: server.CancelPolicy{Timeout: 5 * time.Second},
//		Task: server.TaskPolicy{Support: server.TaskRequired, TTL: 2 * time.Hour},
//	}
func (s *source) toolEntry(pkg *model.Package, t *model.Tool) []row {
	fields := []row{{"Name", strconv.Quote(t.Name)}, {"Definition", "`" + t.Definition + "`"}}
	if t.Execution != "" {
		fields = append(fields, row{"Execution", "`" + t.Execution + "`"})
	}
	fields = append(fields, row{"Handler", s.use(serverPath, "Bind") + "(" + s.function(pkg, t.Input.Decode) + ", " + s.toolMethod(pkg, t) + ", " + s.codec(pkg, t) + ")"})
	if t.Cancel != (model.CancelPolicy{}) {
		fields = append(fields, row{"Cancel", s.cancelPolicy(&t.Cancel)})
	}
	if t.Task.Support != model.TaskForbidden {
		fields = append(fields, row{"Task", s.taskPolicy(&t.Task)})
	}
	if t.MaxConcurrent > 0 {
		fields = append(fields, row{"MaxConcurrent", strconv.Itoa(t.MaxConcurrent)})
	}
	if before := beforeQuestions(t); len(before) > 0 {
		fields = append(fields, row{"Before", "[]" + s.use(serverPath, "BeforeQuestion") + "{" + strings.Join(before, ", ") + "}"})
	}
	if mustAsk(&t.Asker) {
		fields = append(fields, row{"MustAsk", "true"})
	}
	if t.ClientCapabilities != nil {
		fields = append(fields, row{"ClientCapabilities", quotedList(t.ClientCapabilities)})
	}
	return fields
}

// mustAsk reports whether the handler has a question that fails where the client can not be asked.
func mustAsk(a *model.Asker) bool {
	return slices.ContainsFunc(a.Questions, func(q *model.Question) bool { return q.OnUnsupported == model.Fail })
}

// importOrdersConfirmQuestion.Before()
func beforeQuestions(t *model.Tool) []string {
	var all []string
	for _, q := range t.Questions {
		if q.BeforeTask {
			all = append(all, q.Ident+".Before()")
		}
	}
	return all
}

// toolMethod is h.GetQuote, or for a tool with questions a function that gives the call its questions:
//
//	func(ctx context.Context, call *server.Call, in *ImportOrdersInput) (*ImportOrdersOutput, error) {
//		return h.ImportOrders(ctx, &ImportOrdersCall{call}, in)
//	}
func (s *source) toolMethod(pkg *model.Package, t *model.Tool) string {
	if t.Call == "" {
		return "h." + t.GoName
	}
	return "func(ctx " + s.use("context", "Context") + ", call *" + s.use(serverPath, "Call") + ", in *" + t.Input.Name + ") (*" + outputName(pkg, t) + ", error) {\n" +
		"\treturn h." + t.GoName + "(ctx, &" + t.Call + "{call}, in)\n}"
}

// server.Structured(appendGetQuoteOutput, decodeGetQuoteOutput) or server.Unstructured(appendCallToolResult)
func (s *source) codec(pkg *model.Package, t *model.Tool) string {
	if t.Output == nil {
		return s.use(serverPath, "Unstructured") + "(" + s.function(pkg, pkg.Result.Append) + ")"
	}
	return s.use(serverPath, "Structured") + "(" + s.function(pkg, t.Output.Append) + ", " + s.function(pkg, t.Output.Decode) + ")"
}
