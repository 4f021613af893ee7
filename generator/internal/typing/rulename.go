package typing

import (
	"github.com/mcpkiln/mcpkiln/generator/internal/model"
	"github.com/mcpkiln/mcpkiln/generator/internal/naming"
)

// nameRules gives each rule table of d a name that no other declaration of the package has.
func (t *Types) nameRules(d *model.Decl) {
	t.nameAssertions(d.Checks, d.Stem)
	switch b := d.Body.(type) {
	case *model.Struct:
		if b.Array != nil {
			b.Array.Var = d.Stem
		} else {
			b.Rule.Var = d.Stem
		}
		name := t.nameMembers(d.Stem)
		b.Children(func(v *model.Value, of *model.Prop) {
			if of != nil || b.Func == nil { // Func is a declaration of its own, and so names the rules of further values
				name(v, of)
			}
		})
	case *model.Mixed:
		b.Rule.Var = d.Stem
	default:
		d.Children(func(v *model.Value, _ *model.Prop) { t.nameValue(v, d.Stem, true) })
	}
}

// nameMembers names the rules of an object's properties.
func (t *Types) nameMembers(stem string) func(*model.Value, *model.Prop) {
	return func(v *model.Value, of *model.Prop) {
		if of == nil {
			t.nameValue(v, stem+"AdditionalProperty", false)
		} else {
			t.nameValue(v, stem+naming.GoName(of.Key), false)
		}
	}
}

// nameValue names the rules of v. With own, the name stem is already reserved for the first rule.
func (t *Types) nameValue(v *model.Value, stem string, own bool) {
	for _, name := range ruleNames(v) {
		*name = stem
		if !own {
			*name = t.Names.Take(stem)
		}
		own = false
	}
	t.nameInside(v, stem)
	t.nameAssertions(v.Checks, stem)
}

// ruleNames points to the names of a value's own rules.
func ruleNames(v *model.Value) []*string {
	var all []*string
	if v.Values != nil {
		all = append(all, &v.Values.Var)
	}
	switch r := v.Type.(type) {
	case model.String:
		if r.Rule != nil {
			all = append(all, &r.Rule.Var)
		}
	case model.Formatted:
		all = append(all, &r.Rule.Var)
	case model.Int:
		all = appendNumber(all, r.Rule)
	case model.Number:
		all = appendNumber(all, r.Rule)
	case model.Decimal:
		all = appendNumber(all, r.Rule)
	case *model.Choice:
		all = append(all, &r.Var)
	case *model.Never:
		all = append(all, &r.Var)
	case *model.Slice:
		if r.Rule != nil {
			all = append(all, &r.Rule.Var)
		}
	case *model.Map:
		if r.Rule != nil {
			all = append(all, &r.Rule.Var)
		}
	case *model.Object:
		all = append(all, &r.Struct.Rule.Var)
	case *model.ByKind:
		if r.Allowed != model.KindAny {
			all = append(all, &r.Var)
		}
	}
	return all
}

func appendNumber(all []*string, r *model.NumberRule) []*string {
	if r != nil {
		all = append(all, &r.Var)
	}
	return all
}

// nameInside names the rules of the values in v, except for elements that have functions of their own.
func (t *Types) nameInside(v *model.Value, stem string) {
	n := 0
	name := func(inner *model.Value, of *model.Prop) { t.nameValue(inner, stem+innerWord(v.Type, n), false); n++ }
	switch r := v.Type.(type) {
	case *model.Object:
		name = t.nameMembers(stem)
	case *model.Slice:
		if r.Func != nil {
			return
		}
	case *model.Map:
		if r.Func != nil {
			return
		}
	}
	v.Children(name)
}

// innerWord is what is added to a name for the n-th value inside of one of type t.
func innerWord(t model.Type, n int) string {
	switch r := t.(type) {
	case *model.Slice:
		return "Item"
	case *model.ByIndex:
		if n == len(r.Cases) {
			return "Rest"
		}
		return ordinal(n)
	case *model.ByKind:
		return kindWord(r.Cases[n].Kind, false)
	}
	return "Value"
}

func (t *Types) nameAssertions(all []model.Assertion, stem string) {
	for _, a := range all {
		switch a := a.(type) {
		case *model.Group:
			word := "AnyOf"
			if a.One {
				word = "OneOf"
			}
			a.Var = t.Names.Take(stem + word)
		case *model.SolePattern:
			a.Var = t.Names.Take(stem + "Name")
		}
	}
}
