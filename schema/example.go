package schema

import (
	"strconv"
	"strings"
)

// Example returns a small value that the schema of d allows: a default, an example or a constant where there is one, and only required
// properties. It is nil if none is found; there may still be one.
func (d *Document) Example() *Node {
	v := (&exampler{doc: d}).value(d.Root, 0)
	if v == nil || d.refusal(d.Root, v) != "" {
		return nil
	}
	return v
}

type exampler struct{ doc *Document }

// deepest is how many levels of references and properties are followed: a schema that requires itself has no small value.
const deepest = 12

// samplesOf has a text for each format.
var samplesOf = map[string]string{
	"date-time": "2026-07-28T09:30:00Z", "date": "2026-07-28", "time": "09:30:00Z", "duration": "PT1H", "email": "a@example.com", "idn-email": "a@example.com",
	"hostname": "example.com", "idn-hostname": "example.com", "ipv4": "192.0.2.1", "ipv6": "2001:db8::1", "uri": "https://example.com/", "iri": "https://example.com/",
	"uri-reference": "/", "iri-reference": "/", "uuid": "01890a5d-ac96-774b-bcce-b302099a8057", "json-pointer": "/a", "regex": "a",
}

func (e *exampler) value(n *Node, depth int) *Node {
	if depth > deepest || n.Is(Bool) && n.Text == "false" {
		return nil
	}
	for _, key := range [...]string{"const", "default"} {
		if v := n.Get(key); v != nil {
			return v
		}
	}
	for _, key := range [...]string{"examples", "enum"} {
		if items := n.Get(key).items(); len(items) > 0 {
			return items[0]
		}
	}
	if ref := n.Get("$ref"); ref.Is(String) {
		target, problem := e.doc.Resolve(ref.Text, ref)
		if problem != nil {
			return nil
		}
		return e.value(target, depth+1)
	}
	for _, key := range [...]string{"anyOf", "oneOf", "allOf"} {
		if items := n.Get(key).items(); len(items) > 0 && n.Get("type") == nil {
			return e.value(items[0], depth+1)
		}
	}
	return e.ofType(n, depth)
}

func (e *exampler) ofType(n *Node, depth int) *Node {
	types := typesOf(n)
	if len(types) == 0 {
		types = []string{"object"}
	}
	switch types[0] {
	case "string":
		return &Node{Kind: String, Text: sampleText(n)}
	case "integer", "number":
		return &Node{Kind: Number, Text: sampleNumber(n)}
	case "boolean":
		return &Node{Kind: Bool, Text: "false"}
	case "null":
		return &Node{Kind: Null}
	case "array":
		return e.array(n, depth)
	}
	out := &Node{Kind: Object}
	for _, key := range n.Get("required").items() {
		property := n.Get("properties").Get(key.Text)
		if property == nil {
			property = &Node{Kind: Object}
		}
		v := e.value(property, depth+1)
		if v == nil {
			return nil
		}
		out.Members = append(out.Members, Member{Key: key.Text, Value: v})
	}
	return out
}

func (e *exampler) array(n *Node, depth int) *Node {
	out := &Node{Kind: Array}
	for i := range countOf(n, "minItems") {
		item := n.Get("items")
		if prefix := n.Get("prefixItems").items(); i < len(prefix) {
			item = prefix[i]
		}
		if item == nil {
			item = &Node{Kind: Object}
		}
		v := e.value(item, depth+1)
		if v == nil || len(out.Items) > maxExample {
			return nil
		}
		out.Items = append(out.Items, v)
	}
	return out
}

// maxExample is the greatest length of lists and texts in an example.
const maxExample = 100

func sampleText(n *Node) string {
	text := "a"
	if s, ok := samplesOf[textOf(n.Get("format"))]; ok {
		text = s
	}
	if need := countOf(n, "minLength") - len(text); need > 0 {
		text += strings.Repeat("a", min(need, maxExample))
	}
	return text
}

// sampleNumber is 1, or the value of a bound.
func sampleNumber(n *Node) string {
	for _, key := range [...]string{"minimum", "maximum", "multipleOf"} {
		if v := n.Get(key); v.Is(Number) {
			return v.Text
		}
	}
	if v := n.Get("exclusiveMinimum"); v.Is(Number) {
		if i, err := strconv.Atoi(v.Text); err == nil {
			return strconv.Itoa(i + 1)
		}
	}
	return "1"
}

// countOf is the value of a keyword such as minItems, at most maxExample+1.
func countOf(n *Node, key string) int {
	v := n.Get(key)
	if !v.Is(Number) {
		return 0
	}
	i, err := strconv.Atoi(v.Text)
	if err != nil {
		return 0
	}
	return max(0, min(i, maxExample+1))
}
