package schema

// circles reports references that lead back to themselves without a step into the value: validation would never
// end.
func (l *linter) circles(n *Node) {
	if n.Kind != Object {
		return
	}
	if _, met := l.passed[n]; met {
		return
	}
	l.passed[n] = false
	l.inPlace(n, func(next, ref *Node) {
		done, met := l.passed[next]
		if met && !done && ref != nil {
			l.ds.Report(ref, "ref-circle", "remove it, or let it stand below properties or items", "$ref leads in a circle without looking into the value")
		} else if !met {
			l.circles(next)
		}
	})
	l.passed[n] = true
}

// inPlace calls visit for each schema that is applied to the same value as n, with the $ref that leads there.
func (l *linter) inPlace(n *Node, visit func(next, ref *Node)) {
	for i := range n.Members {
		m := &n.Members[i]
		switch m.Key {
		case "$ref", "$dynamicRef":
			if target, d := l.doc.Resolve(m.Value.Text, m.Value); d == nil && m.Value.Kind == String {
				visit(target, m.Value)
			}
		case "allOf", "anyOf", "oneOf":
			for _, s := range m.Value.Items {
				visit(s, nil)
			}
		case "not", "if", "then", "else":
			visit(m.Value, nil)
		case "dependentSchemas", "dependencies":
			for _, s := range m.Value.members() {
				if s.Value.Kind != Array {
					visit(s.Value, nil)
				}
			}
		}
	}
}
