package generator

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mcpkiln/mcpkiln/generator/internal/model"
	"github.com/mcpkiln/mcpkiln/schema"
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
	text := t.Definition
	if w.ToolExecution != "" && t.Execution != "" {
		text = strings.TrimSuffix(text, "}") + fmt.Sprintf(",%q:%s}", w.ToolExecution, t.Execution)
	}
	omits, objects := view(w, "ToolOmits"), view(w, "ToolObjects")
	n, ds := schema.ParseJSON("", []byte(text))
	if len(omits) == 0 && len(objects) == 0 || ds.HasErrors() {
		return text
	}
	n.Members = slices.DeleteFunc(n.Members, func(m schema.Member) bool { return slices.Contains(omits, m.Key) })
	for _, path := range objects {
		of := n.Lookup("/" + path)
		if !of.Is(schema.Object) {
			continue
		}
		for i := range of.Members {
			of.Members[i].Value = schemaObject(of.Members[i].Value)
		}
	}
	return string(n.JSON())
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

// schemaObject is a schema as an object.
func schemaObject(n *schema.Node) *schema.Node {
	switch {
	case !n.Is(schema.Bool):
		return n
	case n.Text == "true":
		return &schema.Node{Kind: schema.Object}
	}
	return &schema.Node{Kind: schema.Object, Members: []schema.Member{{Key: "not", Value: &schema.Node{Kind: schema.Object}}}}
}
