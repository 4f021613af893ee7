package emit

import (
	"slices"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/mcpkiln/mcpkiln/generator/internal/model"
)

// wireFiles emits one file a revision: the wire's table, then its functions. Those that several revisions have in common stand
// in the file of the first.
func wireFiles(pkg *model.Package) ([]File, error) {
	var files []File
	done := map[*model.WireObject]bool{}
	for _, w := range pkg.Wires {
		f := newFile(pkg)
		f.Add(wireVar(pkg, w))
		for _, code := range slices.Concat(paramsCode(w, done), messagesCode(w)) {
			f.Line()
			f.Add(code)
		}
		content, err := format(f)
		if err != nil {
			return nil, err
		}
		files = append(files, File{w.File, content})
	}
	return files, nil
}

// // wire20251125 describes revision 2025-11-25 to the runtime: …
//
//	var wire20251125 = wire.Revision{
//		Revision: "2025-11-25",
//		…
//	}
func wireVar(pkg *model.Package, w *model.Wire) jen.Code {
	fields := []jen.Code{field("Version", jen.Lit(w.Revision))}
	if w.Handshake {
		fields = append(fields, field("Handshake", jen.True()))
	}
	if w.Batches {
		fields = append(fields, field("Batches", jen.True()))
	}
	fields = append(fields,
		field("Methods", table(wirePath, "Method", w.Methods, methodRow)),
		field("Outgoing", table(wirePath, "Outgoing", w.Outgoing, outgoingRow)))
	if w.Task != nil {
		fields = append(fields, field("Task", taskRules(w.Task)))
	}
	fields = append(fields, field("Capabilities", capabilities(w)))
	if w.ToolExecution != "" {
		fields = append(fields, field("ToolExecution", jen.Lit(w.ToolExecution)))
	}
	for i := range w.Groups {
		fields = append(fields, field(w.Groups[i].Field, wireGroup(&w.Groups[i])))
	}
	fields = append(fields, definitions(w)...)
	for _, m := range w.Messages {
		fields = append(fields, field(m.Field, jen.Id(m.Func)))
	}
	if w.CheckResult != nil {
		fields = append(fields, field("CheckCallResult", function(pkg, w.CheckResult.Decode)))
	}
	if w.AppendResult != "" && w.AppendResult != pkg.Result.Append {
		fields = append(fields, field("AppendOutput", jen.Qual(wirePath, "Output").Call(function(pkg, w.AppendResult))))
	}
	return jen.Add(comment("wire"+w.Suffix+" describes revision "+w.Revision+" to the runtime: methods, task rules, places of capabilities, "+
		"and one function for each message that it reads or writes.")).Line().
		Var().Id("wire"+w.Suffix).Op("=").Qual(wirePath, "Revision").Add(onLines(fields...))
}

// []wire.Method{ {…}, {…}, }
func table[T any](path, of string, items []T, row func(T) jen.Code) jen.Code {
	rows := make([]jen.Code, len(items))
	for i, item := range items {
		rows[i] = row(item)
	}
	return jen.Index().Qual(path, of).Add(onLines(rows...))
}

// {Name: "tools/call", Op: wire.OpCallTool, Task: true, Read: readCallTool20251125}
func methodRow(m *model.Method) jen.Code {
	fields := []jen.Code{field("Name", jen.Lit(m.Name)), field("Op", jen.Qual(wirePath, m.Op))}
	for _, flag := range []struct {
		name string
		on   bool
	}{{"Notification", m.Notification}, {"Uncancellable", m.Uncancellable}, {"Task", m.Task}, {"Cacheable", m.Cacheable}, {"NoInput", m.NoInput}} {
		if flag.on {
			fields = append(fields, field(flag.name, jen.True()))
		}
	}
	if m.Declares != "" {
		fields = append(fields, field("Declares", jen.Lit(m.Declares)))
	}
	if m.EmptyList != "" {
		fields = append(fields, field("Empty", jen.Lit(m.EmptyList)))
	}
	if m.Header != "" {
		fields = append(fields, field("Header", jen.Lit(m.Header)))
	}
	if m.Blocks != "" {
		fields = append(fields, field("Blocks", jen.Lit(m.Blocks)))
	}
	if m.Result != "" {
		fields = append(fields, field("Result", jen.Lit(m.Result)))
	}
	if m.Read != nil {
		fields = append(fields, field("Read", jen.Id(m.Read.Func)))
	}
	return jen.Values(fields...)
}

// {Op: wire.OpElicit, Name: "elicitation/create", Capability: "elicitation", Needs: []wire.Need{…}}
func outgoingRow(o model.Outgoing) jen.Code {
	fields := []jen.Code{field("Op", jen.Qual(wirePath, o.Op)), field("Name", jen.Lit(o.Name))}
	if o.Capability != "" {
		fields = append(fields, field("Capability", jen.Lit(o.Capability)))
	}
	if len(o.Needs) > 0 {
		fields = append(fields, field("Needs", table(wirePath, "Need", o.Needs, needRow)))
	}
	return jen.Values(fields...)
}

// {Capability: "elicitation/url", Member: "mode", Values: []string{"url"}}
func needRow(n model.Need) jen.Code {
	fields := []jen.Code{field("Member", jen.Lit(n.Member))}
	if n.Capability != "" {
		fields = append([]jen.Code{field("Capability", jen.Lit(n.Capability))}, fields...)
	}
	if len(n.Values) > 0 {
		fields = append(fields, field("Values", textList(n.Values)))
	}
	if n.Default {
		fields = append(fields, field("Default", jen.True()))
	}
	return jen.Values(fields...)
}

//	wire.TaskRules{
//		Edges: []task.Edge{
//			{From: task.Working, To: task.Completed},
//		},
//		ByParam: true,
//	}
func taskRules(t *model.TaskRules) jen.Code {
	fields := []jen.Code{field("Edges", table(taskPath, "Edge", t.Edges, func(e model.TaskEdge) jen.Code {
		return jen.Values(field("From", jen.Qual(taskPath, e.From)), field("To", jen.Qual(taskPath, e.To)))
	}))}
	for _, flag := range t.Flags {
		fields = append(fields, field(flag, jen.True()))
	}
	return jen.Qual(wirePath, "TaskRules").Add(onLines(fields...))
}

func capabilities(w *model.Wire) jen.Code {
	fields := make([]jen.Code, len(w.Capabilities))
	for i, c := range w.Capabilities {
		fields[i] = field(c.Field, jen.Lit(c.Path))
	}
	if len(w.Extensions) > 0 {
		fields = append(fields, field("Extensions", textList(w.Extensions)))
	}
	return jen.Qual(wirePath, "Capabilities").Add(onLines(fields...))
}

// definitions are the fields with the definitions of results:
//
//	TaskCreated: "CreateTaskResult",
//	Definitions: []wire.Definition{
//		{Name: "Annotations", Schema: `{"type":"object",…}`},
//	},
func definitions(w *model.Wire) (fields []jen.Code) {
	if w.TaskCreated != "" {
		fields = append(fields, field("TaskCreated", jen.Lit(w.TaskCreated)))
	}
	return append(fields, field("Definitions", table(wirePath, "Definition", w.Definitions, func(d model.WireDefinition) jen.Code {
		text := raw(d.Schema)
		if strings.Contains(d.Schema, "`") {
			text = jen.Lit(d.Schema)
		}
		return jen.Values(field("Name", jen.Lit(d.Name)), field("Schema", text))
	})))
}

// []string{"url"}
func textList(list []string) jen.Code {
	return jen.Index().String().ValuesFunc(func(g *jen.Group) {
		for _, text := range list {
			g.Lit(text)
		}
	})
}

//	wire.Codes{
//		MissingMeta: -32602,
//	}
func wireGroup(g *model.WireGroup) jen.Code {
	fields := make([]jen.Code, len(g.Values))
	for i, v := range g.Values {
		switch {
		case v.Group != nil:
			fields[i] = field(v.Field, wireGroup(v.Group))
		case v.On:
			fields[i] = field(v.Field, jen.True())
		case v.List != nil:
			fields[i] = field(v.Field, textList(v.List))
		case v.Text != "":
			fields[i] = field(v.Field, jen.Lit(v.Text))
		default:
			fields[i] = field(v.Field, jen.Lit(v.Number))
		}
	}
	return jen.Qual(wirePath, g.Type).Add(onLines(fields...))
}

// paramsCode returns the rules of params, then their readers, a line each. done are the objects of earlier wires.
func paramsCode(w *model.Wire, done map[*model.WireObject]bool) []jen.Code {
	var rules, readers jen.Statement
	for _, m := range w.Functions {
		if !m.OfParams() {
			continue
		}
		m.Root.Walk(func(o *model.WireObject) {
			if !done[o] {
				rules.Add(paramsVar(o)).Line()
				readers.Add(paramsFunc(o)).Line()
				for _, member := range o.Members {
					if member.Shape != nil {
						rules.Add(shapeVar(member.Shape)).Line()
						readers.Add(shapeFunc(member)).Line()
					}
				}
			}
			done[o] = true
		})
	}
	if len(rules) == 0 {
		return nil
	}
	return []jen.Code{&rules, &readers}
}

// messagesCode returns an appender, or a rule and a reader, for each of the other messages.
func messagesCode(w *model.Wire) []jen.Code {
	var all []jen.Code
	for _, m := range w.Functions {
		switch {
		case m.Append:
			all = append(all, appendFunc(m))
		case !m.OfParams():
			all = append(all, readRule(m.Root), readFunc(m))
		}
	}
	return all
}
