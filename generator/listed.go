package generator

import (
	"slices"

	"github.com/mcpkiln/mcpkiln/generator/internal/model"
	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

// ToolList is each tool's definition in tools/list of a revision, as JSON, in the manifest's order. If revision is empty or not served, the
// definitions are whole: members that some revisions lack are in them, too.
func (r *Result) ToolList(revision string) []string {
	w := &model.Wire{ToolExecution: "execution"}
	if i := slices.IndexFunc(r.pkg.Wires, func(w *model.Wire) bool { return w.Revision == revision }); i >= 0 {
		w = r.pkg.Wires[i]
	}
	all := make([]string, len(r.pkg.Tools))
	for i, t := range r.pkg.Tools {
		all[i] = listed(t, w)
	}
	return all
}

// listed is the definition of a tool in a revision's tools/list.
func listed(t *model.Tool, w *model.Wire) string {
	rev := wire.Revision{ToolExecution: w.ToolExecution, View: wire.View{ToolOmits: view(w, "ToolOmits"), ToolObjects: view(w, "ToolObjects")}}
	return string(rev.AppendTool(nil, t.Definition, t.Execution))
}

// view is the list that the revision's wire.View has in a field.
func view(w *model.Wire, field string) []string {
	for _, g := range w.Groups {
		for _, v := range g.Values {
			if g.Field == "View" && v.Field == field {
				return v.List
			}
		}
	}
	return nil
}
