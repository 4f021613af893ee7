package typing

import (
	"slices"

	"github.com/mcpkiln/mcpkiln/generator/internal/model"
	"github.com/mcpkiln/mcpkiln/generator/internal/naming"
	"github.com/mcpkiln/mcpkiln/schema"
)

// tuple lowers an array whose first items have schemas of their own to a struct with a field for each of them.
func (l *lowering) tuple(s *shape, p place) model.Value {
	rule := model.ArrayRule{At: l.ruleAt(first(s.arr.at, s.kindsAt), p), Min: s.arr.min, Max: s.arr.max, Unique: s.arr.unique}
	if p.validateOnly {
		return l.tupleCheck(s, rule, p)
	}
	d := l.declare(p, s)
	p.hint = d.Name
	p.keepAdditional = p.keepAdditional || s.arr.unique // items may differ in additional properties alone
	st := &model.Struct{Array: &rule, AdditionalProperties: model.Keep}
	d.Body = st
	items := make([]property, len(s.arr.prefix))
	taken := map[string]bool{}
	for i, c := range s.arr.prefix {
		items[i] = property{itemKey(c, i, taken), c}
		taken[naming.GoName(items[i].key)] = true
	}
	names := l.fieldNames(items)
	full := false // no item is allowed at this position
	for i, inner := range l.children(p, items, names) {
		full = full || s.arr.max != nil && i >= *s.arr.max || l.never(items[i].schema)
		st.Props = append(st.Props, l.item(s, i, inner, names[i], full))
	}
	inner := p.below(join(p.hint, "Rest"))
	if full || s.arr.max != nil && *s.arr.max <= len(items) || l.never(s.arr.items) {
		inner.validateOnly = true
		st.AdditionalValue = l.valueOf(s.arr.items, inner)
		return model.Value{Type: model.Named{Decl: d}}
	}
	st.AdditionalValue = l.valueOf(s.arr.items, inner)
	st.Func = l.element(&st.AdditionalValue, inner.hint)
	st.Field = freeField(st, "Rest")
	return model.Value{Type: model.Named{Decl: d}}
}

// itemKey names an item by its title, if that is short and unique, else by its position.
func itemKey(c allOf, i int, taken map[string]bool) string {
	const most = 32
	for _, n := range c {
		title := TextOf(n, "title")
		if word := naming.GoName(title); naming.GoWords(title) != "" && len(word) <= most && !taken[word] {
			return title
		}
	}
	return "item " + ordinal(i)
}

// never reports whether no value satisfies c.
func (l *lowering) never(c allOf) bool {
	s := l.shape(c)
	return s.never != nil || s.kinds == 0
}

// item lowers the item of a tuple at i. It has no field if it is a required const, or if no item is allowed there (full).
func (l *lowering) item(s *shape, i int, inner place, name string, full bool) *model.Prop {
	c := s.arr.prefix[i]
	required := s.arr.min != nil && *s.arr.min > i
	only := l.shape(c).only()
	p := &model.Prop{Key: "item " + ordinal(i), Name: name}
	if required && only != nil {
		p.Const = compact(only)
	}
	if full || p.Const != "" && l.shape(c).enum.isConst {
		p.Name, inner.validateOnly = "", true
	} else if doc := propDoc(c); !slices.Equal(doc, []string{TextOf(c[0], "title")}) {
		p.Doc = doc
	}
	p.Value = l.valueOf(c, inner)
	p.Presence = presence(required, p.Value.Null, false)
	return p
}

// tupleCheck is tuple for validators.
func (l *lowering) tupleCheck(s *shape, rule model.ArrayRule, p place) model.Value {
	t := &model.Slice{}
	if rule != (model.ArrayRule{}) {
		t.Rule = &rule
	}
	items := &model.ByIndex{}
	for i, c := range s.arr.prefix {
		items.Cases = append(items.Cases, l.valueOf(c, place{validateOnly: true, hint: p.hint + "Item" + ordinal(i)}))
	}
	items.Items = l.valueOf(s.arr.items, place{validateOnly: true, hint: p.hint + "Rest"})
	t.Elem = model.Value{Type: items}
	return model.Value{Type: t}
}

// tupleLiteral is literal for a tuple.
func (t *Types) tupleLiteral(v *model.Value, s *model.Struct, n *schema.Node) (model.Literal, bool) {
	c := &model.Composite{Of: *v}
	for i, p := range s.Props {
		switch {
		case i >= len(n.Items):
			if p.Presence.Required() {
				return nil, false
			}
		case p.Const != "" && canonicalText(p.Const) != canonical(n.Items[i]):
			return nil, false
		case p.Name != "":
			lit, ok := t.StoredLiteral(&p.Value, p.Storage, n.Items[i])
			if !ok {
				return nil, false
			}
			c.Entries = append(c.Entries, model.Entry{Field: p.Name, Value: lit})
		case p.Const == "":
			return nil, false
		}
	}
	if len(n.Items) <= len(s.Props) {
		return c, n.Kind == schema.Array
	}
	list := &model.Slice{Elem: s.AdditionalValue}
	lit, ok := t.sliceLiteral(&model.Value{Type: list}, list, &schema.Node{Kind: schema.Array, Items: n.Items[len(s.Props):]})
	c.Entries = append(c.Entries, model.Entry{Field: s.Field, Value: lit})
	return c, ok && s.Field != ""
}
