package emit

import (
	"github.com/dave/jennifer/jen"

	"github.com/mcpkiln/mcpkiln/generator/internal/model"
)

// methodsFile emits the requests beside tools: those that handlers answer, and those that they send; custom notifications, too.
func methodsFile(pkg *model.Package) ([]File, error) {
	if len(pkg.Methods)+len(pkg.Sends)+len(pkg.NoticesSent)+len(pkg.NoticesTaken) == 0 {
		return nil, nil
	}
	f := newFile(pkg)
	if len(pkg.Methods) > 0 {
		f.Add(methodTable(pkg))
	}
	if len(pkg.NoticesTaken) > 0 {
		f.Line()
		f.Add(noticeTable(pkg))
	}
	for _, s := range pkg.Sends {
		f.Line()
		f.Add(sendFunc(s))
		f.Line()
		f.Add(sendVar(pkg, s))
	}
	for _, n := range pkg.NoticesSent {
		f.Line()
		f.Add(noticeFunc(pkg, n))
	}
	content, err := format(f)
	return one("methods.gen.go", content, err)
}

// // methods are the requests beside those for tools that h answers, sorted by name.
//
//	func methods(h Handlers) []server.MethodHandler {
//		return []server.MethodHandler{
//			server.BindMethod("prompts/get", h.GetPrompt,
//				server.MethodCodec[GetPromptRequestParams, GetPromptResult]{Decode: decodeGetPromptRequestParams, Append: appendGetPromptResult, Check: checkSentGetPromptResult}),
//		}
//	}
func methodTable(pkg *model.Package) jen.Code {
	entries := make([]jen.Code, len(pkg.Methods))
	for i, m := range pkg.Methods {
		entries[i] = methodEntry(pkg, m)
	}
	return jen.Add(comment("methods are the requests beside those for tools that h answers, sorted by name.")).Line().
		Func().Id("methods").Params(jen.Id("h").Id("Handlers")).Index().Qual(serverPath, "MethodHandler").
		Block(jen.Return(jen.Index().Qual(serverPath, "MethodHandler").Add(onLines(entries...))))
}

// server.BindMethod("prompts/get", h.GetPrompt, …), or server.BindAck("resources/subscribe", h.Subscribe, …) where the result is
// empty; with a codec for all revisions, and one for each revision that differs.
func methodEntry(pkg *model.Package, m *model.MethodHandler) jen.Code {
	bind, of := "BindMethod", []jen.Code{jen.Id(m.Params.Name), jen.Id(m.Result.Name)}
	if m.Result.Name == "" {
		bind, of[1] = "BindAck", jen.Struct()
	}
	args := []jen.Code{jen.Lit(m.Name), jen.Id("h").Dot(m.GoName)}
	for _, v := range m.Views {
		args = append(args, methodCodec(pkg, of, v, m))
	}
	return jen.Qual(serverPath, bind).Custom(jen.Options{Open: "(", Close: ")", Separator: ",", Multi: true}, args...)
}

// server.MethodCodec[PaginatedRequestParams, ListPromptsResult]{Revision: "2025-11-25", Decode: …, Append: …, Check: …}
func methodCodec(pkg *model.Package, of []jen.Code, v model.View, m *model.MethodHandler) jen.Code {
	fields := codecFields(pkg, v, m.Hidden, m.Params.Decode)
	if m.Custom {
		fields = append(fields, field("DecodeResult", decodeHiding(pkg, m.Hidden, m.Result.Decode)))
	}
	return jen.Qual(serverPath, "MethodCodec").Types(of...).Values(fields...)
}

// Revision: "2026-07-28", Decode: decodeElicitResult, Append: appendElicitRequestParams20260728, Check: checkSentElicitRequestParams
func codecFields(pkg *model.Package, v model.View, hidden, decode string) []jen.Code {
	var fields []jen.Code
	if v.Revision != "" {
		fields = append(fields, field("Revision", jen.Lit(v.Revision)))
	}
	fields = append(fields, field("Decode", decodeHiding(pkg, hidden, decode)))
	if v.Append != "" {
		fields = append(fields, field("Append", function(pkg, v.Append)))
	}
	if v.Check != nil {
		fields = append(fields, field("Check", function(pkg, v.Check.Decode)))
	}
	return fields
}

// // CreateMessage sends sampling/createMessage to the client and waits for its answer. …
//
//	func CreateMessage(ctx context.Context, call server.Asker, name string, params *CreateMessageRequestParams, opts ...server.AskOption) (*CreateMessageResult, error) {
//		return server.Send(ctx, call, &createMessageRequest, name, params, opts...)
//	}
func sendFunc(s *model.Send) jen.Code {
	params := []jen.Code{jen.Id("ctx").Qual("context", "Context"), jen.Id("call").Qual(serverPath, "Asker"), jen.Id("name").String()}
	var value jen.Code = jen.Nil()
	if s.Params.Name != "" {
		_, union := s.Params.Decl.Body.(*model.Union)
		of, arg := jen.Op("*").Id(s.Params.Name), jen.Id("params")
		if union { // the parameter is the interface, not a pointer
			of, arg = jen.Id(s.Params.Name), jen.Op("&").Id("params")
		}
		params, value = append(params, jen.Id("params").Add(of)), arg
	}
	params = append(params, jen.Id("opts").Op("...").Qual(serverPath, "AskOption"))
	declares := "what the params take"
	if s.Extension != "" {
		declares = "the extension " + s.Extension
	}
	doc := s.GoName + " sends " + s.Name + " to the client and waits for its answer. The name tells this request from others of the " +
		"same run, in which it is used once; server.Named(instance) adds what the request is about. Outside of calls, one of the server's " +
		"Sessions takes the place of the call. A client that did not declare " + declares + " makes it a *server.UnsupportedError. " + s.AgainDoc
	lines := []string{doc}
	if len(s.Doc) > 0 {
		lines = append(append(lines, ""), s.Doc...)
	}
	return jen.Add(comment(lines...)).Line().
		Func().Id(s.GoName).Params(params...).Params(jen.Op("*").Id(s.Result.Name), jen.Error()).Block(
		jen.Return(jen.Qual(serverPath, "Send").Call(jen.Id("ctx"), jen.Id("call"), jen.Op("&").Id(s.Var), jen.Id("name"), value, jen.Id("opts").Op("..."))))
}

//	var createMessageRequest = server.ClientRequest[CreateMessageRequestParams, CreateMessageResult]{
//		Op: wire.OpCreateMessage,
//		Codecs: []server.ClientCodec[CreateMessageRequestParams, CreateMessageResult]{
//			{Decode: decodeCreateMessageResult, Append: appendCreateMessageRequestParams, Check: checkSentCreateMessageRequestParams},
//		},
//	}
func sendVar(pkg *model.Package, s *model.Send) jen.Code {
	of := []jen.Code{jen.Struct(), jen.Id(s.Result.Name)}
	if s.Params.Name != "" {
		of[0] = jen.Id(s.Params.Name)
	}
	var codecs []jen.Code
	head := []jen.Code{field("Op", jen.Qual(wirePath, "Op"+s.Op))}
	for _, v := range s.Views {
		fields := codecFields(pkg, v, s.Hidden, s.Result.Decode)
		if s.Extension != "" {
			fields = append(fields, field("DecodeParams", decodeHiding(pkg, s.Hidden, s.Params.Decode)))
		}
		codecs = append(codecs, jen.Values(fields...))
	}
	if s.Extension != "" {
		head = append(head, field("Method", jen.Lit(s.Name)))
	}
	return jen.Var().Id(s.Var).Op("=").Qual(serverPath, "ClientRequest").Types(of...).Add(onLines(append(head,
		field("Codecs", jen.Index().Qual(serverPath, "ClientCodec").Types(of...).Add(onLines(codecs...))))...))
}
