package generator

import (
	"slices"

	"github.com/mcpkiln/mcpkiln/generator/internal/model"
	"github.com/mcpkiln/mcpkiln/runtime/wire"
)

// ToolList is what tools/list of a revision shows of each tool, as JSON, in the manifest's order. Without a revision, or with one that is
// not served, it is all that the manifest says.
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

// listed is what a revision's tools/list shows of a tool.
func listed(t *model.Tool, w *model.Wire) string {
	rev := wire.Revision{ToolExecution: w.ToolExecution, View: wire.View{ToolOmits: view(w, "ToolOmits"), ToolObjects: view(w, "ToolObjects")}}
	return string(rev.AppendTool(nil, t.Definition, t.Execution))
}

// view is a list of the revision's wire.View.
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
