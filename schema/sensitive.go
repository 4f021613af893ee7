package schema

// sensitiveKeyword says of a property that its value is for the handler alone: the runtime keeps it out of logs, observers and what
// violations say. It asserts nothing, and is advertised as it is: a client may hide the value, too.
const sensitiveKeyword = "x-sensitive"

// sensitive checks a use of the keyword. The runtime finds it by the names of properties.
func (l *linter) sensitive(n, v *Node) {
	switch {
	case v.Kind != Bool:
		l.ds.Report(v, "keyword-type", "write x-sensitive: true", "x-sensitive takes true or false, not %s", describe(v))
	case l.notes[n]&noteProperty == 0:
		l.ds.Report(v, "sensitive", "write it at the property, beside a $ref if there is one", "x-sensitive stands at a property, and this schema is none")
	case n.Get("x-mcp-header") != nil && v.Text == "true":
		l.ds.Report(v, "sensitive", "remove x-mcp-header", "what is sensitive can not be in a header, which gateways log")
	}
}
