package schema

import "slices"

// counted warns of defaults that another rule of the object may refuse: they are filled in where the input has nothing, so an input that fits may break
// its own schema when it is written and read again (VAL03, VAL11).
func (l *linter) counted(n *Node) {
	for _, p := range n.Get("properties").members() {
		value := p.Value.Get("default")
		if value == nil || l.doc.refusal(p.Value, value) != "" || n.Get("required").lists(p.Key) {
			continue
		}
		if rule := l.counting(n, p.Key, value); rule != "" {
			l.ds.Warn(value, "conflicting-default", "remove it, or change "+rule,
				"the default is filled in where %s is missing, and %s may refuse the object then, though it took the input", quote(p.Key), rule)
		}
	}
}

// counting returns the keyword of n, or of a part of its allOf, by which an object may fit without a property and not with value in it; "" for none.
func (l *linter) counting(n *Node, name string, value *Node) string {
	for _, m := range n.members() {
		switch m.Key {
		case "maxProperties":
			if most := m.Value.Rat(); most != nil && most.IsInt() && most.Num().IsInt64() && int64(len(n.Get("properties").members())) > most.Num().Int64() {
				return m.Key
			}
		case "not", "if":
			if requires(m.Value, name) {
				return m.Key
			}
		case "oneOf":
			if slices.ContainsFunc(m.Value.items(), func(form *Node) bool { return requires(form, name) }) {
				return m.Key
			}
		case "dependentRequired", "dependentSchemas", "dependencies":
			if m.Value.Member(name) != nil {
				return m.Key
			}
		case "patternProperties":
			for _, p := range m.Value.members() {
				if matchesPattern(&Node{Kind: Object, Members: []Member{p}}, name) && l.doc.refusal(p.Value, value) != "" {
					return m.Key
				}
			}
		case "allOf":
			for _, part := range m.Value.items() {
				if rule := l.counting(part, name, value); rule != "" {
					return rule
				}
			}
		}
	}
	return ""
}

// requires reports whether n, or a part of it that is about the same object, requires the property.
func requires(n *Node, name string) bool {
	if n.Get("required").lists(name) {
		return true
	}
	for _, key := range []string{"allOf", "anyOf", "oneOf"} {
		if slices.ContainsFunc(n.Get(key).items(), func(part *Node) bool { return requires(part, name) }) {
			return true
		}
	}
	not := n.Get("not")
	return not != nil && requires(not, name)
}

// lists reports whether n has the string among its items.
func (n *Node) lists(text string) bool {
	return slices.ContainsFunc(n.items(), func(item *Node) bool { return item.Kind == String && item.Text == text })
}
