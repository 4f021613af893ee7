package typing

import (
	"slices"
	"strconv"

	"github.com/mcpkiln/mcpkiln/generator/internal/model"
	"github.com/mcpkiln/mcpkiln/schema"
)

// writeDefault writes the default of a property as a Go literal. A default that the Go type can not represent is not applied, with a
// warning: a default is an annotation.
func (t *Types) writeDefault(p *model.Prop) {
	n := t.defaults[p]
	if n == nil {
		return
	}
	delete(t.defaults, p) // so that a default within itself is not applied
	lit, ok := t.StoredLiteral(&p.Value, p.Storage, n)
	if ok {
		p.Default = lit
		return
	}
	t.findings.Warn(n, "impossible-default", "correct or remove it", "the default is not applied: the Go type of the property can not hold it")
	p.Presence, p.DefaultText = presence(false, p.Value.Null, false), ""
	p.Storage = storage(&p.Value, p.Presence)
}

// literal writes n as a Go literal of the type of v.
func (t *Types) literal(v *model.Value, n *schema.Node) (model.Literal, bool) {
	switch typ := v.Type.(type) {
	case model.String:
		return model.Basic(strconv.Quote(n.Text)), n.Kind == schema.String
	case model.Formatted:
		return model.Parsed{Of: typ, Text: n.Text}, n.Kind == schema.String && schema.GoTypeHolds(typ.Package+"."+typ.Name, n.Text)
	case model.Int:
		x := n.Rat()
		ok := n.Kind == schema.Number && x != nil && x.IsInt() && x.Num().IsInt64()
		if !ok {
			return nil, false
		}
		return model.Basic(Decimal(x)), true
	case model.Number:
		return floatLiteral(n)
	case model.Decimal:
		return model.Basic(strconv.Quote(n.Text)), n.Kind == schema.Number
	case model.Bool:
		return model.Basic(n.Text), n.Kind == schema.Bool
	case model.Raw:
		return model.RawText(compact(n)), true
	case *model.Slice:
		return t.sliceLiteral(v, typ, n)
	case *model.Map:
		return t.mapLiteral(v, typ, n)
	case model.Named:
		return t.namedLiteral(v, typ.Decl, n)
	}
	return nil, false
}

// StoredLiteral is literal for an element or a property, which may be stored as a pointer or a check.Optional.
func (t *Types) StoredLiteral(v *model.Value, storage model.Storage, n *schema.Node) (model.Literal, bool) {
	if n.Kind == schema.Null && v.Null {
		return model.NullLiteral{Of: *v, Storage: storage}, true
	}
	lit, ok := t.literal(v, n)
	if !ok || storage == model.StoreBare {
		return lit, ok
	}
	return &model.Stored{Of: *v, Storage: storage, Value: lit}, true
}

func (t *Types) sliceLiteral(v *model.Value, s *model.Slice, n *schema.Node) (model.Literal, bool) {
	c := &model.Composite{Of: *v}
	for _, item := range n.Items {
		lit, ok := t.StoredLiteral(&s.Elem, s.Elem.Storage, item)
		if !ok {
			return nil, false
		}
		c.Entries = append(c.Entries, model.Entry{Value: lit})
	}
	return c, n.Kind == schema.Array
}

func (t *Types) mapLiteral(v *model.Value, s *model.Map, n *schema.Node) (model.Literal, bool) {
	c := &model.Composite{Of: *v}
	for _, m := range sorted(n.Members) {
		lit, ok := t.StoredLiteral(&s.Elem, s.Elem.Storage, m.Value)
		if !ok {
			return nil, false
		}
		c.Entries = append(c.Entries, model.Entry{Key: m.Key, Keyed: true, Value: lit})
	}
	return c, n.Kind == schema.Object
}

func (t *Types) namedLiteral(v *model.Value, d *model.Decl, n *schema.Node) (model.Literal, bool) {
	switch b := d.Body.(type) {
	case *model.Enum:
		for _, e := range b.Values {
			if n.Kind == schema.String && e.Text == n.Text {
				return model.Basic(e.Name), true
			}
		}
	case *model.Mixed:
		for _, e := range b.Values {
			if canonicalText(e.Text) == canonical(n) {
				return model.Basic(e.Name), true
			}
		}
	case *model.Struct:
		if b.Array != nil {
			return t.tupleLiteral(v, b, n)
		}
		return t.structLiteral(v, b, n)
	case *model.Defined:
		return t.definedLiteral(v, d, &b.Value, n)
	case *model.Union:
		return t.unionLiteral(b, n)
	}
	return nil, false
}

// definedLiteral is a literal of type d, which is defined over the type of inner.
func (t *Types) definedLiteral(v *model.Value, d *model.Decl, inner *model.Value, n *schema.Node) (model.Literal, bool) {
	lit, ok := t.StoredLiteral(inner, inner.Storage, n)
	switch l := lit.(type) {
	case *model.Composite:
		l.Of = *v
		return l, ok
	case model.Basic:
		if _, named := inner.Type.(model.Named); !named {
			return l, ok // a constant without a type
		}
	}
	return &model.Convert{To: d, Value: lit}, ok
}

// unionLiteral is a literal of the first union member that can represent n.
func (t *Types) unionLiteral(u *model.Union, n *schema.Node) (model.Literal, bool) {
	for _, m := range u.Members {
		v := model.Value{Type: model.Named{Decl: m.Decl}}
		lit, ok := t.namedLiteral(&v, m.Decl, n)
		if !ok {
			continue
		}
		if m.Pointer {
			return &model.Stored{Of: v, Storage: model.StorePointer, Value: lit}, true
		}
		if _, constant := lit.(model.Basic); constant {
			return &model.Convert{To: m.Decl, Value: lit}, true
		}
		return lit, true
	}
	return nil, false
}

// structLiteral writes the properties that n has, and the defaults of those that n lacks. Other members of n
// are in the field for additional properties, if there is one.
func (t *Types) structLiteral(v *model.Value, s *model.Struct, n *schema.Node) (model.Literal, bool) {
	c := &model.Composite{Of: *v}
	others := slices.Clone(n.Members)
	for _, p := range s.Props {
		given := n.Get(p.Key)
		others = slices.DeleteFunc(others, func(m schema.Member) bool { return m.Key == p.Key })
		switch {
		case given == nil && p.Presence.Required(), given != nil && p.Const != "" && canonicalText(p.Const) != canonical(given):
			return nil, false
		case p.Name == "":
		case given != nil:
			lit, ok := t.StoredLiteral(&p.Value, p.Storage, given)
			if !ok {
				return nil, false
			}
			c.Entries = append(c.Entries, model.Entry{Field: p.Name, Value: lit})
		default:
			if t.writeDefault(p); p.Default != nil {
				c.Entries = append(c.Entries, model.Entry{Field: p.Name, Value: p.Default})
			}
		}
	}
	if len(others) == 0 || s.AdditionalProperties == model.Skip {
		return c, n.Kind == schema.Object
	}
	if s.Field == "" {
		return nil, false
	}
	extra := &model.Map{Elem: s.AdditionalValue}
	lit, ok := t.mapLiteral(&model.Value{Type: extra}, extra, &schema.Node{Kind: schema.Object, Members: others})
	c.Entries = append(c.Entries, model.Entry{Field: s.Field, Value: lit})
	return c, ok
}

// floatLiteral is a number as Go source: its JSON text, or the shortest text of the same float64 if that is shorter.
func floatLiteral(n *schema.Node) (model.Literal, bool) {
	f, err := strconv.ParseFloat(n.Text, 64)
	if n.Kind != schema.Number || err != nil {
		return nil, false
	}
	short := strconv.FormatFloat(f, 'g', -1, 64)
	if len(n.Text) <= len(short) && f != 0 {
		return model.Basic(n.Text), true
	}
	return model.Basic(short), true
}

// canonicalText is canonical for JSON text.
func canonicalText(text string) string {
	n, ds := schema.ParseJSON("", []byte(text))
	if ds.HasErrors() {
		return text
	}
	return canonical(n)
}
