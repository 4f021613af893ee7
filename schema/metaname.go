package schema

// MetaLabel and MetaName match the parts of a name in _meta: an optional prefix, which is labels with dots between them and a slash
// behind, and a word (LET04).
const (
	MetaLabel = `[A-Za-z]([A-Za-z0-9-]*[A-Za-z0-9])?`
	MetaName  = `([A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?)?`
)

// MetaObject is the schema of a _meta that a handler writes. Prefixes with the protocol's label are reserved, except for that of
// its extensions, which define names for servers.
func MetaObject() *Node {
	const own, reserved = `^io\.modelcontextprotocol/`, `^[^./]+\.(modelcontextprotocol|mcp)[./]`
	text := `{"type": "object", "propertyNames": {"pattern": ` + QuoteJSON(`^(`+MetaLabel+`(\.`+MetaLabel+`)*/)?`+MetaName+`$`) +
		`, "anyOf": [{"pattern": ` + QuoteJSON(own) + `}, {"not": {"pattern": ` + QuoteJSON(reserved) + `}}]}}`
	n, _ := ParseJSON("", []byte(text))
	return n
}
