package emit

import (
	"github.com/dave/jennifer/jen"

	"github.com/mcpkiln/mcpkiln/generator/internal/model"
)

// handlersFile emits what the user implements and the constructor that takes it.
func handlersFile(pkg *model.Package) ([]File, error) {
	f := newFile(pkg)
	f.Add(handlersInterface(pkg))
	f.Line()
	f.Add(constructor(pkg))
	if pkg.Result != nil && pkg.Result.Text.Block != "" {
		f.Line()
		f.Add(textResult(pkg.Result))
	}
	content, err := format(f)
	return one("handlers.gen.go", content, err)
}

// // Handlers is what you write: one method for each tool. …
//
//	type Handlers interface {
//		// GetQuote answers get_quote: Latest price for one symbol.
//		//
//		// It runs inline only. An inline call ends after 5s.
//		GetQuote(ctx context.Context, call *server.Call, in *GetQuoteInput) (*GetQuoteOutput, error)
//	}
func handlersInterface(pkg *model.Package) jen.Code {
	methods := make([]jen.Code, 0, 2*len(pkg.Tools))
	for i, t := range pkg.Tools {
		if i > 0 {
			methods = append(methods, jen.Line())
		}
		methods = append(methods, comment(methodDoc(t)...), signature(pkg, t))
	}
	for _, m := range pkg.Methods {
		if len(methods) > 0 {
			methods = append(methods, jen.Line())
		}
		methods = append(methods, comment(m.GoName+" answers the request "+m.Name+"."), methodSignature(m))
	}
	doc := "Handlers is what you write: one method for each tool. Inputs have been checked against the tool's " +
		"schema. A plain error becomes a tool result that the model can read, an *rpc.Error a protocol error. Methods are called concurrently."
	if len(pkg.Methods) > 0 {
		doc += " The other requests of the protocol follow the tools; there every error is a protocol error."
	}
	return jen.Add(comment(doc)).Line().Type().Id("Handlers").Interface(methods...)
}

func methodDoc(t *model.Tool) []string {
	doc := []string{t.GoName + " answers " + t.Name + "."}
	if len(t.Doc) > 0 {
		doc = append([]string{t.GoName + " answers " + t.Name + ": " + t.Doc[0]}, t.Doc[1:]...)
	}
	doc = append(doc, "")
	policy := ""
	for _, sentence := range t.Policy {
		policy += sentence + " "
	}
	return append(doc, policy)
}

// GetQuote(ctx context.Context, call *server.Call, in *GetQuoteInput) (*GetQuoteOutput, error)
func signature(pkg *model.Package, t *model.Tool) *jen.Statement {
	call := jen.Qual(serverPath, "Call")
	if t.Call != "" {
		call = jen.Id(t.Call)
	}
	return jen.Id(t.GoName).Params(
		jen.Id("ctx").Qual("context", "Context"),
		jen.Id("call").Op("*").Add(call),
		jen.Id("in").Op("*").Id(t.Input.Name),
	).Params(jen.Op("*").Id(outputName(pkg, t)), jen.Error())
}

func outputName(pkg *model.Package, t *model.Tool) string {
	if t.Output != nil {
		return t.Output.Name
	}
	return pkg.Result.Name
}

// // New returns a server that calls h. …
//
//	func New(h Handlers, opts ...server.Option) (*server.Server, error) {
//		return server.New(server.Definition{
//			Name: "reports",
//			Version: "1.4.0",
//			Runtime: server.Generation1,
//			Tools: tools(h),
//			Wires: []*server.Wire{&wire20251125},
//		}, opts...)
//	}
func constructor(pkg *model.Package) jen.Code {
	fields := []jen.Code{field("Name", jen.Lit(pkg.Server.Name))}
	for _, optional := range []struct{ name, text string }{
		{"Title", pkg.Server.Title}, {"Version", pkg.Server.Version}, {"Instructions", pkg.Server.Instructions},
	} {
		if optional.text != "" {
			fields = append(fields, field(optional.name, jen.Lit(optional.text)))
		}
	}
	var extra []jen.Code
	if len(pkg.Methods) > 0 {
		extra = append(extra, field("Methods", jen.Id("methods").Call(jen.Id("h"))))
	}
	wires := make([]jen.Code, len(pkg.Wires))
	for i, w := range pkg.Wires {
		wires[i] = jen.Op("&").Id("wire" + w.Suffix)
	}
	fields = append(fields,
		field("Runtime", jen.Qual(serverPath, "Generation1")),
		field("Tools", jen.Id("tools").Call(jen.Id("h"))))
	fields = append(fields, extra...)
	fields = append(fields, field("Wires", jen.Index().Op("*").Qual(serverPath, "Wire").Values(wires...)))
	return jen.Add(comment("New returns a server that calls h. If server.Generation1 is undefined or refused, the runtime and this package "+
		"are of different generations: upgrade github.com/mcpkiln/mcpkiln, or run mcpkiln generate.")).Line().
		Func().Id("New").Params(jen.Id("h").Id("Handlers"), jen.Id("opts").Op("...").Qual(serverPath, "Option")).
		Params(jen.Op("*").Qual(serverPath, "Server"), jen.Error()).
		Block(jen.Return(jen.Qual(serverPath, "New").Call(
			jen.Qual(serverPath, "Definition").Add(onLines(fields...)), jen.Id("opts").Op("..."))))
}

// // TextResult is a result of one text.
//
//	func TextResult(text string) *CallToolResult {
//		return &CallToolResult{Content: []ContentBlock{&TextContent{Text: text}}}
//	}
func textResult(r *model.Result) jen.Code {
	block := jen.Op("&").Id(r.Text.Block).Values(field(r.Text.Text, jen.Id("text")))
	return jen.Add(comment("TextResult is a tool result of one text.")).Line().
		Func().Id("TextResult").Params(jen.Id("text").String()).Op("*").Id(r.Name).
		Block(jen.Return(jen.Op("&").Id(r.Name).Values(
			field(r.Text.Content, jen.Index().Id(r.Text.Blocks).Values(block)))))
}
