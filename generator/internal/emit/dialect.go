package emit

import (
	"github.com/dave/jennifer/jen"

	"github.com/mcpkiln/mcpkiln/generator/internal/model"
)

// Dialects emits, in package pkg, a file for each dialect, the table of a revision for clients, and one with the list of all dialects.
func Dialects(pkg string, all []*model.Dialect) ([]File, error) {
	var files []File
	list := make([]jen.Code, len(all))
	for i, d := range all {
		list[i] = jen.Op("&").Id("dialect" + d.Suffix)
		f := dialectFile(pkg, "For revision "+d.Revision+".")
		f.Add(dialectVar(d))
		for _, layout := range d.Layouts {
			f.Line()
			f.Var().Id(layout.Ident).Op("=").Qual(wirePath, "Layout").Add(layoutValue(layout))
		}
		content, err := format(f)
		if err != nil {
			return nil, err
		}
		files = append(files, File{d.File, content})
	}
	f := dialectFile(pkg, "For all revisions.")
	f.Add(comment("All are the revisions, newest first.")).Line().
		Var().Id("All").Op("=").Index().Op("*").Qual(wirePath, "Dialect").Values(list...)
	content, err := format(f)
	return append(files, File{"dialects.gen.go", content}), err
}

func dialectFile(pkg, from string) *jen.File {
	f := jen.NewFile(pkg)
	f.NoFormat = true
	f.HeaderComment(Header + "\n// " + from)
	f.ImportNames(map[string]string{checkPath: "check", wirePath: "wire"})
	return f
}

//	var dialect20251125 = wire.Dialect{
//		Version: "2025-11-25",
//		…
//	}
func dialectVar(d *model.Dialect) jen.Code {
	fields := []jen.Code{field("Version", jen.Lit(d.Revision))}
	for _, flag := range []struct {
		name string
		on   bool
	}{{"Handshake", d.Handshake}, {"Batches", d.Batches}, {"HasTasks", d.HasTasks}} {
		if flag.on {
			fields = append(fields, field(flag.name, jen.True()))
		}
	}
	fields = append(fields,
		field("Calls", table(wirePath, "Call", d.Calls, callRow)),
		field("Incoming", table(wirePath, "Incoming", d.Incoming, incomingRow)))
	if d.HasTasks {
		fields = append(fields, field("Task", jen.Qual(wirePath, "TaskRules").Values(trues(d.TaskFlags)...)))
	}
	for i := range d.Groups {
		fields = append(fields, jen.Op(wireGroup(&d.Groups[i]).render(1, 0)))
	}
	fields = append(fields, field("Meta", jen.Lit(d.Meta)))
	for _, m := range d.Messages {
		fields = append(fields, field(m.Field, jen.Op("&").Id(m.Layout.Ident)))
	}
	return jen.Add(comment("dialect"+d.Suffix+" describes revision "+d.Revision+" to a client: methods, task rules, places of capabilities and of the values in messages.")).Line().
		Var().Id("dialect"+d.Suffix).Op("=").Qual(wirePath, "Dialect").Add(onLines(fields...))
}

// ClientDecides: true, Progress: true
func trues(names []string) []jen.Code {
	all := make([]jen.Code, len(names))
	for i, name := range names {
		all[i] = field(name, jen.True())
	}
	return all
}

// {Op: wire.OpCallTool, Name: "tools/call", Task: true, Params: &callTool20251125, Result: &callResult20251125}
func callRow(c model.Call) jen.Code {
	fields := append([]jen.Code{field("Op", jen.Qual(wirePath, c.Op)), field("Name", jen.Lit(c.Name))}, trues(c.Flags)...)
	if c.Needs != "" {
		fields = append(fields, field("Needs", jen.Lit(c.Needs)))
	}
	if c.Header != "" {
		fields = append(fields, field("Header", jen.Qual(wirePath, c.Header)))
	}
	return jen.Values(append(fields, layoutFields(c.Params, c.Result)...)...)
}

func layoutFields(params, result *model.Layout) (fields []jen.Code) {
	if params != nil {
		fields = append(fields, field("Params", jen.Op("&").Id(params.Ident)))
	}
	if result != nil {
		fields = append(fields, field("Result", jen.Op("&").Id(result.Ident)))
	}
	return fields
}

// {Op: wire.OpProgress, Name: "notifications/progress", Notification: true, Params: &progress20251125}
func incomingRow(h model.Incoming) jen.Code {
	fields := append([]jen.Code{field("Op", jen.Qual(wirePath, h.Op)), field("Name", jen.Lit(h.Name))}, trues(h.Flags)...)
	if h.Capability != "" {
		fields = append(fields, field("Capability", jen.Lit(h.Capability)))
	}
	if len(h.Needs) > 0 {
		fields = append(fields, jen.Op(tableOf("Needs", "wire.Need", h.Needs, needRow).render(0, 0)))
	}
	if h.Task != "" {
		fields = append(fields, field("Task", jen.Lit(h.Task)))
	}
	return jen.Values(append(fields, layoutFields(h.Params, nil)...)...)
}

//	{Object: check.Object{Names: []string{"name"}, AdditionalProperties: check.Skip}, Members: []wire.Member{
//		{Slot: wire.SlotName},
//	}}
func layoutValue(l *model.Layout) jen.Code {
	names := make([]string, len(l.Members))
	for i, m := range l.Members {
		names[i] = m.Name
	}
	object := jen.Qual(checkPath, "Object").Values(field("Names", jen.Op(quotedList(names))), field("AdditionalProperties", jen.Qual(checkPath, "Skip")))
	return jen.Values(field("Object", object), field("Members", table(wirePath, "Member", l.Members, memberRow)))
}

// {Slot: wire.SlotName}
func memberRow(m model.LayoutMember) jen.Code {
	switch {
	case m.Inside != nil:
		return jen.Values(field("Inside", jen.Op("&").Qual(wirePath, "Layout").Add(layoutValue(m.Inside))))
	case m.Constant != "":
		return jen.Values(field("Constant", jen.Lit(m.Constant)))
	}
	return jen.Values(field("Slot", jen.Qual(wirePath, m.Slot)))
}

// []wire.Call{ {…}, {…}, }
func table[T any](path, of string, items []T, row func(T) jen.Code) jen.Code {
	rows := make([]jen.Code, len(items))
	for i, item := range items {
		rows[i] = row(item)
	}
	return jen.Index().Qual(path, of).Add(onLines(rows...))
}
