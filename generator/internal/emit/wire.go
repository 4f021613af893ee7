package emit

import (
	"slices"

	"github.com/dave/jennifer/jen"

	"github.com/mcpkiln/mcpkiln/generator/internal/model"
)

// wireFiles emits one file a revision: the wire's table, then the functions that it names. What several revisions have in common
// stands with the first.
func wireFiles(pkg *model.Package) ([]File, error) {
	var files []File
	done := map[*model.WireObject]bool{}
	for _, w := range pkg.Wires {
		f := newFile(pkg)
		f.Add(wireVar(w))
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

// // wire20251125 is revision 2025-11-25 as the runtime speaks it: …
//
//	var wire20251125 = server.Wire{
//		Revision: "2025-11-25",
//		…
//	}
func wireVar(w *model.Wire) jen.Code {
	fields := []jen.Code{field("Revision", jen.Lit(w.Revision))}
	if w.Handshake {
		fields = append(fields, field("Handshake", jen.True()))
	}
	fields = append(fields,
		field("Methods", table("Method", w.Methods, methodRow)),
		field("Outgoing", table("Outgoing", w.Outgoing, outgoingRow)))
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
	for _, m := range w.Messages {
		fields = append(fields, field(m.Field, jen.Id(m.Func)))
	}
	if w.CheckResult != nil {
		fields = append(fields, field("CheckCallResult", jen.Id(w.CheckResult.Decode)))
	}
	return jen.Add(comment("wire"+w.Suffix+" is revision "+w.Revision+" as the runtime speaks it: methods, task rules, places of capabilities, "+
		"and one function for each message that it reads or writes.")).Line().
		Var().Id("wire"+w.Suffix).Op("=").Qual(serverPath, "Wire").Add(onLines(fields...))
}

// []server.Method{ {…}, {…}, }
func table[T any](of string, items []T, row func(T) jen.Code) jen.Code {
	rows := make([]jen.Code, len(items))
	for i, item := range items {
		rows[i] = row(item)
	}
	return jen.Index().Qual(serverPath, of).Add(onLines(rows...))
}

// {Name: "tools/call", Op: server.OpCallTool, Task: true, Read: readCallTool20251125}
func methodRow(m *model.Method) jen.Code {
	fields := []jen.Code{field("Name", jen.Lit(m.Name)), field("Op", jen.Qual(serverPath, m.Op))}
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
	if m.Header != "" {
		fields = append(fields, field("Header", jen.Lit(m.Header)))
	}
	if m.Read != nil {
		fields = append(fields, field("Read", jen.Id(m.Read.Func)))
	}
	return jen.Values(fields...)
}

// {Op: server.OpElicit, Name: "elicitation/create", Capability: "elicitation", Needs: []server.Need{…}}
func outgoingRow(o model.Outgoing) jen.Code {
	fields := []jen.Code{field("Op", jen.Qual(serverPath, o.Op)), field("Name", jen.Lit(o.Name))}
	if o.Capability != "" {
		fields = append(fields, field("Capability", jen.Lit(o.Capability)))
	}
	if len(o.Needs) > 0 {
		fields = append(fields, field("Needs", table("Need", o.Needs, needRow)))
	}
	return jen.Values(fields...)
}

// {Capability: "elicitation/url", Member: "mode", Values: []string{"url"}}
func needRow(n model.Need) jen.Code {
	fields := []jen.Code{field("Capability", jen.Lit(n.Capability)), field("Member", jen.Lit(n.Member))}
	if len(n.Values) > 0 {
		fields = append(fields, field("Values", jen.Index().String().ValuesFunc(func(g *jen.Group) {
			for _, v := range n.Values {
				g.Lit(v)
			}
		})))
	}
	if n.Default {
		fields = append(fields, field("Default", jen.True()))
	}
	return jen.Values(fields...)
}

//	server.TaskRules{
//		Edges: []server.TaskEdge{
//			{From: task.Working, To: task.Completed},
//		},
//		ByParam: true,
//	}
func taskRules(t *model.TaskRules) jen.Code {
	fields := []jen.Code{field("Edges", table("TaskEdge", t.Edges, func(e model.TaskEdge) jen.Code {
		return jen.Values(field("From", jen.Qual(taskPath, e.From)), field("To", jen.Qual(taskPath, e.To)))
	}))}
	for _, flag := range t.Flags {
		fields = append(fields, field(flag, jen.True()))
	}
	return jen.Qual(serverPath, "TaskRules").Add(onLines(fields...))
}

func capabilities(w *model.Wire) jen.Code {
	fields := make([]jen.Code, len(w.Capabilities))
	for i, c := range w.Capabilities {
		fields[i] = field(c.Field, jen.Lit(c.Path))
	}
	return jen.Qual(serverPath, "Capabilities").Add(onLines(fields...))
}

//	server.Codes{
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
		case v.Text != "":
			fields[i] = field(v.Field, jen.Lit(v.Text))
		default:
			fields[i] = field(v.Field, jen.Lit(v.Number))
		}
	}
	return jen.Qual(serverPath, g.Type).Add(onLines(fields...))
}

// paramsCode is the rules of params, then their readers, a line each. done are the objects that an earlier wire has.
func paramsCode(w *model.Wire, done map[*model.WireObject]bool) []jen.Code {
	var rules, readers jen.Statement
	for _, m := range w.Functions {
		if !m.OfParams() {
			continue
		}
		m.Root.Walk(func(o *model.WireObject) {
			if !done[o] {
				rules.Add(paramsRule(o)).Line()
				readers.Add(paramsFunc(o)).Line()
			}
			done[o] = true
		})
	}
	if len(rules) == 0 {
		return nil
	}
	return []jen.Code{&rules, &readers}
}

// messagesCode is an appender, or a rule and a reader, for each of the other messages.
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
