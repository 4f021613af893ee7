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
		t.nameProps(b, d.Stem)
	case *model.Mixed:
		b.Rule.Var = d.Stem
	case *model.Defined:
		t.nameValue(&b.Value, d.Stem, true)
	case *model.Element:
		t.nameValue(&b.Value, d.Stem, true)
	case *model.Check:
		t.nameValue(&b.Value, d.Stem, true)
	}
}

func (t *Types) nameProps(s *model.Struct, stem string) {
	for _, p := range s.Props {
		t.nameValue(&p.Value, stem+naming.GoName(p.Key), false)
	}
	if s.AdditionalValue.Type != nil {
		t.nameValue(&s.AdditionalValue, stem+"AdditionalProperty", false)
	}
}

// nameValue names the rules of v. own says that stem was taken for it already.
func (t *Types) nameValue(v *model.Value, stem string, own bool) {
	take := func(suffix string) string {
		if own && suffix == "" {
			own = false
			return stem
		}
		return t.Names.Take(stem + suffix)
	}
	if v.Values != nil {
		v.Values.Var = take("")
	}
	t.nameType(v.Type, stem, take)
	t.nameAssertions(v.Checks, stem)
}

func (t *Types) nameType(typ model.Type, stem string, take func(string) string) {
	switch r := typ.(type) {
	case model.String:
		if r.Rule != nil {
			r.Rule.Var = take("")
		}
	case model.Formatted:
		r.Rule.Var = take("")
	case model.Int:
		nameNumber(r.Rule, take)
	case model.Number:
		nameNumber(r.Rule, take)
	case model.Decimal:
		nameNumber(r.Rule, take)
	case *model.Choice:
		r.Var = take("")
	case *model.Never:
		r.Var = take("")
	case *model.Slice:
		if r.Rule != nil {
			r.Rule.Var = take("")
		}
		if r.Func == nil {
			t.nameValue(&r.Elem, stem+"Item", false)
		}
	case *model.Map:
		if r.Rule != nil {
			r.Rule.Var = take("")
		}
		if r.Func == nil {
			t.nameValue(&r.Elem, stem+"Value", false)
		}
	case *model.Object:
		r.Struct.Rule.Var = take("")
		t.nameProps(r.Struct, stem)
	case *model.ByIndex:
		for i := range r.Cases {
			t.nameValue(&r.Cases[i], stem+itoa(i), false)
		}
		t.nameValue(&r.Rest, stem+"Rest", false)
	case *model.ByKind:
		t.nameKinds(r, stem, take)
	}
}

func (t *Types) nameKinds(r *model.ByKind, stem string, take func(string) string) {
	if r.Allowed != model.KindAny {
		r.Var = take("")
	}
	for i := range r.Cases {
		t.nameValue(&r.Cases[i].Value, stem+kindWord(r.Cases[i].Kind, false), false)
	}
}

func nameNumber(r *model.NumberRule, take func(string) string) {
	if r != nil {
		r.Var = take("")
	}
}

func (t *Types) nameAssertions(all []model.Assertion, stem string) {
	for _, a := range all {
		if g, ok := a.(*model.Group); ok {
			word := "AnyOf"
			if g.One {
				word = "OneOf"
			}
			g.Var = t.Names.Take(stem + word)
		}
	}
}
