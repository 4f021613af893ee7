package emit

import (
	"strconv"
	"strings"

	"github.com/mcpkiln/mcpkiln/generator/internal/model"
)

// questionsFile emits, for each tool that asks, its call type, the methods that ask, and the questions.
func questionsFile(pkg *model.Package) ([]File, error) {
	if !pkg.Needs.Questions {
		return nil, nil
	}
	s := &source{}
	imports := map[string]bool{}
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
			s.questionVar(q, imports)
		}
	}
	paths := []string{"context"}
	for _, path := range []string{"time", checkPath} {
		if imports[path] {
			paths = append(paths, path)
		}
	}
	return one("questions.gen.go", s.importing(header(pkg), pkg.Name, append(paths, serverPath)...), nil)
}

// // ImportOrdersCall is a call of import_orders, with its questions.
// type ImportOrdersCall struct{ *server.Call }
func (s *source) callType(t *model.Tool) {
	s.callDoc(t)
	s.line("type ", t.Call, " struct{ *server.Call }")
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
	s.open("func (c *", t.Call, ") ", q.GoName, "(ctx context.Context, message string, opts ...server.AskOption) (server.Answer[", q.Answer.Name, "], error) {")
	s.line("return server.Ask(ctx, c.Call, &", q.Ident, ", message, opts...)")
	s.close("}")
}

//	var importOrdersConfirmOverwriteQuestion = server.Question[ImportOrdersConfirmOverwrite]{
//		Name: "confirmOverwrite",
//		…
//	}
func (s *source) questionVar(q *model.Question, imports map[string]bool) {
	fields := []row{{"Name", strconv.Quote(q.Name)}, {"Message", strconv.Quote(q.Message)}, {"Schema", "`" + q.Schema + "`"}}
	if q.Timeout != 0 {
		fields = append(fields, row{"Timeout", durationCode(q.Timeout)})
		imports["time"] = true
	}
	if fallback := fallbackName(q.OnUnsupported); fallback != "" {
		fields = append(fields, row{"OnUnsupported", "server." + fallback})
	}
	fields = append(fields, row{"Decode", q.Answer.Decode})
	if q.Default != nil {
		text := goLiteral(q.Default)
		fields = append(fields, row{"Default", text})
		imports[checkPath] = imports[checkPath] || strings.Contains(text, "check.")
	}
	s.open("var ", q.Ident, " = server.Question[", q.Answer.Name, "]{")
	s.fields(fields)
	s.close("}")
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
