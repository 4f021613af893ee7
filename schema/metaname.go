package schema

import "strings"

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
	text := `{"type": "object", "propertyNames": {"pattern": ` + QuoteJSON(`^(`+MetaLabel+`(\.`+MetaLabel+`)*/)?`+MetaName+`$`) +
		`, "anyOf": [{"pattern": ` + QuoteJSON(own) + `}, {"not": {"pattern": ` + QuoteJSON(reservedMeta()) + `}}]}}`
	n, _ := ParseJSON("", []byte(text))
	return n
}

// ReservesMeta reports whether a prefix of these labels is reserved for the protocol in any revision: 2025-06-18 reserves one in which the protocol's
// label stands before another (modelcontextprotocol.io/, tools.mcp.com/), later ones one whose second label it is. A handler writes its keys once for
// all revisions.
func ReservesMeta(labels []string) bool {
	for i, label := range labels {
		if IsProtocolLabel(label) && (i == 1 || i < len(labels)-1) {
			return true
		}
	}
	return false
}

// reservedMeta is a pattern for names whose prefix ReservesMeta reserves.
func reservedMeta() string {
	label := `(` + anyCase("modelcontextprotocol") + `|` + anyCase("mcp") + `)`
	return `^([^./]+\.` + label + `/|([^./]+\.)*` + label + `\.[^/]*/)`
}

// IsProtocolLabel reports whether a label is the protocol's. Where in a prefix that reserves it, ReservesMeta says.
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
