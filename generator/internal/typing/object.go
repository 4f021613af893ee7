package typing

import (
	"slices"
	"strconv"

	"github.com/mcpkiln/mcpkiln/generator/internal/model"
	"github.com/mcpkiln/mcpkiln/generator/internal/naming"
	"github.com/mcpkiln/mcpkiln/schema"
)

// slice lowers an array: to a Go slice, or to a tuple if items have schemas by position.
func (l *lowering) slice(s *shape, p place) model.Value {
	if len(s.arr.prefix) > 0 {
		return l.tuple(s, p)
	}
	t := &model.Slice{}
	rule := model.ArrayRule{At: l.ruleAt(first(s.arr.at, s.kindsAt), p), Min: s.arr.min, Max: s.arr.max, Unique: s.arr.unique}
	if rule != (model.ArrayRule{}) {
		t.Rule = &rule
	}
	inner := p.below(p.itemHint())
	inner.keepAdditional = inner.keepAdditional || s.arr.unique // items may differ in additional properties alone
	inner.node = derived(s.arr.at, "items", s.arr.items)
	t.Elem = l.valueOf(s.arr.items, inner)
	if !p.validateOnly && !readInOneCall(&t.Elem) {
		t.Func = l.element(&t.Elem, inner.hint)
	}
	return model.Value{Type: t}
}

// readInOneCall reports whether the runtime reads a slice of such elements in one call.
func readInOneCall(v *model.Value) bool {
	if v.Null || v.Values != nil || v.Checks != nil {
		return false
	}
	switch t := v.Type.(type) {
	case model.String, model.Int, model.Number, model.Bool, model.Raw:
		return true
	case model.Named:
		_, ok := t.Decl.Body.(*model.Enum)
		return ok
	}
	return false
}

// element returns the functions that read and write one element of a slice or map.
func (l *lowering) element(v *model.Value, hint string) *model.Decl {
	if named, ok := v.Type.(model.Named); ok && !v.Null && v.Checks == nil {
		return named.Decl
	}
	if word, ok := ruleless(v); ok {
		if d := l.elements[v.Type]; d != nil {
			return d
		}
		d := l.newFunc("decode", word)
		d.Body = &model.Element{Value: *v}
		l.elements[v.Type] = d
		return d
	}
	switch v.Type.(type) {
	case *model.Slice:
		hint += "List"
	case *model.Map:
		hint += "Map"
	}
	if v.Null {
		hint += "OrNull"
	}
	d := l.newFunc("decode", hint)
	d.Body = &model.Element{Value: *v}
	return d
}

// ruleless names the types without a rule, whose element functions are the same everywhere.
func ruleless(v *model.Value) (string, bool) {
	if v.Null || v.Values != nil || v.Checks != nil {
		return "", false
	}
	switch v.Type {
	case model.String{}:
		return "String", true
	case model.Int{}:
		return "Int", true
	case model.Number{}:
		return "Number", true
	case model.Bool{}:
		return "Bool", true
	case model.Raw{}:
		return "Raw", true
	}
	return "", false
}

// object lowers an object: to a map if the schema names no properties, does not close the object and needs no type of its own, else to a struct.
func (l *lowering) object(s *shape, p place) model.Value {
	t := *s
	s = &t
	o := &s.obj
	o.addRequired()
	if len(o.props) == 0 && !p.needsOwnType && !l.closed(o) && (!p.validateOnly || o.additionalProperties != nil || o.patternSets != nil) {
		return l.mapOf(s, p)
	}
	if p.validateOnly {
		return model.Value{Type: &model.Object{Struct: l.structOf(s, p)}}
	}
	d := l.declare(p, s)
	p.hint = d.Name
	d.Body = l.structOf(s, p)
	return model.Value{Type: model.Named{Decl: d}}
}

// addRequired adds the required properties that have no schema of their own to props.
func (o *objectFacet) addRequired() {
	for _, key := range o.required {
		if o.prop(key) == nil {
			o.props = append(slices.Clip(o.props), property{key, o.additionalFor(key)})
		}
	}
	if len(o.required) > 0 {
		o.props = slices.Clone(o.props)
		o.sort()
	}
}

// closed reports whether additional properties are refused.
func (l *lowering) closed(o *objectFacet) bool {
	return o.additionalProperties != nil && l.shape(o.additionalProperties).never != nil
}

// mapOf lowers an object that is a map in Go.
func (l *lowering) mapOf(s *shape, p place) model.Value {
	t := &model.Map{}
	rule := model.ObjectRule{At: l.ruleAt(first(s.obj.at, s.kindsAt), p), Min: s.obj.min, Max: s.obj.max}
	if rule != (model.ObjectRule{}) {
		t.Rule = &rule
	}
	inner := p.below(p.hint + "Value")
	if p.item != "" {
		inner.hint = p.item
	}
	inner.node = derived(s.obj.at, "additionalProperties", s.obj.additionalProperties)
	t.Elem = l.others(&s.obj, inner)
	if !p.validateOnly {
		t.Func = l.element(&t.Elem, inner.hint)
	}
	return model.Value{Type: t}
}

// structOf lowers the properties of an object.
func (l *lowering) structOf(s *shape, p place) *model.Struct {
	o := &s.obj
	st := &model.Struct{Rule: &model.ObjectRule{At: l.ruleAt(first(o.at, s.kindsAt), p), Min: o.min, Max: o.max}}
	st.Props = make([]*model.Prop, 0, len(o.props))
	names := l.fieldNames(o.props)
	for i, inner := range l.children(p, o.props, names) {
		st.Props = append(st.Props, l.prop(o, &o.props[i], inner, names[i]))
	}
	l.additionalProperties(s, st, p)
	if st.AdditionalProperties == model.Keep && !p.validateOnly {
		nameAdditionalProperties(st)
	}
	return st
}

// nameAdditionalProperties names the field of the additional properties.
func nameAdditionalProperties(st *model.Struct) { st.Field = freeField(st, "AdditionalProperties") }

// freeField returns the name for a field that belongs to no property.
func freeField(st *model.Struct, name string) string {
	fields := &naming.Names{}
	for _, p := range st.Props {
		fields.Take(p.Name)
	}
	return fields.Take(name)
}

// triedMembers returns the members of d if it is a union that is decoded by trying them. They keep additional properties: without these,
// what a member is encoded as could be decoded as another member.
func triedMembers(d *model.Decl) []*model.Decl {
	u, ok := d.Body.(*model.Union)
	if !ok {
		return nil
	}
	if _, byTrying := u.Rule.(*model.Tried); !byTrying {
		return nil
	}
	var all []*model.Decl
	for _, m := range u.Members {
		all = append(all, m.Decl)
	}
	return all
}

// keepAdditional makes types, and all types in them, keep their additional properties.
func keepAdditional(types []*model.Decl) {
	done := map[*model.Decl]bool{}
	var keep func(*model.Decl, model.Use)
	keep = func(d *model.Decl, u model.Use) {
		if d == nil || done[d] || u&model.Encode == 0 {
			return
		}
		done[d] = true
		if st, ok := d.Body.(*model.Struct); ok && st.AdditionalProperties == model.Skip {
			st.AdditionalProperties, st.AdditionalValue = model.Keep, model.Value{Type: model.Raw{}}
			nameAdditionalProperties(st)
		}
		Needed(d, model.Encode, keep)
	}
	for _, d := range types {
		keep(d, model.Encode)
	}
}

// additionalProperties decides whether additional properties are skipped, kept or refused. Where the schema says nothing about them they are not
// kept, unless it is a protocol document or another keyword may look at them.
func (l *lowering) additionalProperties(s *shape, st *model.Struct, p place) {
	o := &s.obj
	keep := l.protocol || p.keepAdditional || o.min != nil
	inner := p.below(p.hint + "AdditionalProperty")
	inner.node = derived(o.at, "additionalProperties", o.additionalProperties)
	anyValue := o.patternSets == nil && (o.additionalProperties == nil || l.shape(o.additionalProperties).unconstrained())
	switch {
	case l.closed(o):
		st.AdditionalProperties, st.Rule.Unevaluated = model.Refuse, o.unevaluated
	case p.validateOnly && anyValue, o.additionalProperties == nil && o.patternSets == nil && !keep:
		st.AdditionalProperties = model.Skip
	case anyValue:
		st.AdditionalProperties, st.AdditionalValue = model.Keep, model.Value{Type: model.Raw{}}
	default:
		st.AdditionalProperties, st.AdditionalValue = model.Keep, l.others(o, inner)
		if !p.validateOnly {
			st.Func = l.element(&st.AdditionalValue, inner.hint)
		}
	}
}

// prop lowers one property, whose place is inner. Its field is called name.
func (l *lowering) prop(o *objectFacet, q *property, inner place, name string) *model.Prop {
	required := slices.Contains(o.required, q.key)
	s := l.shape(q.schema)
	inner.node = derived(o.at, "properties/"+schema.EscapeToken(q.key), q.schema)
	out := &model.Prop{Key: q.key, Quoted: schema.QuoteJSON(q.key)}
	if l.protocol {
		l.described[out] = q.schema // see Types.SchemasOf
	}
	switch {
	case inner.validateOnly || s.never != nil || s.kinds == 0:
		inner.validateOnly = true
	case required && s.only() != nil && s.enum.isConst:
		out.Const = compact(s.only())
		inner.validateOnly = true
	default:
		out.Name = name
		out.Doc = propDoc(q.schema)
	}
	out.Value = l.valueOf(q.schema, inner)
	if required && s.only() != nil && out.Name != "" { // the field is decoded, but what is encoded is always the one value
		out.Const = compact(s.only())
	}
	byDefault := s.annotations.byDefault
	if out.Name == "" || required || byDefault != nil && l.doc.RefusesDefault(byDefault) {
		byDefault = nil
	}
	out.Presence = presence(required, out.Value.Null, byDefault != nil)
	if byDefault != nil {
		out.DefaultText = compact(byDefault)
		l.defaults[out] = byDefault
		l.defaulted = append(l.defaulted, out)
	}
	return out
}

// propDoc returns the comment for a property's field: the description in the schema of the property itself, not in one that it refers to.
func propDoc(c allOf) []string {
	if len(c) == 0 {
		return nil
	}
	n := &annotations{title: TextOf(c[0], "title"), description: TextOf(c[0], "description")}
	n.deprecated = c[0].Get("deprecated").Is(schema.Bool) && c[0].Get("deprecated").Text == "true"
	return docLines(nil, n)
}

// TextOf returns a member of a schema that is a string; "" if there is none.
func TextOf(n *schema.Node, key string) string {
	if v := n.Get(key); v.Is(schema.String) {
		return v.Text
	}
	return ""
}

func presence(required, null, byDefault bool) model.Presence {
	switch {
	case required && null:
		return model.Nullable
	case required:
		return model.Required
	case byDefault && null:
		return model.NullDefaulted
	case byDefault:
		return model.Defaulted
	case null:
		return model.NullOptional
	default:
		return model.Optional
	}
}

// derived returns the only schema of c if it is at path below owner, so that the runtime can derive its location.
func derived(owner *schema.Node, path string, c allOf) *schema.Node {
	if owner != nil && len(c) == 1 && c[0].Pointer == owner.Pointer+"/"+path {
		return c[0]
	}
	return nil
}

// ordinal is the index i as a number for names, which count from 1.
func ordinal(i int) string { return strconv.Itoa(i + 1) }
