package check_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/mcpkiln/mcpkiln/runtime/check"
	"github.com/mcpkiln/mcpkiln/runtime/check/format"
)

func TestVAL03ConditionsTakeNothing(t *testing.T) {
	var v Parcel
	text := `{"express": true, "weight": 2, "size": [1, "cm", 3], "x-tag": "ab", "notes": "left"}`
	if err := check.Decode([]byte(text), check.Limits{}, decodeParcel, &v); err != nil {
		t.Fatal(err)
	}
	if v.Weight.Value != 2 || len(v.Size) != 3 || string(v.AdditionalProperties["x-tag"]) != `"ab"` || string(v.AdditionalProperties["notes"]) != `"left"` {
		t.Errorf("got %+v", v)
	}
}

// TestVAL03ConditionsSayNothingOfOtherKinds: each keyword is about one kind of values.
func TestVAL03ConditionsSayNothingOfOtherKinds(t *testing.T) {
	for _, text := range []string{`1`, `"a"`, `null`, `[]`, `{}`, `true`} {
		got := verdict(t, text, func(d *check.Decoder) {
			d.Also(checkParcelDependents)
			if !strings.HasPrefix(text, "{") {
				d.Also(checkParcelUnevaluated)
			}
			if !strings.HasPrefix(text, "[") {
				d.Also(checkParcelSizeContains)
				d.Also(checkParcelSizeRest)
			}
			d.Skip()
		})
		if got != "" {
			t.Errorf("%s: %s", text, got)
		}
	}
}

// TestConditionsStopAtMalformedText: nothing loops or panics on what is not JSON.
func TestConditionsStopAtMalformedText(t *testing.T) {
	text := `{"express":true,"weight":2,"size":[1,"cm",3],"x-tag":"ab","notes":"left"}`
	for end := range len(text) {
		var v Parcel
		err := check.Decode([]byte(text[:end]), check.Limits{}, decodeParcel, &v)
		if !errors.As(err, new(*check.SyntaxError)) {
			t.Errorf("%s: got %v", text[:end], err)
		}
	}
}

// TestVAL04NumbersBeyondGoDecideNothing: which forms a number fits is the schema's matter alone; only where it is to be kept does
// it matter what the Go type holds.
func TestVAL04NumbersBeyondGoDecideNothing(t *testing.T) {
	anyOf := &check.Union{Keyword: "union", Forms: make([]check.Form, 2)}
	oneOf := &check.Union{Keyword: "union", One: true, Forms: make([]check.Form, 2)}
	integer := func(d *check.Decoder) any { return d.Int(nil) }
	number := func(d *check.Decoder) any { return d.Float(nil) }
	text := func(d *check.Decoder) any { return d.String(nil) }
	pick := func(u *check.Union, forms ...func(*check.Decoder) any) func(d *check.Decoder) any {
		return func(d *check.Decoder) any {
			return check.Pick(d, u, func(d *check.Decoder, form int) any { return forms[form](d) })
		}
	}
	inOneOf := pick(oneOf, integer, text)
	const huge = `12345678901234567890`
	for name, row := range map[string]struct {
		data, want string
		decode     func(d *check.Decoder)
	}{
		"kept":                       {huge, "type", func(d *check.Decoder) { d.Int(nil) }},
		"kept, infinite":             {`1e400`, "type", func(d *check.Decoder) { d.Float(nil) }},
		"over the maximum":           {huge, "maximum", func(d *check.Decoder) { d.Int(&check.Int{Has: check.Maximum, Max: math.MaxInt64}) }},
		"under the minimum":          {"-" + huge, "exclusiveMinimum", func(d *check.Decoder) { d.Int(&check.Int{Has: check.ExclusiveMinimum, Min: math.MinInt64}) }},
		"over the minimum":           {huge, "type", func(d *check.Decoder) { d.Int(&check.Int{Has: check.Minimum, Min: math.MaxInt64}) }},
		"a multiple":                 {huge, "type", func(d *check.Decoder) { d.Int(&check.Int{MultipleOf: 10}) }},
		"no multiple":                {huge, "multipleOf", func(d *check.Decoder) { d.Int(&check.Int{MultipleOf: 7}) }},
		"none of an enum":            {huge, "enum", func(d *check.Decoder) { d.Int(&check.Int{Enum: []int64{1}}) }},
		"infinite, over the maximum": {`1e400`, "maximum", func(d *check.Decoder) { d.Float(&check.Number{Has: check.Maximum, Max: 1}) }},
		"in a form that fits":        {huge, "type", func(d *check.Decoder) { inOneOf(d) }},
		"in two forms":               {huge, "union", func(d *check.Decoder) { pick(oneOf, integer, number)(d) }},
		"held by the second": {huge, "", func(d *check.Decoder) {
			if v := pick(anyOf, integer, number)(d); v != 12345678901234567890. {
				t.Errorf("got %v", v)
			}
		}},
		"held by the first": {huge, "", func(d *check.Decoder) {
			if v := pick(anyOf, number, integer)(d); v != 12345678901234567890. {
				t.Errorf("got %v from a form that is not needed", v)
			}
		}},
		"within a form that fits": {huge, "type", func(d *check.Decoder) { pick(oneOf, inOneOf, text)(d) }},
		"what must not fit": {huge, "not", func(d *check.Decoder) {
			d.Not(&check.Not{}, func(d *check.Decoder) { d.Int(nil) })
			d.Skip()
		}},
		"a condition": {huge, "", func(d *check.Decoder) {
			if !d.Fits(func(d *check.Decoder) { d.Int(nil) }) {
				t.Error("does not fit")
			}
			d.Skip()
		}},
		"in a list": {`[1,` + huge + `,"a"]`, "type", func(d *check.Decoder) {
			check.List(d, nil, func(d *check.Decoder, v *any) { *v = inOneOf(d) })
		}},
	} {
		t.Run(name, func(t *testing.T) {
			d := check.Get([]byte(row.data), check.Limits{})
			defer d.Put()
			row.decode(d)
			err := d.Finish()
			found, _ := err.(check.Violations)
			if row.want == "" && err != nil || row.want != "" && (len(found) != 1 || found[0].Keyword != row.want) {
				t.Errorf("got %v, want %q", err, row.want)
			}
		})
	}
}

// TestVAL02ARefusedNameIsTheOnlyViolation: the schema of a pattern is nothing to a member whose name does not match it.
func TestVAL02ARefusedNameIsTheOnlyViolation(t *testing.T) {
	keys := &check.Keys{Patterns: []*format.Pattern{{Source: "^x-"}}, AdditionalProperties: check.Refuse}
	decode := func(d *check.Decoder) {
		for f := d.Object(nil); f >= 0; f = d.Next() {
			if d.NameMatches(keys) {
				d.Bool(nil)
			}
		}
	}
	for text, want := range map[string]string{
		`{"x-a":true}`:                "",
		`{"x-a":5}`:                   "type",
		`{"a":5}`:                     "additionalProperties",
		`{"a":null,"x-b":true}`:       "additionalProperties",
		`{"a":{"b":[1]},"x-b":5}`:     "additionalProperties type",
		`{"a":{"b":1,"b":2},"x-b":5}`: "additionalProperties duplicate type",
	} {
		if got := verdict(t, text, decode); got != want {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
	}
}
