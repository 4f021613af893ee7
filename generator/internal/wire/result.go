package wire

import (
	"slices"
	"strings"

	"github.com/mcpkiln/mcpkiln/generator/internal/model"
	"github.com/mcpkiln/mcpkiln/schema"
	"github.com/mcpkiln/mcpkiln/schema/revision"
)

// definitions are the results of the wire's requests, and what they refer to, as text: the runtime holds results against them that no
// handler made (LET01). doc.go says why they are no validators.
func (l *wireLowering) definitions() {
	if l.wire.Task != nil {
		created, _ := l.rule("taskCreated")
		l.wire.TaskCreated = created.Definition
	}
	names := []string{l.wire.TaskCreated}
	for _, m := range l.wire.Methods {
		names = append(names, m.Result)
	}
	done := map[string]bool{"": true}
	for len(names) > 0 {
		name := names[0]
		names = names[1:]
		n := definition(l.rev, name)
		if done[name] || n == nil {
			continue
		}
		done[name] = true
		text := asserted(n)
		text.Walk(func(n *schema.Node) bool {
			if ref := refName(n); ref != "" {
				names = append(names, ref)
			}
			return true
		})
		l.wire.Definitions = append(l.wire.Definitions, model.WireDefinition{Name: name, Schema: string(text.JSON())})
	}
	slices.SortFunc(l.wire.Definitions, func(a, b model.WireDefinition) int { return strings.Compare(a.Name, b.Name) })
}

// result is the definition of what a request is answered with. What a task's request answers is a tool's result.
func (l *wireLowering) result(m *revision.Method) string {
	if m.Op == "taskResult" {
		return SentCall(l.rev)
	}
	return m.Result
}

// assertions are the keywords that the runtime knows (runtime/internal/defined). The others of the protocol's results say nothing of a value.
var assertions = []string{
	"$ref", "type", "const", "enum", "properties", "required", "additionalProperties", "items", "maxItems", "anyOf", "allOf", "minimum", "maximum",
	"pattern", "format",
}

// asserted is what a schema asserts, as far as the runtime reads it: constants are texts there. References are the names of definitions.
func asserted(n *schema.Node) *schema.Node {
	out := &schema.Node{Kind: schema.Object}
	for _, m := range MembersOf(n) {
		if !slices.Contains(assertions, m.Key) {
			continue
		}
		switch m.Key {
		case "$ref":
			m.Value = &schema.Node{Kind: schema.String, Text: refName(n)}
		case "required":
			m.Value = sorted(m.Value)
		case "properties":
			if m.Value = assertedEach(m.Value); len(m.Value.Members) == 0 {
				continue
			}
		case "const":
			if m.Value.Kind != schema.String {
				continue
			}
		case "enum":
			if slices.ContainsFunc(m.Value.Items, func(v *schema.Node) bool { return v.Kind != schema.String }) {
				continue
			}
			m.Value = sorted(m.Value)
		case "items":
			m.Value = asserted(m.Value)
		case "additionalProperties":
			if m.Value = asserted(m.Value); len(m.Value.Members) == 0 {
				continue
			}
		case "anyOf", "allOf":
			all := *m.Value
			all.Items = make([]*schema.Node, len(m.Value.Items))
			for i, item := range m.Value.Items {
				all.Items[i] = asserted(item)
			}
			m.Value = &all
		}
		out.Members = append(out.Members, m)
	}
	sortMembers(out)
	return out
}

// sortMembers makes what a document says the same however it is written.
func sortMembers(n *schema.Node) {
	slices.SortFunc(n.Members, func(a, b schema.Member) int { return strings.Compare(a.Key, b.Key) })
}

// sorted is a list of texts whose order says nothing.
func sorted(list *schema.Node) *schema.Node {
	out := *list
	out.Items = slices.Clone(list.Items)
	slices.SortFunc(out.Items, func(a, b *schema.Node) int { return strings.Compare(a.Text, b.Text) })
	return &out
}

func assertedEach(properties *schema.Node) *schema.Node {
	out := &schema.Node{Kind: schema.Object}
	for _, m := range properties.Members {
		m.Value = asserted(m.Value)
		out.Members = append(out.Members, m)
	}
	sortMembers(out)
	return out
}
