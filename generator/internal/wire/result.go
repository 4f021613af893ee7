package wire

import (
	"slices"
	"strings"

	"github.com/mcpkiln/mcpkiln/generator/internal/model"
	"github.com/mcpkiln/mcpkiln/runtime/wire"
	"github.com/mcpkiln/mcpkiln/schema"
	"github.com/mcpkiln/mcpkiln/schema/revision"
)

// definitions adds the definitions of the results of the wire's requests, and those that they refer to, as text. With them the runtime validates
// results that no handler made (LET01). doc.go says why they are not Go code.
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
		text := l.asserted(n)
		text.Walk(func(n *schema.Node) bool {
			if ref := refName(n); ref != "" {
				names = append(names, ref)
			}
			return true
		})
		l.define(model.WireDefinition{Name: name, Schema: string(text.JSON())})
	}
	slices.SortFunc(l.wire.Definitions, func(a, b model.WireDefinition) int { return strings.Compare(a.Name, b.Name) })
}

// define adds a definition, unless the newest wire has the same.
func (l *wireLowering) define(d model.WireDefinition) {
	if newest := l.shared.newest; newest != l.wire && slices.Contains(newest.Definitions, d) {
		l.wire.Inherits = newest.Suffix
	} else {
		l.wire.Definitions = append(l.wire.Definitions, d)
	}
}

// result is the definition of the result of a method. That of tasks/result is a tool's result.
func (l *wireLowering) result(m *revision.Method) string {
	if m.Op == "taskResult" {
		return SentCall(l.rev)
	}
	return m.Result
}

// assertions are the keywords that the runtime reads.
var assertions = wire.Assertions()

// asserted is a schema with only the keywords that the runtime validates; the runtime knows only constants that are strings. References become the names
// of definitions; a reference to a definition that has only a type is replaced by the definition.
func (l *wireLowering) asserted(n *schema.Node) *schema.Node {
	if of := definition(l.rev, refName(n)); of != nil && saysTypeAlone(of) && !assertsBeside(n, "$ref") {
		n = of
	}
	members := MembersOf(n)
	out := &schema.Node{Kind: schema.Object, Members: make([]schema.Member, 0, len(members))}
	for _, m := range members {
		if slices.Contains(assertions, m.Key) {
			if m.Value = l.assertion(n, m); m.Value != nil {
				out.Members = append(out.Members, m)
			}
		}
	}
	sortMembers(out)
	return out
}

// assertion is the value of one keyword of n, nil where the runtime would validate nothing by it.
func (l *wireLowering) assertion(n *schema.Node, m schema.Member) *schema.Node {
	switch m.Key {
	case "$ref":
		return &schema.Node{Kind: schema.String, Text: refName(n)}
	case "required":
		return sorted(m.Value)
	case "const":
		if m.Value.Kind != schema.String {
			return nil
		}
	case "enum":
		if slices.ContainsFunc(m.Value.Items, func(v *schema.Node) bool { return v.Kind != schema.String }) {
			return nil
		}
		return sorted(m.Value)
	case "items":
		return l.asserted(m.Value)
	case "properties":
		return withMembers(l.assertedEach(m.Value))
	case "additionalProperties":
		return withMembers(l.asserted(m.Value))
	case "anyOf", "allOf":
		all := *m.Value
		all.Items = make([]*schema.Node, len(m.Value.Items))
		for i, item := range m.Value.Items {
			all.Items[i] = l.asserted(item)
		}
		return &all
	}
	return m.Value
}

// saysTypeAlone reports whether a schema asserts a type and nothing else.
func saysTypeAlone(n *schema.Node) bool {
	return n.Get("type") != nil && !assertsBeside(n, "type")
}

// assertsBeside reports whether a schema has another keyword that the runtime reads.
func assertsBeside(n *schema.Node, keyword string) bool {
	return slices.ContainsFunc(n.Members, func(m schema.Member) bool { return m.Key != keyword && slices.Contains(assertions, m.Key) })
}

// withMembers is n, or nil if it is an empty object.
func withMembers(n *schema.Node) *schema.Node {
	if len(n.Members) == 0 {
		return nil
	}
	return n
}

// sortMembers makes the text of an object independent of the order in the document.
func sortMembers(n *schema.Node) {
	slices.SortFunc(n.Members, func(a, b schema.Member) int { return strings.Compare(a.Key, b.Key) })
}

// sorted is a list of strings, sorted: their order has no meaning.
func sorted(list *schema.Node) *schema.Node {
	out := *list
	out.Items = slices.Clone(list.Items)
	slices.SortFunc(out.Items, func(a, b *schema.Node) int { return strings.Compare(a.Text, b.Text) })
	return &out
}

func (l *wireLowering) assertedEach(properties *schema.Node) *schema.Node {
	out := &schema.Node{Kind: schema.Object, Members: make([]schema.Member, 0, len(properties.Members))}
	for _, m := range properties.Members {
		m.Value = l.asserted(m.Value)
		out.Members = append(out.Members, m)
	}
	sortMembers(out)
	return out
}
