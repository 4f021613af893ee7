package reference

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mcpkiln/mcpkiln/schema"
)

// deepest is how far below the value a table tells of members; the whole schema stands below it.
const deepest = 5

// tableOf has a row for each member of the values that a schema allows, and nil if it names none.
func tableOf(d *schema.Document) *Table {
	t := &tabling{doc: d, table: Table{Head: []string{"name", "type", "required", "what it is"}}}
	t.members("", d.Root, true, 0)
	if len(t.table.Rows) == 0 {
		return nil
	}
	return &t.table
}

type tabling struct {
	doc   *schema.Document
	table Table
	above []*schema.Node // the schemas around, of which one may contain itself
}

// resolved follows references.
func (t *tabling) resolved(n *schema.Node) *schema.Node {
	for range deepest {
		ref := n.Get("$ref")
		if !ref.Is(schema.String) {
			break
		}
		target, wrong := t.doc.Resolve(ref.Text, ref)
		if wrong != nil {
			break
		}
		n = target
	}
	return n
}

// members adds the rows of what is in a value: properties, items, and those of the parts of combinations.
func (t *tabling) members(path string, n *schema.Node, needed bool, depth int) {
	n = t.resolved(n)
	if depth > deepest || !n.Is(schema.Object) || slices.Contains(t.above, n) {
		return
	}
	t.above = append(t.above, n)
	defer func() { t.above = t.above[:len(t.above)-1] }()
	for _, m := range membersOf(n.Get("properties")) {
		t.row(dotted(path, m.Key), m.Value, needed && requires(n, m.Key), depth)
	}
	for _, m := range membersOf(n.Get("patternProperties")) {
		t.row(dotted(path, "/"+m.Key+"/"), m.Value, false, depth)
	}
	if more := n.Get("additionalProperties"); more.Is(schema.Object) {
		t.row(dotted(path, "*"), more, false, depth)
	}
	if items := n.Get("items"); items.Is(schema.Object) {
		if len(told(items))+len(rules(items)) > 0 {
			t.row(path+"[]", items, true, depth+1)
		} else {
			t.members(path+"[]", items, true, depth+1)
		}
	}
	for _, key := range []string{"allOf", "anyOf", "oneOf"} {
		if all := n.Get(key); all.Is(schema.Array) {
			for _, part := range all.Items {
				t.members(path, part, needed && key == "allOf", depth)
			}
		}
	}
}

func membersOf(n *schema.Node) []schema.Member {
	if !n.Is(schema.Object) {
		return nil
	}
	return n.Members
}

func dotted(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

func requires(n *schema.Node, name string) bool {
	required := n.Get("required")
	return required.Is(schema.Array) && slices.ContainsFunc(required.Items, func(r *schema.Node) bool { return r.Text == name })
}

// row adds a member, and those below it. Combinations may have a member several times: each of its forms has a row.
func (t *tabling) row(path string, n *schema.Node, needed bool, depth int) {
	target := t.resolved(n)
	presence := text("no")
	value := n.Get("default")
	if value == nil {
		value = target.Get("default")
	}
	switch {
	case needed:
		presence = text("yes")
	case value != nil:
		presence = append(code(string(value.JSON())), Span{Text: " if left out"})
	}
	about := join(" ", told(n), rules(target))
	if n != target {
		about = join(" ", told(n), told(target), rules(n), rules(target))
	}
	t.table.Rows = append(t.table.Rows, []Text{code(path), t.kind(n, 0), presence, about})
	t.members(path, n, true, depth+1)
}

// told is what a schema says to people.
func told(n *schema.Node) Text {
	var parts []Text
	for _, key := range []string{"title", "description"} {
		if v := n.Get(key); v.Is(schema.String) {
			parts = append(parts, text(sentence(v.Text)))
		}
	}
	if v := n.Get("deprecated"); v.Is(schema.Bool) && v.Text == "true" {
		parts = append(parts, text("Deprecated."))
	}
	return join(" ", parts...)
}

// sentence ends with a full stop.
func sentence(s string) string {
	s = strings.TrimSpace(s)
	if s != "" && !strings.ContainsAny(s[len(s)-1:], ".!?:") {
		s += "."
	}
	return s
}

// kind says in a few words what values a schema allows.
func (t *tabling) kind(n *schema.Node, depth int) Text {
	n = t.resolved(n)
	switch {
	case depth > 2:
		return text("…")
	case n.Is(schema.Bool) && n.Text == "false":
		return text("nothing")
	case !n.Is(schema.Object):
		return text("anything")
	case n.Get("const") != nil:
		return code(string(n.Get("const").JSON()))
	case n.Get("enum").Is(schema.Array):
		return values(n.Get("enum").Items)
	}
	if names := typeNames(n); len(names) > 0 {
		var all []Text
		for _, name := range names {
			all = append(all, t.typed(name, n, depth))
		}
		return join(" or ", all...)
	}
	for _, key := range []string{"anyOf", "oneOf", "allOf"} {
		all := n.Get(key)
		if !all.Is(schema.Array) {
			continue
		}
		var kinds []Text
		for _, part := range all.Items {
			if k := t.kind(part, depth+1); !slices.ContainsFunc(kinds, func(o Text) bool { return slices.Equal(o, k) }) {
				kinds = append(kinds, k)
			}
		}
		return join(map[bool]string{true: " and ", false: " or "}[key == "allOf"], kinds...)
	}
	if n.Get("properties") != nil {
		return text("object")
	}
	return text("anything")
}

// maxValues is how many values of an enum a table has.
const maxValues = 12

func values(items []*schema.Node) Text {
	var all []Text
	for _, v := range items[:min(len(items), maxValues)] {
		all = append(all, code(string(v.JSON())))
	}
	if more := len(items) - maxValues; more > 0 {
		all = append(all, text(fmt.Sprintf("%d more", more)))
	}
	return join(", ", all...)
}

func typeNames(n *schema.Node) (names []string) {
	switch v := n.Get("type"); {
	case v.Is(schema.String):
		names = append(names, v.Text)
	case v.Is(schema.Array):
		for _, item := range v.Items {
			names = append(names, item.Text)
		}
	}
	return names
}

func (t *tabling) typed(name string, n *schema.Node, depth int) Text {
	switch items := n.Get("items"); {
	case name == "array" && items.Is(schema.Object):
		return append(text("list of "), t.kind(items, depth+1)...)
	case name == "array":
		return text("list")
	case name == "object" && n.Get("properties") == nil && n.Get("additionalProperties").Is(schema.Object):
		return append(text("object of "), t.kind(n.Get("additionalProperties"), depth+1)...)
	}
	if format := n.Get("format"); name == "string" && format.Is(schema.String) {
		return text(name + " (" + format.Text + ")")
	}
	return text(name)
}

// bounds are the keywords that a table has, with what they mean. Whatever else a schema says stands in the schema below the table.
var bounds = []struct{ key, says string }{
	{"minLength", "at least %s characters"}, {"maxLength", "at most %s characters"}, {"pattern", "matches %s"},
	{"minimum", "at least %s"}, {"exclusiveMinimum", "more than %s"}, {"maximum", "at most %s"}, {"exclusiveMaximum", "less than %s"},
	{"multipleOf", "a multiple of %s"}, {"minItems", "at least %s items"}, {"maxItems", "at most %s items"},
	{"minProperties", "at least %s members"}, {"maxProperties", "at most %s members"}, {"contentEncoding", "encoded as %s"}, {"contentMediaType", "holds %s"},
}

// rules are the bounds of a schema.
func rules(n *schema.Node) Text {
	var all []Text
	for _, b := range bounds {
		v := n.Get(b.key)
		if v == nil {
			continue
		}
		before, after, _ := strings.Cut(b.says, "%s")
		if v.Text == "1" {
			after = strings.TrimSuffix(after, "s")
		}
		all = append(all, Text{{Text: before}, {Text: v.Text, Code: true}, {Text: after}})
	}
	if v := n.Get("uniqueItems"); v.Is(schema.Bool) && v.Text == "true" {
		all = append(all, text("no item twice"))
	}
	if v := n.Get("examples"); v.Is(schema.Array) && len(v.Items) > 0 {
		all = append(all, append(text("for example "), code(string(v.Items[0].JSON()))...))
	}
	if len(all) == 0 {
		return nil
	}
	said := append(join("; ", all...), Span{Text: "."})
	said[0].Text = strings.ToUpper(said[0].Text[:1]) + said[0].Text[1:]
	return said
}
