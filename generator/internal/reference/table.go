package reference

import (
	"slices"
	"strings"

	"github.com/mcpkiln/mcpkiln/schema"
)

// deepest is how many levels of members a table shows at most, and maxRows how many rows it has at most. Where something is left out, the table
// refers to the whole schema, which the page has below the table.
const (
	deepest = 5
	maxRows = 500
)

// tableOf has a row for each member of the values that a schema allows; nil if the schema names none. The members of a definition have rows once: where
// the definition is used again, there is a link to them. id makes the anchors of links.
func tableOf(d *schema.Document, id func(string) string) *Table {
	t := &tableMaker{doc: d, id: id, table: Table{Head: []string{"name", "type", "required, or default", "what it is"}},
		shown: map[*schema.Node]holder{}, parts: map[part]bool{}, holding: map[*schema.Node]bool{}, kinds: map[nested]Text{}}
	t.shown[t.resolved(d.Root)] = holder{row: noRow}
	t.members(holder{row: noRow}, d.Root, true, 0)
	if len(t.table.Rows) == 0 {
		return nil
	}
	if t.cut {
		t.table.Rows = append(t.table.Rows, []Text{text("…"), nil, nil, text("More rows are left out: the whole schema stands below.")})
	}
	return &t.table
}

type tableMaker struct {
	doc   *schema.Document
	id    func(string) string
	table Table
	cut   bool                    // there were more rows than maxRows
	shown map[*schema.Node]holder // schemas whose members have rows, with the value at which they do
	parts map[part]bool           // parts that have rows

	holding map[*schema.Node]bool // results of holds
	kinds   map[nested]Text       // results of kind
}

// holder is a value that has members.
type holder struct {
	path string // empty for the whole value
	row  int    // the row about the value
}

// noRow is the row of the whole value, and of its items.
const noRow = -1

// nested is a schema, and its depth within a row's type.
type nested struct {
	schema *schema.Node
	depth  int
}

// part is a schema of an allOf, anyOf or oneOf of the value at path. It is added once for each path.
type part struct {
	path   string
	schema *schema.Node
}

// resolved follows references.
func (t *tableMaker) resolved(n *schema.Node) *schema.Node {
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

// members adds the rows of the members of a value: properties, items, and those of the schemas in allOf, anyOf and oneOf. needed is false below anyOf
// and oneOf: what one of their schemas requires is not always required.
func (t *tableMaker) members(p holder, n *schema.Node, needed bool, depth int) {
	n = t.resolved(n)
	if !n.Is(schema.Object) {
		return
	}
	for _, m := range membersOf(n.Get("properties")) {
		t.row(dotted(p.path, m.Key), m.Value, needed && requires(n, m.Key), depth)
	}
	for _, m := range membersOf(n.Get("patternProperties")) {
		t.row(dotted(p.path, "/"+m.Key+"/"), m.Value, false, depth)
	}
	if more := n.Get("additionalProperties"); more.Is(schema.Object) {
		t.row(dotted(p.path, "*"), more, false, depth)
	}
	if items := n.Get("items"); items.Is(schema.Object) {
		t.items(p, items, depth)
	}
	for _, key := range []string{"allOf", "anyOf", "oneOf"} {
		if all := n.Get(key); all.Is(schema.Array) {
			for _, schema := range all.Items {
				if x := (part{p.path, t.resolved(schema)}); !t.parts[x] {
					t.parts[x] = true
					t.members(p, schema, needed && key == "allOf", depth)
				}
			}
		}
	}
}

// items adds the rows of the members of a list's items, below a row for the items themselves if there is anything else to say of these.
func (t *tableMaker) items(p holder, n *schema.Node, depth int) {
	path, target := p.path+"[]", t.resolved(n)
	if t.elsewhere(target, depth+1) != nil || len(says(n))+len(rules(n)) > 0 {
		t.row(path, n, true, depth+1)
		return
	}
	if t.holds(target) {
		t.shown[target] = holder{path, p.row}
		t.members(t.shown[target], n, true, depth+1)
	}
}

// holds finds out once for each schema, and reports, whether it describes members of its values: t.holding keeps the outcomes.
func (t *tableMaker) holds(n *schema.Node) bool {
	n = t.resolved(n)
	if !n.Is(schema.Object) {
		return false
	}
	if found, ok := t.holding[n]; ok {
		return found
	}
	t.holding[n] = false // until more is known: a schema may contain itself
	items := n.Get("items")
	yes := len(membersOf(n.Get("properties")))+len(membersOf(n.Get("patternProperties"))) > 0 || n.Get("additionalProperties").Is(schema.Object) ||
		items.Is(schema.Object) && (len(says(items))+len(rules(items)) > 0 || t.holds(items))
	for _, key := range []string{"allOf", "anyOf", "oneOf"} {
		all := n.Get(key)
		yes = yes || all.Is(schema.Array) && slices.ContainsFunc(all.Items, t.holds)
	}
	t.holding[n] = yes
	return yes
}

// elsewhere is a reference to the rows of the members of a schema, if they are elsewhere; nil if they are to be added here.
func (t *tableMaker) elsewhere(n *schema.Node, depth int) Text {
	at, shown := t.shown[n]
	switch {
	case shown && at.row == noRow && at.path == "":
		return text("It holds what the whole value holds.")
	case shown && at.row == noRow:
		return join(" ", text("It holds what"), code(at.path), text("holds."))
	case shown:
		name := &t.table.Rows[at.row][0][0]
		if name.ID == "" {
			name.ID = t.id("in-" + name.Text)
		}
		return Text{{Text: "It holds what "}, {Text: at.path, Code: true, Link: "#" + name.ID}, {Text: " holds."}}
	case depth > deepest && t.holds(n):
		return text("What it holds stands in the whole schema below.")
	}
	return nil
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

// row adds a row for a member, and those of the members below it. A member that several parts describe has a row for each of them.
func (t *tableMaker) row(path string, n *schema.Node, needed bool, depth int) {
	if t.cut = t.cut || len(t.table.Rows) == maxRows; t.cut {
		return
	}
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
		presence = code(string(value.JSON()))
	}
	about := join(" ", says(n), rules(target))
	if n != target {
		about = join(" ", says(n), says(target), rules(n), rules(target))
	}
	elsewhere := t.elsewhere(target, depth+1)
	here := holder{path, len(t.table.Rows)}
	t.table.Rows = append(t.table.Rows, []Text{code(path), t.kind(n, 0), presence, join(" ", about, elsewhere)})
	if elsewhere != nil {
		return
	}
	if t.holds(target) {
		t.shown[target] = here
	}
	t.members(here, n, true, depth+1)
}

// says is the title and description of a schema, and whether it is deprecated.
func says(n *schema.Node) Text {
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

// bounds are the keywords that a table shows, with their meaning. The others are only in the schema below the table.
var bounds = []struct{ key, says string }{
	{"minLength", "at least %s characters"}, {"maxLength", "at most %s characters"}, {"pattern", "matches %s"},
	{"minimum", "at least %s"}, {"exclusiveMinimum", "more than %s"}, {"maximum", "at most %s"}, {"exclusiveMaximum", "less than %s"},
	{"multipleOf", "a multiple of %s"}, {"minItems", "at least %s items"}, {"maxItems", "at most %s items"},
	{"minProperties", "at least %s members"}, {"maxProperties", "at most %s members"}, {"contentEncoding", "encoded as %s"}, {"contentMediaType", "holds %s"},
}

// rules are the bounds of a schema in words, with an example if the schema has one.
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
