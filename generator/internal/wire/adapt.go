package wire

import (
	"slices"
	"strings"

	"github.com/mcpkiln/mcpkiln/generator/internal/model"
	"github.com/mcpkiln/mcpkiln/schema"
	"github.com/mcpkiln/mcpkiln/schema/revision"
)

// Definitions of values that the manifest or handlers give once for all revisions.
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

// view lists the members and types that other revisions have and this one lacks (wire.View). Definitions that lack nothing are left out.
func (l *wireLowering) view() []model.WireValue {
	var all []model.WireValue
	add := func(field string, wanted need, list func() []string) {
		if !l.wants(wanted) {
			return
		}
		if found := list(); len(found) > 0 {
			all = append(all, model.WireValue{Field: field, List: found})
		}
	}
	lacks := func(definition string) func() []string {
		return func() []string { return l.lacks(definition) }
	}
	add("ToolOmits", forTools, func() []string {
		return slices.DeleteFunc(l.lacks(toolDefinition), func(name string) bool { return name == executionMember })
	})
	add("ToolObjects", forTools, l.toolObjects)
	add("PromptOmits", forPromptRegistry, func() []string { return slices.Concat(l.lacks(promptDefinition), l.argumentLacks()) })
	add("ResourceOmits", forResourceRegistry, lacks(resourceDefinition))
	add("TemplateOmits", forResourceRegistry, lacks(templateDefinition))
	add("ServerOmits", 0, lacks(serverDefinition))
	if l.lacksBlocks {
		add("Blocks", 0, func() []string { return l.rev.Types(blockDefinition) })
	}
	add("FormKeywords", forElicits, func() []string {
		if len(l.lacks(fieldDefinition)) == 0 {
			return nil
		}
		return l.rev.Properties(fieldDefinition)
	})
	return all
}

// argumentLacks lists the members of a prompt's arguments that the revision lacks, as paths.
func (l *wireLowering) argumentLacks() []string {
	all := l.lacks(argumentDefinition)
	for i, name := range all {
		all[i] = strings.Join(append(l.pathTo(argumentDefinition, definition(l.rev, promptDefinition), 0), name), "/")
	}
	return all
}

// toolObjects are the paths in a tool to the properties of a schema, in a revision in which each of these must be an object, not true or false.
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

// lacks lists the properties of a definition that other revisions have and this one has not; nothing if it lacks the definition.
func (l *wireLowering) lacks(definition string) []string {
	return l.shared.Union.LacksProperties(l.rev, definition)
}

// blocks is the path of the content blocks in the result of a method, if the revision lacks a type of blocks.
func (l *wireLowering) blocks(m *revision.Method) string {
	if m.Result == "" || !l.lacksBlocks {
		return ""
	}
	return strings.Join(l.pathTo(blockDefinition, definition(l.rev, m.Result), 0), "/")
}

// pathTo is the path from schema n to the first reference to the definition name.
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
