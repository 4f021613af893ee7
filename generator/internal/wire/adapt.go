package wire

import (
	"slices"
	"strings"

	"github.com/mcpkiln/mcpkiln/generator/internal/model"
	"github.com/mcpkiln/mcpkiln/schema"
	"github.com/mcpkiln/mcpkiln/schema/revision"
)

// Definitions that the manifest, or handlers with the newest types, write once for all revisions.
const (
	toolDefinition     = "Tool"
	promptDefinition   = "Prompt"
	argumentDefinition = "PromptArgument"
	resourceDefinition = "Resource"
	templateDefinition = "ResourceTemplate"
	serverDefinition   = "Implementation"
	blockDefinition    = "ContentBlock"
	fieldDefinition    = "PrimitiveSchemaDefinition" // of a form
)

// view lists what the revision lacks of newer ones (wire.View). Definitions that it has completely are left out.
func (l *wireLowering) view() []model.WireValue {
	var all []model.WireValue
	add := func(field string, list []string, wanted need) {
		if len(list) > 0 && l.wants(wanted) {
			all = append(all, model.WireValue{Field: field, List: list})
		}
	}
	add("ToolOmits", l.lacks(toolDefinition, properties, executionMember), forTools)
	add("ToolObjects", l.toolObjects(), forTools)
	add("PromptOmits", slices.Concat(l.lacks(promptDefinition, properties), l.argumentLacks()), forPromptRegistry)
	add("ResourceOmits", l.lacks(resourceDefinition, properties), forResourceRegistry)
	add("TemplateOmits", l.lacks(templateDefinition, properties), forResourceRegistry)
	add("ServerOmits", l.lacks(serverDefinition, properties), 0)
	if l.lacks(blockDefinition, types) != nil {
		add("Blocks", types(l.rev, blockDefinition), 0)
	}
	if l.lacks(fieldDefinition, properties) != nil {
		add("FormKeywords", properties(l.rev, fieldDefinition), forElicits)
	}
	return all
}

// argumentLacks lists what of a prompt's arguments the revision lacks, as paths.
func (l *wireLowering) argumentLacks() []string {
	all := l.lacks(argumentDefinition, properties)
	for i, name := range all {
		all[i] = strings.Join(append(l.pathTo(argumentDefinition, definition(l.rev, promptDefinition), 0), name), "/")
	}
	return all
}

// toolObjects are the paths in a tool to the properties of a schema that have to be objects, in a revision that knows no schema of another form.
func (l *wireLowering) toolObjects() []string {
	var all []string
	for _, m := range MembersOf(definition(l.rev, toolDefinition).Get("properties")) {
		const properties = "properties"
		of := m.Value.Get(properties).Get(properties).Get("additionalProperties")
		if t := of.Get("type"); t.Is(schema.String) && t.Text == "object" {
			all = append(all, m.Key+"/"+properties)
		}
	}
	return all
}

// lacks lists what other revisions have of a definition and this one has not; nothing if it lacks the definition.
func (l *wireLowering) lacks(definition string, has func(*revision.Revision, string) []string, except ...string) []string {
	own := has(l.rev, definition)
	if own == nil {
		return nil
	}
	var all []string
	for _, r := range l.known {
		for _, name := range has(r, definition) {
			if !slices.Contains(own, name) && !slices.Contains(except, name) {
				all = append(all, name)
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// properties are the names of a definition's properties, in any of its alternatives.
func properties(r *revision.Revision, name string) []string {
	var all []string
	eachBranch(r, definition(r, name), 0, func(n *schema.Node) {
		for _, m := range MembersOf(n.Get("properties")) {
			all = append(all, m.Key)
		}
	})
	slices.Sort(all)
	return slices.Compact(all)
}

// types are the constants that the property type has in the alternatives of a definition.
func types(r *revision.Revision, name string) []string {
	var all []string
	eachBranch(r, definition(r, name), 0, func(n *schema.Node) {
		if c := n.Get("properties").Get("type").Get("const"); c.Is(schema.String) {
			all = append(all, c.Text)
		}
	})
	return all
}

// eachBranch visits a schema and its alternatives, through references.
func eachBranch(r *revision.Revision, n *schema.Node, depth int, visit func(*schema.Node)) {
	if n == nil || depth > 8 {
		return
	}
	visit(n)
	eachBranch(r, definition(r, refName(n)), depth+1, visit)
	for _, branch := range slices.Concat(itemsOf(n.Get("anyOf")), itemsOf(n.Get("oneOf"))) {
		eachBranch(r, branch, depth+1, visit)
	}
}

// blocks is where the result of a method has content blocks, if the revision lacks a type of them.
func (l *wireLowering) blocks(m *revision.Method) string {
	if m.Result == "" || l.lacks(blockDefinition, types) == nil {
		return ""
	}
	return strings.Join(l.pathTo(blockDefinition, definition(l.rev, m.Result), 0), "/")
}

// pathTo is the path from a schema to the first reference to a definition.
func (l *wireLowering) pathTo(name string, n *schema.Node, depth int) []string {
	const enough = 6
	for _, m := range MembersOf(n.Get("properties")) {
		path, at := []string{m.Key}, m.Value
		for at.Get("items") != nil {
			path, at = append(path, "*"), at.Get("items")
		}
		target := refName(at)
		if target == name {
			return path
		}
		if target != "" && depth < enough {
			at = definition(l.rev, target)
		}
		if rest := l.pathTo(name, at, depth+1); rest != nil && depth < enough {
			return append(path, rest...)
		}
	}
	return nil
}
