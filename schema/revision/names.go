package revision

import (
	"cmp"
	"slices"
	"strings"

	"github.com/mcpkiln/mcpkiln/schema"
)

// alias is a name of newer revisions for a part of this one's document: a definition with another name, or several
// places with the same schema and without a name.
type alias struct {
	name   string
	pos    schema.Position
	places []*schema.Node // definition references
}

func (d *decoder) alias(m *schema.Member) alias {
	a := alias{name: m.Key, pos: m.KeyPos}
	if m.Value.Kind == schema.String {
		a.places = []*schema.Node{m.Value}
		return a
	}
	d.items(m.Value, func(item *schema.Node) {
		if d.kind(item, schema.String) {
			a.places = append(a.places, item)
		}
	})
	return a
}

// aliases gives parts of the core document their newer names, so that rules, types and encoders of all revisions use the
// same names. All parts are found before the first is renamed, so that their order has no effect.
func (l *linker) aliases() {
	core := l.r.Documents[0].Document
	found := make([][]*schema.Node, len(l.r.aliases))
	for i, a := range l.r.aliases {
		if core.Definition(a.name) != nil {
			l.report(a.pos, "duplicate-definition", "remove it here", "the document defines %s itself", a.name)
			continue
		}
		for _, place := range a.places {
			found[i] = append(found[i], l.place(core, place))
		}
	}
	for i, a := range l.r.aliases {
		if len(found[i]) > 0 && !slices.Contains(found[i], nil) {
			l.alias(core, a, found[i])
		}
	}
}

func (l *linker) alias(core *schema.Document, a alias, found []*schema.Node) {
	if old := a.places[0].Text; len(found) == 1 && !strings.Contains(old, "/") {
		rename(core, old, a.name)
		return
	}
	made := define(core, a.name, found[0])
	for i, n := range found {
		if !schema.Equal(undescribed(n), made) {
			l.report(a.places[i].Pos, "different-definition", "", "%s is not what %s is", a.places[i].Text, a.places[0].Text)
			continue
		}
		refer(core, n, a.name)
	}
}

// place is the one schema at a definition reference, nil if there is none.
func (l *linker) place(core *schema.Document, place *schema.Node) *schema.Node {
	name, path, _ := strings.Cut(place.Text, "/")
	n := core.Definition(name)
	for _, step := range splitPath(path) {
		if step == "*" {
			n = n.Get("items")
		} else {
			n = n.Get("properties").Get(step)
		}
	}
	if n == nil {
		l.report(place.Pos, "unknown-definition", l.known(place.Text), "no document defines %q", place.Text)
	}
	return n
}

// container is the member of a document that holds its definitions.
func container(d *schema.Document) (key string, definitions *schema.Node) {
	key = "$defs"
	if d.Root.Get(key) == nil {
		key = "definitions"
	}
	return key, d.Root.Get(key)
}

// define adds a definition with the content of n, and returns it.
func define(d *schema.Document, name string, n *schema.Node) *schema.Node {
	key, definitions := container(d)
	made := undescribed(n)
	move(made, "/"+key+"/"+name)
	definitions.Members = append(definitions.Members, schema.Member{Key: name, KeyPos: n.Pos, Value: made})
	sortDefinitions(definitions)
	return made
}

// undescribed is n without its description, which is about the place that n was at.
func undescribed(n *schema.Node) *schema.Node {
	out := *n
	out.Members = slices.DeleteFunc(slices.Clone(n.Members), func(m schema.Member) bool { return m.Key == "description" })
	return &out
}

// refer makes n a reference to a definition.
func refer(d *schema.Document, n *schema.Node, name string) {
	key, _ := container(d)
	ref := &schema.Node{Kind: schema.String, Pos: n.Pos, Pointer: n.Pointer + "/$ref", Text: "#/" + key + "/" + name}
	said := n.Member("description")
	n.Members = []schema.Member{{Key: "$ref", KeyPos: n.Pos, Value: ref}}
	if said != nil {
		n.Members = append(n.Members, *said)
	}
}

func rename(d *schema.Document, old, name string) {
	key, definitions := container(d)
	m := definitions.Member(old)
	m.Key = name
	move(m.Value, "/"+key+"/"+name)
	sortDefinitions(definitions)
	d.Definitions() // so that Walk sees all of them
	d.Root.Walk(func(n *schema.Node) bool {
		if ref := n.Get("$ref"); ref.Is(schema.String) && ref.Text == "#/"+key+"/"+old {
			ref.Text = "#/" + key + "/" + name
		}
		return true
	})
}

// move gives a schema and all below it the pointers of its new place.
func move(n *schema.Node, to string) {
	from := n.Pointer
	n.Walk(func(n *schema.Node) bool {
		n.Pointer = to + strings.TrimPrefix(n.Pointer, from)
		return true
	})
}

func sortDefinitions(definitions *schema.Node) {
	slices.SortFunc(definitions.Members, func(a, b schema.Member) int { return cmp.Compare(a.Key, b.Key) })
}
