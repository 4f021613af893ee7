package emit

import (
	"slices"
	"strconv"
	"strings"

	"github.com/mcpkiln/mcpkiln/generator/internal/model"
)

// handlersFile emits the interface Handlers, which the user implements, the function New, which takes them, and TextResult where tools return content.
func handlersFile(pkg *model.Package) ([]File, error) {
	s := &source{}
	s.line()
	s.handlersInterface(pkg)
	s.line()
	s.constructor(pkg)
	if pkg.Result != nil && pkg.Result.Text.Block != "" {
		s.line()
		s.textResult(pkg.Result)
	}
	return one("handlers.gen.go", s.file(Header, pkg.Name), nil)
}

// // Handlers is what you write: one method for each tool. …
//
//	type Handlers interface {
//		// GetQuote answers get_quote: Latest price for one symbol.
//		//
//		// It runs inline only. An inline call ends after 5s.
//		GetQuote(ctx context.Context, call *server.Call, in *GetQuoteInput) (*GetQuoteOutput, error)
//	}
func (s *source) handlersInterface(pkg *model.Package) {
	doc := "Handlers is what you write: one method for each tool. Inputs have been checked against the tool's " +
		"schema. A plain error becomes a tool result that the model can read, an *rpc.Error a protocol error. Methods are called concurrently."
	if len(pkg.Methods) > 0 {
		doc += " The other requests of the protocol follow the tools; there every error is a protocol error."
	}
	if len(pkg.Entries) > 0 {
		doc += " Methods for prompts, resources and completions come last: their inputs have been checked, too, and their errors are protocol errors."
	}
	s.comment(doc)
	if len(pkg.Tools)+len(pkg.Methods)+len(pkg.NoticesTaken)+len(pkg.Entries) == 0 {
		s.line("type Handlers interface{}")
		return
	}
	s.open("type Handlers interface {")
	first := true
	method := func(doc []string, signature string) {
		if !first {
			s.line()
		}
		first = false
		s.comment(doc...)
		s.line(signature)
	}
	for _, t := range pkg.Tools {
		method(methodDoc(t), s.signature(pkg, t))
	}
	for _, m := range pkg.Methods {
		method(messageDoc(m.GoName+" answers the request "+m.Name, m.Doc), s.methodSignature(m))
	}
	for _, n := range pkg.NoticesTaken {
		method(messageDoc(n.GoName+" takes the notification "+n.Name, n.Doc), s.noticeSignature(n))
	}
	for _, h := range pkg.Entries {
		doc := h.Doc
		if len(h.Policy) > 0 {
			doc = append(slices.Clip(doc), "", strings.Join(h.Policy, " "))
		}
		method(doc, s.entrySignature(h))
	}
	s.close("}")
}

func messageDoc(what string, doc []string) []string {
	if len(doc) == 0 {
		return []string{what + "."}
	}
	return append([]string{what + ": " + doc[0]}, doc[1:]...)
}

// ReportsSeen(ctx context.Context, from *server.Notice, params *ReportsSeenParams) error
func (s *source) noticeSignature(n *model.NoticeHandler) string {
	return n.GoName + "(ctx " + s.use("context", "Context") + ", from *" + s.use(serverPath, "Notice") + ", params *" + n.Params.Name + ") error"
}

func methodDoc(t *model.Tool) []string {
	doc := []string{t.GoName + " answers " + t.Name + "."}
	if len(t.Doc) > 0 {
		doc = append([]string{t.GoName + " answers " + t.Name + ": " + t.Doc[0]}, t.Doc[1:]...)
	}
	return append(doc, "", strings.Join(t.Policy, " "))
}

// GetQuote(ctx context.Context, call *server.Call, in *GetQuoteInput) (*GetQuoteOutput, error)
func (s *source) signature(pkg *model.Package, t *model.Tool) string {
	call := t.Call
	if call == "" {
		call = s.use(serverPath, "Call")
	}
	return t.GoName + "(ctx " + s.use("context", "Context") + ", call *" + call + ", in *" + t.Input.Name + ") (*" + outputName(pkg, t) + ", error)"
}

// ListPrompts(ctx context.Context, call *server.Call, params *PaginatedRequestParams) (*ListPromptsResult, error)
func (s *source) methodSignature(m *model.MethodHandler) string {
	answer := "error"
	if m.Result.Name != "" {
		answer = "(*" + m.Result.Name + ", error)"
	}
	return m.GoName + "(ctx " + s.use("context", "Context") + ", call *" + s.use(serverPath, "Call") + ", params *" + m.Params.Name + ") " + answer
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
//			Name: "reports", Version: "1.4.0", Runtime: server.Generation1,
//			Tools: tools(h),
//			Revisions: []*wire.Revision{&wire20251125},
//		}, opts...)
//	}
func (s *source) constructor(pkg *model.Package) {
	fields := []row{{"Name", strconv.Quote(pkg.Server.Name)}}
	for _, optional := range []struct{ name, text string }{
		{"Title", pkg.Server.Title}, {"Version", pkg.Server.Version}, {"Instructions", pkg.Server.Instructions},
	} {
		if optional.text != "" {
			fields = append(fields, row{optional.name, strconv.Quote(optional.text)})
		}
	}
	if pkg.Server.Info != "" {
		fields = append(fields, row{"Info", goString(pkg.Server.Info)})
	}
	wires := make([]string, len(pkg.Wires))
	for i, w := range pkg.Wires {
		wires[i] = "&wire" + w.Suffix
	}
	fields = append(fields, row{"Runtime", s.use(serverPath, "Generation1")}, row{"Tools", "tools(h)"})
	if pkg.AddedTasks != nil {
		fields = append(fields, row{"AddedTasks", "&" + s.taskPolicy(pkg.AddedTasks)})
	}
	if len(pkg.Methods) > 0 {
		fields = append(fields, row{"Methods", "methods(h)"})
	}
	if len(pkg.NoticesTaken) > 0 {
		fields = append(fields, row{"Notices", "notices(h)"})
	}
	for _, table := range []struct {
		field, name string
		n           int
	}{{"Prompts", "prompts", len(pkg.Prompts)}, {"Resources", "resources", len(pkg.Resources)}, {"Templates", "resourceTemplates", len(pkg.Templates)}} {
		if table.n > 0 {
			fields = append(fields, row{table.field, table.name + "(h)"})
		}
	}
	fields = append(fields, row{"Revisions", "[]*" + s.use(wirePath, "Revision") + "{" + strings.Join(wires, ", ") + "}"})
	s.comment("New returns a server that calls h. If server.Generation1 is undefined or refused, the runtime and this package " +
		"are of different generations: upgrade github.com/mcpkiln/mcpkiln, or run mcpkiln generate.")
	s.open("func New(h Handlers, opts ...", s.use(serverPath, "Option"), ") (*", s.use(serverPath, "Server"), ", error) {")
	s.open("return ", s.use(serverPath, "New"), "(", s.use(serverPath, "Definition"), "{")
	s.fields(fields)
	s.close("}, opts...)")
	s.close("}")
}

// // TextResult is a tool result of one text.
//
//	func TextResult(text string) *CallToolResult {
//		return &CallToolResult{Content: []ContentBlock{&TextContent{Text: text}}}
//	}
func (s *source) textResult(r *model.Result) {
	s.comment("TextResult is a tool result of one text.")
	s.open("func TextResult(text string) *", r.Name, " {")
	s.line("return &", r.Name, "{", r.Text.Content, ": []", r.Text.Blocks, "{&", r.Text.Block, "{", r.Text.Text, ": text}}}")
	s.close("}")
}
