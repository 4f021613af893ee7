package schema

// sensitiveKeyword marks a property whose value is for the handler alone: the runtime keeps it out of logs, observers and messages of
// violations. It asserts nothing, and is advertised as it is: a client may hide the value, too.
const sensitiveKeyword = "x-sensitive"

// MentionsSensitive reports whether a key in d, or in the schemas that it shares, is x-sensitive. Nearly no document has one.
func (d *Document) MentionsSensitive() bool {
	return d.sensitive || d.Shared != nil && d.Shared.sensitive
}

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

// refersToSensitive refuses a $ref from a schema that is not sensitive to a property that is: under the other name its value would be shown.
func (l *linter) refersToSensitive(n, ref, target *Node) {
	if said := target.Get(sensitiveKeyword); said == nil || said.Text != "true" || n.Get(sensitiveKeyword) != nil {
		return
	}
	l.ds.Report(ref, "sensitive", "write x-sensitive: true at the property, beside the $ref", "$ref leads to a property that is x-sensitive, and this one would be shown")
}
