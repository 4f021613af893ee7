package emit

import (
	"strconv"

	"github.com/mcpkiln/mcpkiln/generator/internal/model"
)

// questionsFile emits, for each tool that asks, its call type, the methods that ask, and the questions.
func questionsFile(pkg *model.Package) ([]File, error) {
	if !pkg.Needs.Questions {
		return nil, nil
	}
	s := &source{}
	for _, t := range pkg.Tools {
		if t.Call == "" {
			continue
		}
		s.line()
		s.callType(t)
		for _, q := range t.Questions {
			s.line()
			s.askMethod(t, q)
			s.line()
			s.questionVar(pkg, q)
		}
	}
	return one("questions.gen.go", s.file(Header, pkg.Name), nil)
}

// // ImportOrdersCall is a call of import_orders, with its questions.
// type ImportOrdersCall struct{ *server.Call }
func (s *source) callType(t *model.Tool) {
	s.callDoc(t)
	s.line("type ", t.Call, " struct{ *", s.use(serverPath, "Call"), " }")
}

func (s *source) callDoc(t *model.Tool) {
	s.comment(t.Call + " is a call of " + t.Name + ", with its questions.")
}

// // ConfirmOverwrite asks the user …
//
//	func (c *ImportOrdersCall) ConfirmOverwrite(ctx context.Context, message string, opts ...server.AskOption) (server.Answer[ImportOrdersConfirmOverwrite], error) {
//		return server.Ask(ctx, c.Call, &importOrdersConfirmOverwriteQuestion, message, opts...)
//	}
func (s *source) askMethod(t *model.Tool, q *model.Question) {
	s.comment(q.Doc...)
	s.open("func (c *", t.Call, ") ", q.GoName, "(ctx ", s.use("context", "Context"), ", message string, opts ...", s.use(serverPath, "AskOption"), ") (",
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
