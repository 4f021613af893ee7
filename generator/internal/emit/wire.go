package emit

import (
	"strconv"
	"strings"

	"github.com/mcpkiln/mcpkiln/generator/internal/model"
)

// wireFiles emits a file for each revision: the wire's table, then the declarations that it refers to. Those that several revisions share are in
// the file of the first.
func wireFiles(pkg *model.Package) ([]File, error) {
	var files []File
	done, uses := map[any]bool{}, usesOf(pkg.Wires)
	for _, w := range pkg.Wires {
		s := sized(24 << 10)
		s.line()
		s.wireVar(pkg, w, uses)
		if w.OwnNames != nil {
			s.line()
			s.variable(w.Own, "wire.Own", wireGroup(w.OwnNames).items...)
		}
		s.readers(w, done)
		s.appenders(w, uses)
		s.definitions(w)
		files = append(files, File{w.File, s.file(Header, pkg.Name)})
	}
	return files, nil
}

// // wire20251125 is revision 2025-11-25 for the runtime: its methods, rules and messages.
//
//	var wire20251125 = wire.Revision{
//		Version: "2025-11-25",
//		…
//	}
func (s *source) wireVar(pkg *model.Package, w *model.Wire, uses map[string]int) {
	fields := []composite{quotedField("Version", w.Revision)}
	if w.Handshake {
		fields = append(fields, trueField("Handshake"))
	}
	if w.Batches {
		fields = append(fields, trueField("Batches"))
	}
	fields = append(fields, tableOf("Methods", "wire.Method", w.Methods, methodRow), tableOf("Outgoing", "wire.Outgoing", w.Outgoing, outgoingRow))
	if w.Task != nil {
		s.use(taskPath, "Status")
		fields = append(fields, taskRules(w.Task))
	}
	fields = append(fields, capabilities(w))
	if w.ToolExecution != "" {
		fields = append(fields, quotedField("ToolExecution", w.ToolExecution))
	}
	for i := range w.Groups {
		fields = append(fields, wireGroup(&w.Groups[i]))
	}
	fields = append(fields, composite{field: "Own", text: w.Own})
	fields = append(fields, definitionFields(w)...)
	fields = append(fields, s.messages(pkg, w, uses)...)
	s.comment("wire" + w.Suffix + " is revision " + w.Revision + " for the runtime: its methods, rules and messages.")
	s.block("var wire" + w.Suffix + " = " + composite{text: s.use(wirePath, "Revision"), items: fields, table: true}.render(0, 0))
}

// messages are the fields with functions. An appender with a single use is a function literal in its field.
func (s *source) messages(pkg *model.Package, w *model.Wire, uses map[string]int) (fields []composite) {
	for _, m := range w.Messages {
		if m.Append && uses[m.Func] == 1 {
			fields = append(fields, composite{field: m.Field, text: "func" + appendBody(m)})
		} else {
			fields = append(fields, composite{field: m.Field, text: m.Func})
		}
	}
	if w.CheckResult != nil {
		fields = append(fields, composite{field: "CheckCallResult", text: s.function(pkg, w.CheckResult.Decode)})
	}
	if w.AppendResult != "" && w.AppendResult != pkg.Result.Append {
		fields = append(fields, composite{field: "AppendOutput", text: "wire.Output(" + s.function(pkg, w.AppendResult) + ")"})
	}
	return fields
}

// fieldWidth is an estimate of the spaces by which the value of a field is aligned with others.
const fieldWidth = 8

// Methods: []wire.Method{ {…}, {…}, }
func tableOf[T any](field, of string, items []T, row func(T) string) composite {
	c := composite{field: field, text: "[]" + of, items: []composite{}, table: true}
	for _, item := range items {
		c.items = append(c.items, composite{text: row(item)})
	}
	return c
}

// {Name: "tools/call", Op: wire.OpCallTool, Task: true, Read: readCallTool20251125}
func methodRow(m *model.Method) string {
	fields := []composite{quotedField("Name", m.Name), {field: "Op", text: "wire." + m.Op}}
	for _, flag := range []struct {
		name string
		on   bool
	}{{"Notification", m.Notification}, {"Uncancellable", m.Uncancellable}, {"Task", m.Task}, {"Cacheable", m.Cacheable}, {"NoInput", m.NoInput}} {
		if flag.on {
			fields = append(fields, trueField(flag.name))
		}
	}
	for _, text := range []struct{ name, value string }{
		{"Declares", m.Declares}, {"EmptyList", m.EmptyList}, {"Header", m.Header}, {"Blocks", m.Blocks}, {"Result", m.Result},
	} {
		if text.value != "" {
			fields = append(fields, quotedField(text.name, text.value))
		}
	}
	if m.Read != nil {
		fields = append(fields, composite{field: "Read", text: m.Read.Func})
	}
	return rowOf(fields)
}

// {Op: wire.OpElicit, Name: "elicitation/create", Capability: "elicitation", Needs: []wire.Need{…}}
func outgoingRow(o model.Outgoing) string {
	fields := []composite{{field: "Op", text: "wire." + o.Op}, quotedField("Name", o.Name)}
	if o.Capability != "" {
		fields = append(fields, quotedField("Capability", o.Capability))
	}
	if len(o.Needs) > 0 {
		fields = append(fields, tableOf("Needs", "wire.Need", o.Needs, needRow))
	}
	return rowOf(fields)
}

// {Capability: "elicitation/url", Member: "mode", Values: []string{"url"}}
func needRow(n model.Need) string {
	fields := []composite{quotedField("Member", n.Member)}
	if n.Capability != "" {
		fields = append([]composite{quotedField("Capability", n.Capability)}, fields...)
	}
	if len(n.Values) > 0 {
		fields = append(fields, texts("Values", n.Values))
	}
	if n.Default {
		fields = append(fields, trueField("Default"))
	}
	return rowOf(fields)
}

//	Task: wire.TaskRules{
//		Edges: []wire.Edges{
//			{From: task.Working, To: []task.Status{task.Completed, task.Failed}},
//		},
//		ClientDecides: true, Progress: true,
//	}
func taskRules(t *model.TaskRules) composite {
	edges := tableOf("Edges", "wire.Edges", t.Edges, func(e model.TaskEdges) string {
		to := make([]string, len(e.To))
		for i, status := range e.To {
			to[i] = "task." + status
		}
		return "{From: task." + e.From + ", To: []task.Status{" + strings.Join(to, ", ") + "}}"
	})
	flags := make([]string, len(t.Flags))
	for i, flag := range t.Flags {
		flags[i] = flag + ": true"
	}
	return composite{field: "Task", text: "wire.TaskRules", items: []composite{edges, {text: fill(flags, ", ", 2)}}, table: true}
}

// Capabilities: wire.Capabilities{Tools: "tools", ToolsChanged: "tools/listChanged"}
func capabilities(w *model.Wire) composite {
	c := composite{field: "Capabilities", text: "wire.Capabilities", items: []composite{}}
	for _, of := range w.Capabilities {
		c.items = append(c.items, quotedField(of.Field, of.Path))
	}
	if len(w.Extensions) > 0 {
		c.items = append(c.items, texts("Extensions", w.Extensions))
	}
	return c
}

// definitionFields are the fields with the definitions of results:
//
//	TaskCreated: "CreateTaskResult",
//	Definitions: definitions20251125,
//	Inherits:    definitions20260728,
func definitionFields(w *model.Wire) (fields []composite) {
	if w.TaskCreated != "" {
		fields = append(fields, quotedField("TaskCreated", w.TaskCreated))
	}
	fields = append(fields, composite{field: "Definitions", text: "definitions" + w.Suffix})
	if w.Inherits != "" {
		fields = append(fields, composite{field: "Inherits", text: "definitions" + w.Inherits})
	}
	return fields
}

// // definitions20251125 are those of results in 2025-11-25, and of what they refer to.
//
//	var definitions20251125 = []wire.Definition{
//		{Name: "Annotations", Schema: `{"type":"object",…}`},
//	}
func (s *source) definitions(w *model.Wire) {
	text := "definitions" + w.Suffix + " are those of results in " + w.Revision + ", and of what they refer to"
	if w.Inherits != "" {
		text = "definitions" + w.Suffix + " are those of results in " + w.Revision + " that differ from definitions" + w.Inherits
	}
	s.line()
	s.comment(text + ".")
	s.block("var definitions" + w.Suffix + " = " + tableOf("", s.use(wirePath, "Definition"), w.Definitions, func(d model.WireDefinition) string {
		schema := "`" + d.Schema + "`"
		if strings.Contains(d.Schema, "`") {
			schema = strconv.Quote(d.Schema)
		}
		return rowOf([]composite{quotedField("Name", d.Name), {field: "Schema", text: schema}})
	}).render(0, 0))
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
			c.items = append(c.items, trueField(v.Field))
		case v.List != nil:
			c.items = append(c.items, texts(v.Field, v.List))
		case v.Text != "":
			c.items = append(c.items, quotedField(v.Field, v.Text))
		default:
			c.items = append(c.items, composite{field: v.Field, text: strconv.Itoa(v.Number)})
		}
	}
	return c
}

// appenders writes the appenders that are declared, since they have more than one use.
func (s *source) appenders(w *model.Wire, uses map[string]int) {
	for _, m := range w.Functions {
		if m.Append && uses[m.Func] > 1 {
			s.line()
			s.block("func " + m.Func + appendBody(m))
		}
	}
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
