package emit

import (
	"strconv"
	"strings"

	"github.com/mcpkiln/mcpkiln/generator/internal/model"
	"github.com/mcpkiln/mcpkiln/templates"
)

// clientDoc is the data of client.tmpl.
type clientDoc struct {
	Name, Header string
	Intro        []string
	Tools        []string // one item of a list each
	Tasks        bool     // a tool may run as a task
	Content      bool     // a tool returns content
	Example      string   // the method of a tool, and its input type
	ExampleInput string
}

// clientDocFile emits the doc of a client.
func clientDocFile(pkg *model.Package) ([]File, error) {
	doc := clientDoc{
		Name:   pkg.Name,
		Header: Header,
		Intro:  commentLines("Package " + pkg.Name + " calls the tools of the MCP server " + pkg.Server.Name + ", as " + pkg.Manifest + " describes them."),
	}
	for _, t := range pkg.Tools {
		item := t.Name + ": Client." + t.GoName
		if mayBeTask(t) {
			item += ", Client.Resume" + t.GoName
		}
		doc.Tools = append(doc.Tools, listItem(item))
		doc.Tasks = doc.Tasks || mayBeTask(t)
		doc.Content = doc.Content || t.Output == nil
		if doc.Example == "" && !mayBeTask(t) {
			doc.Example, doc.ExampleInput = t.GoName, t.Input.Name
		}
	}
	text, err := templates.Execute("client.tmpl", doc)
	return one("doc.gen.go", []byte(text), err)
}

// mayBeTask reports whether calls of a tool may be tasks.
func mayBeTask(t *model.Tool) bool { return t.Task.Support != model.TaskForbidden }

// schemaDocFile emits the doc of the package that server and client share.
func schemaDocFile(pkg *model.Package) ([]File, error) {
	doc := commentLines("Package " + pkg.Name + " has the types of the tools of " + pkg.Server.Name + ", and functions that read, check and write them. " +
		"The packages of the server and of its client have names for what is in here: use those.")
	return one("doc.gen.go", []byte(Header+"\n\n"+strings.Join(doc, "\n")+"\npackage "+pkg.Name+"\n"), nil)
}

// clientTypesFile emits the client's aliases of the types of its tools.
func clientTypesFile(pkg *model.Package) ([]File, error) {
	s := &source{}
	for _, d := range pkg.Decls {
		s.aliasFrom(pkg.Shared, d)
	}
	if len(s.b) == 0 {
		return nil, nil
	}
	return one("types.gen.go", s.file(Header, pkg.Name), nil)
}

// clientFile emits the client with a method for each tool, and the variables that describe the tools.
func clientFile(pkg *model.Package) ([]File, error) {
	s := &source{}
	s.clientType(pkg)
	for _, t := range pkg.Tools {
		s.line()
		s.toolVar(pkg, t)
		s.line()
		s.callMethod(t)
		if mayBeTask(t) {
			s.line()
			s.resumeMethod(t)
		}
	}
	return one("client.gen.go", s.file(Header, pkg.Name), nil)
}

// // Client calls the tools of reports. Its methods are safe for concurrent use.
//
//	type Client struct{ session *client.Session }
//
//	// New returns a client that calls over a session. …
//	func New(session *client.Session) *Client {
//		session.Expect(client.Generation1,
//			getQuoteTool.Definition,
//		)
//		return &Client{session}
//	}
func (s *source) clientType(pkg *model.Package) {
	session := "*" + s.use(clientPath, "Session")
	s.line()
	s.comment("Client calls the tools of " + pkg.Server.Name + ". Its methods are safe for concurrent use.")
	s.line("type Client struct{ session ", session, " }")
	s.line()
	s.comment("New returns a client that calls over a session. What the server says of its tools is compared with what is known of them here: " +
		"see client.Session.Expect. If client.Generation1 is undefined, upgrade github.com/mcpkiln/mcpkiln.")
	s.open("func New(session ", session, ") *Client {")
	s.open("session.Expect(", s.use(clientPath, "Generation1"), ",")
	for _, t := range pkg.Tools {
		s.line(t.Var, ".Definition,")
	}
	s.close(")")
	s.line("return &Client{session}")
	s.close("}")
}

//	var getQuoteTool = client.Tool[GetQuoteInput, GetQuoteOutput]{
//		Name:         "get_quote",
//		Definition:   `{"name":"get_quote",…}`,
//		AppendInput:  schema.AppendGetQuoteInput,
//		CheckInput:   schema.DecodeGetQuoteInput,
//		DecodeOutput: schema.DecodeGetQuoteOutput,
//	}
func (s *source) toolVar(pkg *model.Package, t *model.Tool) {
	fields := []row{
		{"Name", strconv.Quote(t.Name)}, {"Definition", "`" + t.Definition + "`"},
		{"AppendInput", s.function(pkg, t.Input.Append)}, {"CheckInput", s.function(pkg, t.Input.Decode)},
	}
	if t.Output != nil {
		fields = append(fields, row{"DecodeOutput", s.function(pkg, t.Output.Decode)})
	}
	s.open("var ", t.Var, " = ", s.use(clientPath, "Tool"), "[", t.Input.Name, ", ", s.answer(t), "]{")
	s.fields(fields)
	s.close("}")
}

// answer is the type of a tool's output, or of the protocol's tool result if the tool has no outputSchema.
func (s *source) answer(t *model.Tool) string {
	if t.Output == nil {
		return s.use(clientPath, "ToolResult")
	}
	return t.Output.Name
}

// // GetQuote calls get_quote: Latest price for one symbol.
//
//	func (c *Client) GetQuote(ctx context.Context, in *GetQuoteInput, opts ...client.CallOption) (*GetQuoteOutput, error) {
//		return getQuoteTool.Call(ctx, c.session, in, opts...)
//	}
func (s *source) callMethod(t *model.Tool) {
	does, verb, answer := t.GoName+" calls "+t.Name, "Call", s.answer(t)
	if mayBeTask(t) {
		does, verb, answer = t.GoName+" starts "+t.Name, "Start", s.use(clientPath, "Execution")+"["+answer+"]"
	}
	if len(t.Doc) > 0 {
		s.comment(append([]string{does + ": " + t.Doc[0]}, t.Doc[1:]...)...)
	} else {
		s.comment(does + ".")
	}
	s.open("func (c *Client) ", t.GoName, "(ctx ", s.use("context", "Context"), ", in *", t.Input.Name, s.callOptions(), ") (*", answer, ", error) {")
	s.line("return ", t.Var, ".", verb, "(ctx, c.session, in, opts...)")
	s.close("}")
}

func (s *source) callOptions() string { return ", opts ..." + s.use(clientPath, "CallOption") }

// // ResumeBuildReport follows a task of BuildReport, which another process may have started.
//
//	func (c *Client) ResumeBuildReport(ctx context.Context, ref client.Ref, opts ...client.CallOption) (*client.Execution[BuildReportOutput], error) {
//		return buildReportTool.Resume(ctx, c.session, ref, opts...)
//	}
func (s *source) resumeMethod(t *model.Tool) {
	s.comment("Resume" + t.GoName + " follows a task of " + t.GoName + ", which another process may have started.")
	s.open("func (c *Client) Resume", t.GoName, "(ctx ", s.use("context", "Context"), ", ref ", s.use(clientPath, "Ref"), s.callOptions(),
		") (*", s.use(clientPath, "Execution"), "[", s.answer(t), "], error) {")
	s.line("return ", t.Var, ".Resume(ctx, c.session, ref, opts...)")
	s.close("}")
}
