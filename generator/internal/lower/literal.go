package lower

import (
	"strconv"

	"github.com/mcpkiln/mcpkiln/generator/internal/model"
	"github.com/mcpkiln/mcpkiln/schema"
)

// fallback writes the default of a property as a Go literal. One that its own schema does not allow is an error.
func (t *Types) fallback(p *model.Prop, n *schema.Node) {
	p.DefaultText = compact(n)
	lit, ok := heldLiteral(&p.Value, p.Hold, n)
	if !ok {
		t.findings.Report(n, "invalid-default", "", "the default is not a value that the property can have")
		return
	}
	p.Default = lit
}

// literal writes n as a Go literal of the type of v.
func literal(v *model.Value, n *schema.Node) (model.Literal, bool) {
	switch t := v.Type.(type) {
	case model.String:
		return model.Basic(strconv.Quote(n.Text)), n.Kind == schema.String
	case model.Int:
		x := exact(n.Text)
		ok := n.Kind == schema.Number && x != nil && x.IsInt() && x.Num().IsInt64()
		if !ok {
			return nil, false
		}
		return model.Basic(decimal(x)), true
	case model.Number:
		return model.Basic(n.Text), n.Kind == schema.Number
	case model.Decimal:
		return model.Basic(strconv.Quote(n.Text)), n.Kind == schema.Number
	case model.Bool:
		return model.Basic(n.Text), n.Kind == schema.Bool
	case model.Raw:
		return model.RawText(compact(n)), true
	case *model.Slice:
		return sliceLiteral(v, t, n)
	case *model.Map:
		return mapLiteral(v, t, n)
	case model.Named:
		return namedLiteral(v, t.Decl, n)
	}
	return nil, false
}

// heldLiteral is literal for a value with its hold: an element, or a property of a struct.
func heldLiteral(v *model.Value, hold model.Hold, n *schema.Node) (model.Literal, bool) {
	if n.Kind == schema.Null && v.Null {
		return model.NullLiteral{Three: hold == model.Three || hold == model.ThreePointer, Of: *v}, true
	}
	lit, ok := literal(v, n)
	switch {
	case !ok:
		return nil, false
	case hold == model.Maybe:
		return &model.Some{Of: *v, Value: lit}, true
	case hold == model.Three || hold == model.ThreePointer:
		return &model.Some{Three: true, Pointer: hold == model.ThreePointer, Of: *v, Value: lit}, true
	case hold == model.Pointer:
		c, isComposite := lit.(*model.Composite)
		if isComposite {
			c.Pointer = true
		}
		return c, isComposite
	}
	return lit, true
}

func sliceLiteral(v *model.Value, t *model.Slice, n *schema.Node) (model.Literal, bool) {
	c := &model.Composite{Of: *v}
	for _, item := range n.Items {
		lit, ok := heldLiteral(&t.Elem, t.Elem.Hold, item)
		if !ok {
			return nil, false
		}
		c.Entries = append(c.Entries, model.Entry{Value: lit})
	}
	return c, n.Kind == schema.Array
}

func mapLiteral(v *model.Value, t *model.Map, n *schema.Node) (model.Literal, bool) {
	c := &model.Composite{Of: *v}
	for _, m := range sorted(n.Members) {
		lit, ok := heldLiteral(&t.Elem, t.Elem.Hold, m.Value)
		if !ok {
			return nil, false
		}
		c.Entries = append(c.Entries, model.Entry{Key: m.Key, Keyed: true, Value: lit})
	}
	return c, n.Kind == schema.Object
}

func namedLiteral(v *model.Value, d *model.Decl, n *schema.Node) (model.Literal, bool) {
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
		return structLiteral(v, b, n)
	case *model.Defined:
		lit, ok := heldLiteral(&b.Value, b.Value.Hold, n)
		if c, isComposite := lit.(*model.Composite); isComposite {
			c.Of = *v
		}
		if raw, isRaw := lit.(model.RawText); isRaw {
			return &model.Convert{To: d, Value: raw}, ok
		}
		return lit, ok
	case *model.Union:
		return unionLiteral(b, n)
	}
	return nil, false
}

// unionLiteral takes the first member that n fits.
func unionLiteral(u *model.Union, n *schema.Node) (model.Literal, bool) {
	for _, m := range u.Members {
		v := model.Value{Type: model.Named{Decl: m.Decl}}
		lit, ok := namedLiteral(&v, m.Decl, n)
		if !ok {
			continue
		}
		if c, isComposite := lit.(*model.Composite); isComposite {
			c.Pointer = classOf(&v) == record
			return c, true
		}
		return &model.Convert{To: m.Decl, Value: lit}, true
	}
	return nil, false
}

// structLiteral writes the properties that n has, and the defaults of those that it lacks.
func structLiteral(v *model.Value, s *model.Struct, n *schema.Node) (model.Literal, bool) {
	c := &model.Composite{Of: *v}
	left := len(n.Members)
	for _, p := range s.Props {
		given := n.Get(p.Key)
		if given != nil {
			left--
		}
		switch {
		case given == nil && p.Presence.Required(), given != nil && p.Const != "" && canonicalText(p.Const) != canonical(given):
			return nil, false
		case p.Name == "":
		case given != nil:
			lit, ok := heldLiteral(&p.Value, p.Hold, given)
			if !ok {
				return nil, false
			}
			c.Entries = append(c.Entries, model.Entry{Field: p.Name, Value: lit})
		case p.Default != nil:
			c.Entries = append(c.Entries, model.Entry{Field: p.Name, Value: p.Default})
		}
	}
	if left > 0 && s.Open != model.Ignore {
		return nil, false
	}
	return c, n.Kind == schema.Object
}

func canonicalText(text string) string {
	n, ds := schema.ParseJSON("", []byte(text))
	if ds.HasErrors() {
		return text
	}
	return canonical(n)
}
