package typing

import (
	"fmt"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"github.com/mcpkiln/mcpkiln/generator/internal/model"
	"github.com/mcpkiln/mcpkiln/generator/internal/naming"
	"github.com/mcpkiln/mcpkiln/schema"
)

// A declaration claims a name when it is made: the name that follows from the place of its schema. Names are given when all declarations are
// known (Types.nameAll). Until then Name, Decode and so on of a declaration are the names that it claims.

// rank decides which declaration gets a name that several claim: first types of tools and of the protocol, then $ref targets, then the rest.
type rank uint8

const (
	nested   rank = iota // the rest
	referred             // a $ref target
	rooted               // a type of a tool or of the protocol
)

// claim is the claim of a declaration to a name.
type claim struct {
	rank  rank
	asked string       // the name that the declaration would have alone
	other string       // a longer name, if the first is taken
	site  string       // identifies the place, for a suffix if all else is taken
	by    *schema.Node // the schema of the declaration; nil: it has none of its own
	named bool         // the declaration has its name
	apart bool         // the declaration is not shared: it is no alias, and has none
}

// newDecl registers a declaration of a Go type. n is its schema; nil if it has none of its own.
func (l *lowering) newDecl(hint string, n *schema.Node) *model.Decl {
	d := &model.Decl{Name: hint}
	c := &claim{asked: hint, by: n, site: l.defsPrefix + hint, apart: l.protocol || chosenName(n) != nil}
	if n != nil {
		c.site = l.defsPrefix + l.at(n)
	}
	l.claims[d] = c
	l.decls = append(l.decls, d)
	return d
}

// targetRank is the rank of all $ref targets.
func (l *lowering) targetRank() rank {
	if l.protocol {
		return rooted // the protocol's own name
	}
	return referred
}

// newFunc registers functions without a Go type.
func (t *Types) newFunc(prefix, hint string) *model.Decl {
	d := &model.Decl{Decode: prefix + hint, Stem: naming.Unexported(hint)}
	if prefix == "decode" {
		d.Append = "append" + hint
	}
	t.claims[d] = &claim{apart: t.inProtocol}
	t.decls = append(t.decls, d)
	return d
}

// nameAll names all declarations that have no name yet.
func (t *Types) nameAll() {
	for _, r := range []rank{rooted, referred, nested} {
		for _, d := range t.decls {
			if d.Name != "" && t.claims[d].rank == r {
				t.name(d)
			}
		}
	}
	for _, d := range t.decls {
		if d.Name == "" {
			t.name(d)
		}
	}
	for _, d := range t.decls {
		t.nameBody(d)
	}
}

// name gives d its names, once.
func (t *Types) name(d *model.Decl) {
	c := t.claims[d]
	if c.named {
		return
	}
	c.named = true
	if d.Same != nil {
		t.nameSame(d, c)
		return
	}
	if d.Name == "" {
		d.Decode, d.Stem = t.Names.Take(d.Decode), t.Names.Take(d.Stem)
		if d.Append != "" {
			d.Append = t.Names.Take(d.Append)
		}
		return
	}
	d.Name = t.typeName(d.Name, c)
	d.Stem, d.Decode, d.Append = t.Names.Take(naming.Unexported(d.Name)), t.Names.Take("decode"+d.Name), t.Names.Take("append"+d.Name)
}

// nameSame names an alias. One that claims the same name as its type needs no declaration.
func (t *Types) nameSame(d *model.Decl, c *claim) {
	asked := t.claims[d.Same].asked
	t.name(d.Same)
	if d.Name == asked {
		d.Name = d.Same.Name
	} else if d.Name != "" {
		d.Name = t.typeName(d.Name, c)
	}
	d.Stem, d.Decode, d.Append = d.Same.Stem, d.Same.Decode, d.Same.Append
}

// nameBody names the method that seals a union, and the constants of an enum.
func (t *Types) nameBody(d *model.Decl) {
	if u, ok := d.Body.(*model.Union); ok {
		u.Method = "is" + d.Name
		t.describeMembers(d, u)
	}
	if d.Same != nil && !d.Renamed() {
		copy(d.Constants(), d.Same.Constants())
		return
	}
	for i, c := range d.Constants() {
		d.Constants()[i].Name = t.Names.TakeFor(d.Name+c.Name, c.Text)
	}
}

// describeMembers makes a comment for union members that have no description: it says the value of their tag, which has no field.
func (t *Types) describeMembers(d *model.Decl, u *model.Union) {
	rule, ok := u.Rule.(*model.ByTag)
	if !ok || d.Same != nil {
		return
	}
	for _, m := range u.Members {
		if t.claims[m.Decl].rank == nested && len(m.Decl.Doc) == 0 {
			m.Decl.Doc = []string{fmt.Sprintf("is the %s whose %s is %s.", d.Name, rule.Key, allTags(m.Form.Tags))}
		}
	}
}

func allTags(tags []model.Tag) string {
	var all []string
	for _, tag := range tags {
		if tag.JSON {
			all = append(all, tag.Text)
		} else {
			all = append(all, strconv.Quote(tag.Text))
		}
	}
	return strings.Join(all, " or ")
}

// join appends words to a name without repeating those that the name ends with: Order and OrderItem give OrderItem.
func join(name, word string) string {
	repeated := 0
	for i := range naming.Each(word) {
		if strings.HasSuffix(name, word[:i]) {
			repeated = i
		}
	}
	return name + word[repeated:]
}

// itemHint is the type name for the items of p.
func (p place) itemHint() string {
	switch {
	case p.item != "":
		return p.item
	case strings.HasSuffix(p.hint, "Item"):
		return p.hint
	}
	return p.hint + "Item"
}

// children returns the places of an object's properties, whose fields are called names. The type of a property's items is named by the singular of
// the property, unless another property needs that name for its own type.
func (l *lowering) children(p place, props []property, names []string) []place {
	own := map[string]bool{}
	for i := range props {
		if l.mayNeedName(props[i].schema) {
			own[names[i]] = true
		}
	}
	all := make([]place, len(props))
	for i := range props {
		all[i] = p.below(join(p.hint, names[i]))
		text := props[i].key
		if goName(props[i].schema) != nil {
			text = names[i]
		}
		if one := naming.Singular(text); one != "" && !own[one] {
			all[i].item = join(p.hint, one)
		}
	}
	return all
}

// mayNeedName reports whether a property may need a type named after it.
func (l *lowering) mayNeedName(c allOf) bool {
	if _, referred := l.soleRef(c); referred {
		return false
	}
	s := l.shape(c)
	kinds := s.kinds &^ model.KindNull
	return s.enum != nil || len(s.groups) > 0 || kinds == model.KindObject || bits.OnesCount8(uint8(kinds)) > 1 && kinds != model.KindAny&^model.KindNull
}

// schemaOf returns a schema that s was read from, or nil.
func schemaOf(s *shape) *schema.Node {
	for _, n := range []*schema.Node{s.obj.at, s.arr.at, s.str.at, s.num.at, s.kindsAt} {
		if n != nil {
			return n
		}
	}
	if i := slices.IndexFunc(s.groups, func(g group) bool { return g.at != nil }); i >= 0 {
		return s.groups[i].at
	}
	return nil
}
