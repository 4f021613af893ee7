package emit

import (
	"slices"
	"strconv"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/mcpkiln/mcpkiln/generator/internal/model"
)

// wireFiles emits a file for each revision: the wire's table, then the declarations that it refers to. Those that several revisions share are in
// the file of the first.
func wireFiles(pkg *model.Package) ([]File, error) {
	var files []File
	done, uses := map[any]bool{}, usesOf(pkg.Wires)
	for _, w := range pkg.Wires {
		f := newFile(pkg)
		f.Add(wireVar(pkg, w, uses))
		if w.OwnNames != nil {
			f.Line()
			f.Add(literalVar(w.Own, "wire.Own", wireGroup(w.OwnNames).items...))
		}
		for _, code := range slices.Concat(readerCode(w, done), appenderCode(w, uses), []jen.Code{definitionsVar(w)}) {
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

// // wire20251125 is revision 2025-11-25 for the runtime: its methods, rules and messages.
//
//	var wire20251125 = wire.Revision{
//		Version: "2025-11-25",
//		…
//	}
func wireVar(pkg *model.Package, w *model.Wire, uses map[string]int) jen.Code {
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
		fields = append(fields, taskRules(w.Task))
	}
	fields = append(fields, capabilities(w))
	if w.ToolExecution != "" {
		fields = append(fields, field("ToolExecution", jen.Lit(w.ToolExecution)))
	}
	for i := range w.Groups {
		fields = append(fields, wireGroup(&w.Groups[i]).code(1, fieldWidth))
	}
	fields = append(fields, field("Own", jen.Id(w.Own)))
	fields = append(fields, definitions(w)...)
	fields = append(fields, messages(pkg, w, uses)...)
	return jen.Add(comment("wire"+w.Suffix+" is revision "+w.Revision+" for the runtime: its methods, rules and messages.")).Line().
		Var().Id("wire"+w.Suffix).Op("=").Qual(wirePath, "Revision").Add(onLines(fields...))
}

// messages are the fields with functions. An appender with a single use is a function literal in its field.
func messages(pkg *model.Package, w *model.Wire, uses map[string]int) (fields []jen.Code) {
	for _, m := range w.Messages {
		if m.Append && uses[m.Func] == 1 {
			fields = append(fields, field(m.Field, jen.Func().Add(appendBody(m))))
		} else {
			fields = append(fields, field(m.Field, jen.Id(m.Func)))
		}
	}
	if w.CheckResult != nil {
		fields = append(fields, field("CheckCallResult", function(pkg, w.CheckResult.Decode)))
	}
	if w.AppendResult != "" && w.AppendResult != pkg.Result.Append {
		fields = append(fields, field("AppendOutput", jen.Qual(wirePath, "Output").Call(function(pkg, w.AppendResult))))
	}
	return fields
}

// fieldWidth is an estimate of the spaces that gofmt inserts before the value of a field to align it with others.
const fieldWidth = 8

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
	for _, text := range []struct{ name, value string }{
		{"Declares", m.Declares}, {"EmptyList", m.EmptyList}, {"Header", m.Header}, {"Blocks", m.Blocks}, {"Result", m.Result},
	} {
		if text.value != "" {
			fields = append(fields, field(text.name, jen.Lit(text.value)))
		}
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

//	Task: wire.TaskRules{
//		Edges: []wire.Edges{
//			{From: task.Working, To: []task.Status{task.Completed, task.Failed}},
//		},
//		ClientDecides: true, Progress: true,
//	}
func taskRules(t *model.TaskRules) jen.Code {
	edges := table(wirePath, "Edges", t.Edges, func(e model.TaskEdges) jen.Code {
		to := make([]jen.Code, len(e.To))
		for i, status := range e.To {
			to[i] = jen.Qual(taskPath, status)
		}
		return jen.Values(field("From", jen.Qual(taskPath, e.From)), field("To", jen.Index().Qual(taskPath, "Status").Values(to...)))
	})
	flags := make([]string, len(t.Flags))
	for i, flag := range t.Flags {
		flags[i] = flag + ": true"
	}
	return field("Task", jen.Qual(wirePath, "TaskRules").Add(onLines(field("Edges", edges), jen.Op(fill(flags, ", ", 2)))))
}

// Capabilities: wire.Capabilities{Tools: "tools", ToolsChanged: "tools/listChanged"}
func capabilities(w *model.Wire) jen.Code {
	c := composite{field: "Capabilities", text: "wire.Capabilities", items: []composite{}}
	for _, of := range w.Capabilities {
		c.items = append(c.items, composite{field: of.Field, text: strconv.Quote(of.Path)})
	}
	if len(w.Extensions) > 0 {
		c.items = append(c.items, texts("Extensions", w.Extensions))
	}
	return c.code(1, fieldWidth)
}

// definitions are the fields with the definitions of results:
//
//	TaskCreated: "CreateTaskResult",
//	Definitions: definitions20251125,
//	Inherits:    definitions20260728,
func definitions(w *model.Wire) (fields []jen.Code) {
	if w.TaskCreated != "" {
		fields = append(fields, field("TaskCreated", jen.Lit(w.TaskCreated)))
	}
	fields = append(fields, field("Definitions", jen.Id("definitions"+w.Suffix)))
	if w.Inherits != "" {
		fields = append(fields, field("Inherits", jen.Id("definitions"+w.Inherits)))
	}
	return fields
}

// // definitions20251125 are those of results in 2025-11-25, and of what they refer to.
//
//	var definitions20251125 = []wire.Definition{
//		{Name: "Annotations", Schema: `{"type":"object",…}`},
//	}
func definitionsVar(w *model.Wire) jen.Code {
	text := "definitions" + w.Suffix + " are those of results in " + w.Revision + ", and of what they refer to"
	if w.Inherits != "" {
		text = "definitions" + w.Suffix + " are those of results in " + w.Revision + " that differ from definitions" + w.Inherits
	}
	return jen.Add(comment(text + ".")).Line().
		Var().Id("definitions" + w.Suffix).Op("=").Add(table(wirePath, "Definition", w.Definitions, func(d model.WireDefinition) jen.Code {
		schema := raw(d.Schema)
		if strings.Contains(d.Schema, "`") {
			schema = jen.Lit(d.Schema)
		}
		return jen.Values(field("Name", jen.Lit(d.Name)), field("Schema", schema))
	}))
}

// []string{"url"}
func textList(list []string) jen.Code {
	return jen.Index().String().ValuesFunc(func(g *jen.Group) {
		for _, text := range list {
			g.Lit(text)
		}
	})
}

// Codes: wire.Codes{MissingMeta: -32602, HeaderMismatch: -32020}
func wireGroup(g *model.WireGroup) composite {
	c := composite{field: g.Field, text: "wire." + g.Type, items: []composite{}}
	for _, v := range g.Values {
		switch {
		case v.Group != nil:
			inner := wireGroup(v.Group)
			inner.field = v.Field
			c.items = append(c.items, inner)
		case v.On:
			c.items = append(c.items, composite{field: v.Field, text: "true"})
		case v.List != nil:
			c.items = append(c.items, texts(v.Field, v.List))
		case v.Text != "":
			c.items = append(c.items, composite{field: v.Field, text: strconv.Quote(v.Text)})
		default:
			c.items = append(c.items, composite{field: v.Field, text: strconv.Itoa(v.Number)})
		}
	}
	return c
}

// appenderCode returns the appenders that are declared, since they have more than one use.
func appenderCode(w *model.Wire, uses map[string]int) []jen.Code {
	var all []jen.Code
	for _, m := range w.Functions {
		if m.Append && uses[m.Func] > 1 {
			all = append(all, jen.Func().Id(m.Func).Add(appendBody(m)))
		}
	}
	return all
}

// usesOf counts the uses of appenders by their names: 1 as a field of a wire, 2 by another appender, which calls it by name.
func usesOf(wires []*model.Wire) map[string]int {
	uses := map[string]int{}
	for _, w := range wires {
		for _, m := range w.Messages {
			uses[m.Func]++
		}
		for _, m := range w.Functions {
			m.Root.Walk(func(o *model.WireObject) {
				for _, member := range o.Members {
					uses[member.Call] += 2
				}
			})
		}
	}
	return uses
}
