package wire

import (
	"slices"
	"strconv"
	"strings"

	"github.com/mcpkiln/mcpkiln/generator/internal/typing"
	"github.com/mcpkiln/mcpkiln/schema"
	"github.com/mcpkiln/mcpkiln/schema/revision"
)

// revisionSchema is one revision's schema for a place: a part of the merged schema.
type revisionSchema struct {
	rev *revision.Revision
	n   *schema.Node
}

// merge returns a schema at pointer that allows every value that any of parts allows. name is the name of the definition that it is; empty if it is
// inside of one.
func (p *Protocol) merge(parts []revisionSchema, pointer, name string) *schema.Node {
	if slices.ContainsFunc(parts, func(x revisionSchema) bool { return unconstrained(x.n) }) {
		return node(parts[0].n, pointer)
	}
	if !same(parts) {
		parts = p.inline(parts)
	}
	if slices.ContainsFunc(parts, func(x revisionSchema) bool { return unconstrained(x.n) || x.n == nil }) {
		return node(parts[0].n, pointer)
	}
	out := node(parts[0].n, pointer)
	for _, m := range parts[0].n.Members {
		p.keyword(out, parts, m, name)
	}
	// A definition has the members of all revisions, also where the newest has none: handlers see its type in each of them.
	if name != "" && out.Get("properties") == nil && slices.ContainsFunc(parts, func(x revisionSchema) bool { return x.n.Get("properties") != nil }) {
		p.properties(out, parts, name)
	}
	return out
}

// node is an object schema at pointer with only the title and description of n. Its Pos is empty: the merged schema is in no
// file.
func node(n *schema.Node, pointer string) *schema.Node {
	out := &schema.Node{Kind: schema.Object, Pointer: pointer}
	for _, key := range []string{"title", "description"} {
		if v := n.Get(key); v != nil {
			out.Members = append(out.Members, schema.Member{Key: key, Value: copyOf(v, pointer+"/"+key)})
		}
	}
	return out
}

// copyOf is a copy of n at pointer, without a Pos, as in node. No schema in n refers to a definition.
func copyOf(n *schema.Node, pointer string) *schema.Node {
	out := *n
	out.Pointer, out.Pos = pointer, schema.Position{}
	out.Items, out.Members = nil, nil
	for i, item := range n.Items {
		out.Items = append(out.Items, copyOf(item, pointer+"/"+strconv.Itoa(i)))
	}
	for _, m := range n.Members {
		out.Members = append(out.Members, schema.Member{Key: m.Key, Value: copyOf(m.Value, pointer+"/"+schema.EscapeToken(m.Key))})
	}
	return &out
}

// unconstrained reports whether a schema allows every value.
func unconstrained(n *schema.Node) bool {
	if n.Is(schema.Bool) {
		return n.Text == "true"
	}
	return n.Is(schema.Object) && !slices.ContainsFunc(n.Members, func(m schema.Member) bool { return !typing.Annotations[m.Key] })
}

// same reports whether all parts assert the same. References are compared by name: definitions are merged too.
func same(parts []revisionSchema) bool {
	return !slices.ContainsFunc(parts[1:], func(x revisionSchema) bool { return !assertSame(parts[0].n, x.n) })
}

// assertSame reports whether two schemas are the same, but for annotations such as descriptions, and for the order of their keys. References are
// compared by name alone, since not every document has $defs.
func assertSame(a, b *schema.Node) bool {
	if a.Kind != b.Kind || a.Text != b.Text || refName(a) != refName(b) || !slices.EqualFunc(a.Items, b.Items, assertSame) {
		return false
	}
	compared := 0
	for _, m := range a.Members {
		if !asserts(m) {
			continue
		}
		compared++
		if other := b.Member(m.Key); other == nil || !asserts(*other) || !assertSame(m.Value, other.Value) {
			return false
		}
	}
	for _, m := range b.Members {
		if asserts(m) {
			compared--
		}
	}
	return compared == 0
}

// asserts reports whether a member is neither a $ref nor an annotation. A property may have the name of an annotation: its value is an object. So a
// default that is an object counts as asserting, and schemas that differ in it alone are merged like others that differ.
func asserts(m schema.Member) bool {
	return m.Key != "$ref" && (m.Value.Kind == schema.Object || !typing.Annotations[m.Key])
}

// inline replaces references by their targets, for parts that differ.
func (p *Protocol) inline(parts []revisionSchema) []revisionSchema {
	out := slices.Clone(parts)
	for i := range out {
		for range 8 { // chains of references are short; a circle is left as it is
			name := refName(out[i].n)
			target := definition(out[i].rev, name)
			if name == "" || target == nil {
				break
			}
			out[i].n = target
		}
	}
	return out
}

// keyword merges one keyword of parts; m is that of the first part.
func (p *Protocol) keyword(out *schema.Node, parts []revisionSchema, m schema.Member, name string) {
	switch m.Key {
	case "title", "description":
		return // node copies them
	case "properties":
		p.properties(out, parts, name)
		return
	case "required":
		p.required(out, parts, name)
		return
	}
	if merged := p.value(parts, m, out.Pointer+"/"+schema.EscapeToken(m.Key)); merged != nil {
		out.Members = append(out.Members, schema.Member{Key: m.Key, Value: merged})
	}
}

// value merges what parts say under the keyword of m, which is a member of the first part. It returns nil to leave out a keyword in which they differ,
// or that it can not merge: a value that one revision allows must be valid.
func (p *Protocol) value(parts []revisionSchema, m schema.Member, at string) *schema.Node {
	values := each(parts, m.Key)
	if m.Key == "anyOf" {
		values = alternatives(parts)
	}
	switch {
	case len(values) < len(parts) || isForTheRest(parts, m.Key):
		return nil
	case m.Key == "enum":
		return enumUnion(values, at)
	case m.Key == "items" || m.Key == "additionalProperties" && m.Value.Kind == schema.Object:
		return p.merge(values, at, "")
	case m.Key == "anyOf" || m.Key == "allOf" && same(values) || m.Key == "oneOf" && same(values) && !refers(m.Value):
		return p.branches(values, at)
	case m.Key == "$ref": // equal here: parts that differed were inlined
		ref := refName(parts[0].n)
		p.define(ref)
		merged := copyOf(m.Value, at)
		merged.Text = "#/$defs/" + ref
		return merged
	case same(values) && !refers(m.Value):
		return copyOf(m.Value, at)
	}
	return nil
}

// isForTheRest reports whether a keyword is about what other keywords of parts do not cover, any of which may have been left out.
func isForTheRest(parts []revisionSchema, key string) bool {
	switch key {
	case "additionalProperties":
		return len(each(parts, "patternProperties")) > 0
	case "items":
		return len(each(parts, "prefixItems")) > 0
	}
	return key == "unevaluatedProperties" || key == "unevaluatedItems"
}

// refers reports whether n, or a schema in it, refers to a definition. The merged definition may allow more, and so a not or a oneOf with it less.
func refers(n *schema.Node) bool {
	return n.Get("$ref") != nil || slices.ContainsFunc(n.Items, refers) || slices.ContainsFunc(n.Members, func(m schema.Member) bool { return refers(m.Value) })
}

// alternatives are the lists of anyOf; for a part without it, a list of the schema itself.
func alternatives(parts []revisionSchema) []revisionSchema {
	all := make([]revisionSchema, len(parts))
	for i, x := range parts {
		list := x.n.Get("anyOf")
		if list == nil {
			list = &schema.Node{Kind: schema.Array, Items: []*schema.Node{x.n}}
		}
		all[i] = revisionSchema{x.rev, list}
	}
	return all
}

// each returns the values of key in the parts that have it.
func each(parts []revisionSchema, key string) []revisionSchema {
	var all []revisionSchema
	for _, x := range parts {
		if v := x.n.Get(key); v != nil {
			all = append(all, revisionSchema{x.rev, v})
		}
	}
	return all
}

// enumUnion lists each value of an enum once.
func enumUnion(lists []revisionSchema, at string) *schema.Node {
	out := &schema.Node{Kind: schema.Array, Pointer: at}
	seen := map[string]bool{}
	for _, l := range lists {
		for _, v := range l.n.Items {
			if text := string(v.JSON()); !seen[text] {
				seen[text] = true
				out.Items = append(out.Items, copyOf(v, at+"/"+strconv.Itoa(len(out.Items))))
			}
		}
	}
	return out
}

// branches lists the alternatives of all parts once each. An alternative without a $ref is not merged with those of other revisions. Where two
// revisions differ in one, both versions are listed, and no revision is recorded in omittedIn for their properties.
func (p *Protocol) branches(lists []revisionSchema, at string) *schema.Node {
	out := &schema.Node{Kind: schema.Array, Pointer: at}
	var seen []*schema.Node
	for _, l := range lists {
		for _, v := range l.n.Items {
			if !slices.ContainsFunc(seen, func(s *schema.Node) bool { return assertSame(s, v) }) {
				seen = append(seen, v)
				out.Items = append(out.Items, p.merge([]revisionSchema{{l.rev, v}}, at+"/"+strconv.Itoa(len(out.Items)), ""))
			}
		}
	}
	return out
}

// properties merges the properties of all parts and records for each in which revisions it is left out.
func (p *Protocol) properties(out *schema.Node, parts []revisionSchema, name string) {
	at := out.Pointer + "/properties"
	list := &schema.Node{Kind: schema.Object, Pointer: at}
	for _, x := range parts {
		props := x.n.Get("properties")
		if props == nil {
			continue
		}
		for _, m := range props.Members {
			if list.Get(m.Key) == nil && !(p.messages[name] && p.ownedByRuntime[m.Key]) {
				list.Members = append(list.Members, schema.Member{Key: m.Key, Value: p.property(parts, m.Key, at, name)})
			}
		}
	}
	slices.SortStableFunc(list.Members, func(a, b schema.Member) int { return strings.Compare(a.Key, b.Key) })
	out.Members = append(out.Members, schema.Member{Key: "properties", Value: list})
}

func (p *Protocol) property(parts []revisionSchema, key, at, name string) *schema.Node {
	var have []revisionSchema
	var lack, omit []string
	for _, x := range parts {
		if v := x.n.Get("properties").Get(key); v != nil {
			have = append(have, revisionSchema{x.rev, v})
			continue
		}
		lack = append(lack, x.rev.Name)
		if !refusesMember(x.rev, name, key) {
			omit = append(omit, x.rev.Name)
		}
	}
	at += "/" + schema.EscapeToken(key)
	if key == metaMember { // the runtime reads and writes some of its keys; the others belong to handlers
		meta := objectNode(at)
		if !p.messages[name] { // a message may always have it
			p.omittedIn[meta] = omit
		}
		return meta
	}
	merged := p.merge(have, at, "")
	if lack != nil {
		p.omittedIn[merged] = omit
		mention(merged, lifetime(parts, lack))
	}
	return merged
}

// refusesMember reports whether the member key of the params called name asks for something that no client of r can do. Such a request is
// refused, because leaving the member out would ask for something else.
func refusesMember(r *revision.Revision, name, key string) bool {
	for _, m := range r.Methods {
		if m.Params == name && slices.ContainsFunc(m.Needs, func(n revision.Need) bool { return n.Member == key && n.Capability == "" }) {
			return true
		}
	}
	return false
}

// lifetime describes in which revisions a property exists: those of parts, newest first, except those in lack.
func lifetime(parts []revisionSchema, lack []string) string {
	lacks := func(x revisionSchema) bool { return slices.Contains(lack, x.rev.Name) }
	has := func(x revisionSchema) bool { return !lacks(x) }
	newest := slices.IndexFunc(parts, has)
	oldest := newest + len(parts) - len(lack) - 1
	switch from, to := parts[oldest].rev.Name, parts[newest].rev.Name; {
	case slices.ContainsFunc(parts[newest:oldest+1], lacks):
		return "Not in " + strings.Join(lack, ", ") + "."
	case newest == 0:
		return "Since " + from + "."
	case newest == oldest:
		return "Only in " + to + "."
	case oldest == len(parts)-1:
		return "Until " + to + "."
	default:
		return "From " + from + " to " + to + "."
	}
}

// mention adds a sentence to a description.
func mention(n *schema.Node, sentence string) {
	if m := n.Member("description"); m != nil {
		m.Value.Text += " " + sentence
		return
	}
	text := &schema.Node{Kind: schema.String, Pointer: n.Pointer + "/description", Text: sentence}
	n.Members = append(n.Members, schema.Member{Key: "description", Value: text})
}

func objectNode(at string) *schema.Node {
	kind := &schema.Node{Kind: schema.String, Pointer: at + "/type", Text: "object"}
	return &schema.Node{Kind: schema.Object, Pointer: at, Members: []schema.Member{{Key: "type", Value: kind}}}
}

// required keeps the members that every part requires, except for those that the runtime owns or fills.
func (p *Protocol) required(out *schema.Node, parts []revisionSchema, name string) {
	list := &schema.Node{Kind: schema.Array, Pointer: out.Pointer + "/required"}
	for _, v := range parts[0].n.Get("required").Items {
		keep := !p.messages[name] || !p.ownedByRuntime[v.Text] && !p.filled[v.Text]
		for _, x := range parts[1:] {
			keep = keep && slices.ContainsFunc(itemsOf(x.n.Get("required")), func(n *schema.Node) bool { return n.Text == v.Text })
		}
		if keep {
			list.Items = append(list.Items, copyOf(v, list.Pointer+"/"+strconv.Itoa(len(list.Items))))
		}
	}
	if len(list.Items) > 0 {
		out.Members = append(out.Members, schema.Member{Key: "required", Value: list})
	}
}
