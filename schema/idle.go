package schema

import (
	"slices"
	"strings"
)

// about names the type of the values that a keyword checks; it allows all values of other types.
var about = map[string]string{
	"minLength": "string", "maxLength": "string", "pattern": "string",
	"minimum": "number", "maximum": "number", "exclusiveMinimum": "number", "exclusiveMaximum": "number", "multipleOf": "number",
	"items": "array", "prefixItems": "array", "additionalItems": "array", "unevaluatedItems": "array", "contains": "array",
	"minItems": "array", "maxItems": "array", "uniqueItems": "array",
	"properties": "object", "patternProperties": "object", "additionalProperties": "object", "unevaluatedProperties": "object",
	"required": "object", "minProperties": "object", "maxProperties": "object", "propertyNames": "object",
	"dependentRequired": "object", "dependentSchemas": "object", "dependencies": "object",
}

// counterparts are keywords with the same meaning for values of different types.
var counterparts = []map[string]string{
	{"string": "minLength", "number": "minimum", "array": "minItems", "object": "minProperties"},
	{"string": "maxLength", "number": "maximum", "array": "maxItems", "object": "maxProperties"},
}

// company names the keyword without which another one checks nothing. It is called for each keyword of a manifest: a map took as long as the
// rest of idle.
func company(keyword string) string {
	switch keyword {
	case "then", "else":
		return "if"
	case "minContains", "maxContains":
		return "contains"
	}
	return ""
}

// idle warns of keywords that check nothing in n: their author expects a check (VAL03).
func (l *linter) idle(n *Node) {
	if l.doc.Dialect == Draft7 && n.Get("$ref") != nil {
		l.besideRef(n)
		return
	}
	types := n.Get("type")
	for i := range n.Members {
		m := &n.Members[i]
		needs, of := company(m.Key), ""
		if types != nil {
			of = about[m.Key]
		}
		switch {
		case m.Key == "$recursiveRef" || m.Key == "$recursiveAnchor":
			l.says(m, "write $ref, or $dynamicRef with $dynamicAnchor", m.Key+" is of draft 2019-09 and checks nothing")
		case needs != "" && n.Get(needs) == nil && (l.doc.Dialect == Draft2020 || needs == "if"):
			l.says(m, "add "+needs+", or remove it", m.Key+" says nothing without "+needs)
		case of != "" && !among(types, of) && (of != "number" || !among(types, "integer")):
			l.says(m, sameOf(m.Key, typesOf(n)[0]), m.Key+" is about values of type "+of+", which type does not allow")
		}
	}
}

// among reports whether types, the value of the keyword type, includes kind.
func among(types *Node, kind string) bool {
	return types.Is(String) && types.Text == kind || slices.ContainsFunc(types.items(), func(t *Node) bool { return t.Text == kind })
}

// sameOf is the hint for a bound that is for values of another type.
func sameOf(keyword, kind string) string {
	if kind == "integer" {
		kind = "number"
	}
	for _, same := range counterparts {
		if other := same[kind]; other != "" && same[about[keyword]] == keyword {
			return "write " + other
		}
	}
	return "remove it, or change type"
}

// besideRef warns of keywords beside a $ref, which draft-07 ignores.
func (l *linter) besideRef(n *Node) {
	for i := range n.Members {
		m := &n.Members[i]
		if _, known := keywords[m.Key]; known && !slices.Contains(besideRefs, m.Key) && !IsOwn(m.Key) {
			l.says(m, "write allOf: [{$ref: …}, {"+m.Key+": …}]", "draft-07 ignores "+m.Key+" beside a $ref")
		}
	}
}

// besideRefs are keywords without a warning beside a $ref: they check nothing anyway.
var besideRefs = strings.Fields("$ref $id $schema $comment $defs definitions title description default examples readOnly writeOnly deprecated")

func (l *linter) says(m *Member, hint, what string) {
	l.ds.report(Warning, m.KeyPos, m.Value.Pointer, "idle-keyword", hint, what)
}
