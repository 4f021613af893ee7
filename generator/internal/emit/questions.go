package emit

import (
	"strconv"

	"github.com/mcpkiln/mcpkiln/generator/internal/model"
)

// questionsFile emits, for each handler that asks, its call type, the methods that ask, and the questions.
func questionsFile(pkg *model.Package) ([]File, error) {
	s := &source{}
	for _, a := range askers(pkg) {
		s.line()
		s.callType(a)
		for _, q := range a.Questions {
			s.line()
			s.askMethod(a, q)
			s.line()
			s.questionVar(pkg, q)
		}
	}
	if len(s.b) == 0 {
		return nil, nil
	}
	return one("questions.gen.go", s.file(Header, pkg.Name), nil)
}

// askers are the handlers in pkg that have questions. Handlers of tools that are divided over parts belong to the parts.
func askers(pkg *model.Package) (all []*model.Asker) {
	add := func(a *model.Asker) {
		if a.Call != "" {
			all = append(all, a)
		}
	}
	if pkg.Parts == nil {
		for _, t := range pkg.Tools {
			add(&t.Asker)
		}
	}
	for _, h := range pkg.Entries {
		add(&h.Asker)
	}
	return all
}

// // ImportOrdersCall is a call of import_orders, with its questions.
// type ImportOrdersCall struct{ *server.Call }
func (s *source) callType(a *model.Asker) {
	s.callDoc(a)
	s.line("type ", a.Call, " struct{ *", s.use(serverPath, "Call"), " }")
}

func (s *source) callDoc(a *model.Asker) {
	s.comment(a.Call + " is a call of " + a.Of + ", with its questions.")
}

// // ConfirmOverwrite asks the user …
//
//	func (c *ImportOrdersCall) ConfirmOverwrite(ctx context.Context, message string, opts ...server.AskOption) (server.Answer[ImportOrdersConfirmOverwrite], error) {
//		return server.Ask(ctx, c.Call, &importOrdersConfirmOverwriteQuestion, message, opts...)
//	}
func (s *source) askMethod(a *model.Asker, q *model.Question) {
	s.comment(q.Doc...)
	s.open("func (c *", a.Call, ") ", q.GoName, "(ctx ", s.use("context", "Context"), ", message string, opts ...", s.use(serverPath, "AskOption"), ") (",
		s.use(serverPath, "Answer"), "[", q.Answer.Name, "], error) {")
	s.line("return ", s.use(serverPath, "Ask"), "(ctx, c.Call, &", q.Ident, ", message, opts...)")
	s.close("}")
}

//	var importOrdersConfirmOverwriteQuestion = server.Question[ImportOrdersConfirmOverwrite]{
//		Name: "confirmOverwrite",
//		…
//	}
func (s *source) questionVar(pkg *model.Package, q *model.Question) {
	fields := []row{{"Name", strconv.Quote(q.Name)}, {"Message", strconv.Quote(q.Message)}, {"Schema", "`" + q.Schema + "`"}}
	if q.Timeout != 0 {
		fields = append(fields, row{"Timeout", s.durationCode(q.Timeout)})
	}
	if name := onUnsupportedName(q.OnUnsupported); name != "" {
		fields = append(fields, row{"OnUnsupported", s.use(serverPath, name)})
	}
	fields = append(fields, row{"Decode", s.function(pkg, q.Answer.Decode)})
	if q.Default != nil {
		fields = append(fields, row{"Default", s.literal(q.Default)})
	}
	s.open("var ", q.Ident, " = ", s.use(serverPath, "Question"), "[", q.Answer.Name, "]{")
	s.fields(fields)
	s.close("}")
}

func onUnsupportedName(u model.OnUnsupported) string {
	switch u {
	case model.Decline:
		return "Decline"
	case model.UseDefault:
		return "UseDefault"
	default:
		return "" // Fail is the zero value
	}
}
