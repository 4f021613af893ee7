package check_test

import (
	"testing"

	"github.com/mcpkiln/mcpkiln/runtime/check"
)

// twoNames is the first form of a union: it has an optional name, and its other name is short.
type twoNames struct{ optional, short string }

var (
	twoNamesRule = check.Object{Names: []string{"optional", "short"}}
	shortRule    = check.String{Max: 3}
	eitherRule   = check.Union{Keyword: "anyOf", Forms: []check.Form{{Kinds: check.KindObject}, {Kinds: check.KindObject}}}
)

func decodeTwoNames(d *check.Decoder, v *twoNames) {
	for f := d.Object(&twoNamesRule); f >= 0; f = d.Next() {
		switch f {
		case 0:
			v.optional = d.String(nil)
		case 1:
			v.short = d.String(&shortRule)
		}
	}
}

// TestNewBeginsEmpty reads a form that does not fit, and then one that does and has fewer members: nothing is left of the first.
func TestNewBeginsEmpty(t *testing.T) {
	var got []any
	err := check.Decode([]byte(`[{"optional":"left","short":"too long"},{"short":"abc"},{"short":"abd"}]`), check.Limits{}, func(d *check.Decoder, v *[]any) {
		*v = check.List(d, nil, func(d *check.Decoder, v *any) {
			*v = check.Pick(d, &eitherRule, func(d *check.Decoder, form int) any {
				if form == 0 {
					return check.New(d, decodeTwoNames)
				}
				return d.Raw(nil)
			})
		})
	}, &got)
	if err != nil {
		t.Fatal(err)
	}
	second, third := got[1].(*twoNames), got[2].(*twoNames)
	if *second != (twoNames{short: "abc"}) || *third != (twoNames{short: "abd"}) {
		t.Errorf("read %+v and %+v", *second, *third)
	}
}
