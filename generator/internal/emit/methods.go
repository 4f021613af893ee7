package emit

import (
	"github.com/dave/jennifer/jen"

	"github.com/mcpkiln/mcpkiln/generator/internal/model"
)

// methodsFile emits the requests beside tools: those that h answers, and those that tools send.
func methodsFile(pkg *model.Package) ([]File, error) {
	if len(pkg.Methods)+len(pkg.Sends) == 0 {
		return nil, nil
	}
	f := newFile(pkg)
	if len(pkg.Methods) > 0 {
		f.Add(methodTable(pkg))
	}
	for _, s := range pkg.Sends {
		f.Line()
		f.Add(sendFunc(s))
		f.Line()
		f.Add(sendVar(s))
	}
	content, err := format(f)
	return one("methods.gen.go", content, err)
}

// // methods are the requests beside tools that h answers.
//
//	func methods(h Handlers) []server.MethodHandler {
//		return []server.MethodHandler{
//			server.BindMethod("prompts/list", decodePaginatedRequestParams, h.ListPrompts, appendListPromptsResult),
//		}
//	}
func methodTable(pkg *model.Package) jen.Code {
	entries := make([]jen.Code, len(pkg.Methods))
	for i, m := range pkg.Methods {
		entries[i] = methodEntry(m)
	}
	return jen.Add(comment("methods are the requests beside those for tools that h answers, sorted by name.")).Line().
		Func().Id("methods").Params(jen.Id("h").Id("Handlers")).Index().Qual(serverPath, "MethodHandler").
		Block(jen.Return(jen.Index().Qual(serverPath, "MethodHandler").Add(onLines(entries...))))
}

// server.BindMethod("prompts/list", decodePaginatedRequestParams, h.ListPrompts, appendListPromptsResult), or
// server.BindAck("resources/subscribe", decodeSubscribeRequestParams, h.Subscribe) where there is nothing to answer
func methodEntry(m *model.MethodHandler) jen.Code {
	args := []jen.Code{jen.Lit(m.Name), jen.Id(m.Params.Decode), jen.Id("h").Dot(m.GoName)}
	if m.Result.Name == "" {
		return jen.Qual(serverPath, "BindAck").Call(args...)
	}
	args = append(args, jen.Id(m.Result.Append))
	for _, v := range m.Views {
		args = append(args, view(m.Result, v))
	}
	return jen.Qual(serverPath, "BindMethod").Call(args...)
}

// server.View[ListPromptsResult]{Revision: "2025-11-25", Append: appendListPromptsResult20251125}
func view(of model.TypeRef, v model.View) jen.Code {
	return jen.Qual(serverPath, "View").Types(jen.Id(of.Name)).Values(
		field("Revision", jen.Lit(v.Revision)), field("Append", jen.Id(v.Append)))
}

// methodSignature is one method of Handlers:
//
//	ListPrompts(ctx context.Context, call *server.Call, params *PaginatedRequestParams) (*ListPromptsResult, error)
func methodSignature(m *model.MethodHandler) *jen.Statement {
	s := jen.Id(m.GoName).Params(
		jen.Id("ctx").Qual("context", "Context"),
		jen.Id("call").Op("*").Qual(serverPath, "Call"),
		jen.Id("params").Op("*").Id(m.Params.Name))
	if m.Result.Name == "" {
		return s.Error()
	}
	return s.Params(jen.Op("*").Id(m.Result.Name), jen.Error())
}

// // CreateMessage sends sampling/createMessage to the client and waits for its answer. …
//
//	func CreateMessage(ctx context.Context, call *server.Call, name string, params *CreateMessageRequestParams) (*CreateMessageResult, error) {
//		return server.Request(ctx, call, &createMessageRequest, name, params)
//	}
func sendFunc(s *model.Send) jen.Code {
	params := []jen.Code{jen.Id("ctx").Qual("context", "Context"), jen.Id("call").Op("*").Qual(serverPath, "Call"), jen.Id("name").String()}
	var value jen.Code = jen.Nil()
	if s.Params.Name != "" {
		_, union := s.Params.Decl.Body.(*model.Union)
		of, arg := jen.Op("*").Id(s.Params.Name), jen.Id("params")
		if union { // an interface is taken as it is
			of, arg = jen.Id(s.Params.Name), jen.Op("&").Id("params")
		}
		params, value = append(params, jen.Id("params").Add(of)), arg
	}
	return jen.Add(comment(s.GoName+" sends "+s.Name+" to the client and waits for its answer. The name tells this request from others of the "+
		"same call: where the handler is run again, the answer that came is returned at once.")).Line().
		Func().Id(s.GoName).Params(params...).Params(jen.Op("*").Id(s.Result.Name), jen.Error()).Block(
		jen.Return(jen.Qual(serverPath, "Request").Call(jen.Id("ctx"), jen.Id("call"), jen.Op("&").Id(s.Var), jen.Id("name"), value)))
}

//	var createMessageRequest = server.ClientRequest[CreateMessageRequestParams, CreateMessageResult]{
//		Op:     server.OpCreateMessage,
//		Append: appendCreateMessageRequestParams,
//		Decode: decodeCreateMessageResult,
//	}
func sendVar(s *model.Send) jen.Code {
	fields := []jen.Code{field("Op", jen.Qual(serverPath, "Op"+s.Op))}
	params := jen.Struct()
	if s.Params.Name != "" {
		params = jen.Id(s.Params.Name)
		fields = append(fields, field("Append", jen.Id(s.Params.Append)))
	}
	if len(s.Views) > 0 {
		views := make([]jen.Code, len(s.Views))
		for i, v := range s.Views {
			views[i] = jen.Values(field("Revision", jen.Lit(v.Revision)), field("Append", jen.Id(v.Append)))
		}
		fields = append(fields, field("Views", jen.Index().Qual(serverPath, "View").Types(jen.Id(s.Params.Name)).Values(views...)))
	}
	fields = append(fields, field("Decode", jen.Id(s.Result.Decode)))
	return jen.Var().Id(s.Var).Op("=").Qual(serverPath, "ClientRequest").Types(params, jen.Id(s.Result.Name)).Add(onLines(fields...))
}
