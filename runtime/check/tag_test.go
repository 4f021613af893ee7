package check_test

import (
	"errors"
	"testing"

	"github.com/mcpkiln/mcpkiln/runtime/check"
)

// A union of two versions and a form that is off, as the generator writes it.
var (
	versions = check.Union{Keyword: "anyOf", Key: "version", Forms: []check.Form{
		{Kinds: check.KindObject, JSON: []string{"1", "1.5"}}, {Kinds: check.KindObject, JSON: []string{"2"}}, {Kinds: check.KindObject, JSON: []string{"false", "null"}, Tags: []string{"2"}},
	}}
	versionRules = [3]check.Values{{JSON: []string{"1", "1.5"}}, {JSON: []string{"2"}, Const: true}, {JSON: []string{"false", "null", `"2"`}}}
	version      = check.Object{Names: []string{"version"}, Required: []string{"version"}}
)

// decodeVersion stores the number of the form, counted from 1.
func decodeVersion(d *check.Decoder, v *int) {
	*v = check.Pick(d, &versions, func(d *check.Decoder, form int) int {
		for f := d.Object(&version); f >= 0; f = d.Next() {
			d.Raw(&versionRules[form])
		}
		return form + 1
	})
}

// TestVAL02VAL11ATagOfAnyScalarChoosesTheForm: a form is found by a number, boolean or null as by a text, by value and kind, not by spelling. What
// is no tag is a violation at the tag, and a number beyond what is compared is refused like anywhere else.
func TestVAL02VAL11ATagOfAnyScalarChoosesTheForm(t *testing.T) {
	tests := []struct {
		tag  string
		form int // 0: none
	}{
		{`1`, 1}, {`1.0`, 1}, {`10e-1`, 1}, {`1.50`, 1}, {`2`, 2}, {`0.2E+1`, 2}, {`false`, 3}, {`null`, 3}, {`"2"`, 3},
		{`"1"`, 0}, {`3`, 0}, {`-1`, 0}, {`true`, 0}, {`"false"`, 0}, {`[1]`, 0}, {`{"a":1}`, 0}, {`1e999999`, 0}, {`-1e-999999`, 0},
	}
	for _, test := range tests {
		var form int
		err := check.Decode([]byte(`{"version":`+test.tag+`}`), check.Limits{}, decodeVersion, &form)
		var all check.Violations
		switch {
		case test.form != 0 && (err != nil || form != test.form):
			t.Errorf("%s: form %d, %v; want form %d", test.tag, form, err, test.form)
		case test.form == 0 && (!errors.As(err, &all) || len(all) != 1 || all[0].Instance != "/version" || all[0].Keyword != "anyOf"):
			t.Errorf("%s: %v; want one violation of the anyOf at /version", test.tag, err)
		}
	}
	for _, tag := range []string{`1e9999999`, `-1e9999999`, `1e-9999999`} {
		var form int
		err := check.Decode([]byte(`{"version":`+tag+`}`), check.Limits{}, decodeVersion, &form)
		if limit := (*check.LimitError)(nil); !errors.As(err, &limit) || limit.Reason != check.NumberTooLarge {
			t.Errorf("%s: %v; want the limit of exponents", tag, err)
		}
	}
}
