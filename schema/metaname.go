package schema

import "strings"

// MetaLabel and MetaName match the parts of a name in _meta: an optional prefix, which is labels joined by dots and followed by a slash,
// and a name (LET04).
const (
	MetaLabel = `[A-Za-z]([A-Za-z0-9-]*[A-Za-z0-9])?`
	MetaName  = `([A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?)?`
)

// MetaObject is the schema of a _meta that a handler writes. Prefixes with the protocol's label are reserved, except for that of
// its extensions, which define names for servers. Labels are parts of domain names, which ignore case: a label that differs from the protocol's only
// in case is reserved, too.
func MetaObject() *Node {
	const own = `^io\.modelcontextprotocol/`
	reserved := `^[^./]+\.(` + anyCase("modelcontextprotocol") + `|` + anyCase("mcp") + `)[./]`
	text := `{"type": "object", "propertyNames": {"pattern": ` + QuoteJSON(`^(`+MetaLabel+`(\.`+MetaLabel+`)*/)?`+MetaName+`$`) +
		`, "anyOf": [{"pattern": ` + QuoteJSON(own) + `}, {"not": {"pattern": ` + QuoteJSON(reserved) + `}}]}}`
	n, _ := ParseJSON("", []byte(text))
	return n
}

// IsProtocolLabel reports whether a label, the second one of a prefix, reserves it for the protocol.
func IsProtocolLabel(label string) bool {
	return strings.EqualFold(label, "modelcontextprotocol") || strings.EqualFold(label, "mcp")
}

// anyCase is a pattern for a word in lower or upper case. JSON Schema has no flags.
func anyCase(word string) string {
	var b strings.Builder
	for _, c := range word {
		b.WriteString("[" + strings.ToUpper(string(c)) + string(c) + "]")
	}
	return b.String()
}
