package schema

import (
	"slices"
	"strings"
)

// MetaLabel and MetaName match the parts of a name in _meta: an optional prefix, which is labels joined by dots and followed by a slash,
// and a name (LET04).
const (
	MetaLabel = `[A-Za-z]([A-Za-z0-9-]*[A-Za-z0-9])?`
	MetaName  = `([A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?)?`
)

// MetaObject is the schema of a _meta that a handler writes. Prefixes with the protocol's label are reserved (ReservesMeta), except for that of
// its extensions, which define names for servers. Labels are parts of domain names, which ignore case: a label that differs from the protocol's only
// in case is reserved, too.
func MetaObject() *Node {
	const own = `^io\.modelcontextprotocol/`
	label := `(` + anyCase("modelcontextprotocol") + `|` + anyCase("mcp") + `)`
	reserved := `^([^./]+\.` + label + `[./]|([^./]+\.)*` + label + `\.[^/]*/)`
	text := `{"type": "object", "propertyNames": {"pattern": ` + QuoteJSON(`^(`+MetaLabel+`(\.`+MetaLabel+`)*/)?`+MetaName+`$`) +
		`, "anyOf": [{"pattern": ` + QuoteJSON(own) + `}, {"not": {"pattern": ` + QuoteJSON(reserved) + `}}]}}`
	n, _ := ParseJSON("", []byte(text))
	return n
}

// ReservesMeta reports whether a prefix of these labels is reserved for the protocol in any revision: 2025-06-18 reserves one in which the protocol's
// label stands before another (modelcontextprotocol.io/, tools.mcp.com/), later ones one whose second label it is. A handler writes its keys once for
// all revisions.
func ReservesMeta(labels []string) bool {
	last := len(labels) - 1
	return last > 0 && IsProtocolLabel(labels[1]) || slices.ContainsFunc(labels[:last], IsProtocolLabel)
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
