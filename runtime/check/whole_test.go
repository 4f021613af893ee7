package check_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/mcpkiln/mcpkiln/runtime/check"
)

func TestVAL03ConditionsTakeNothing(t *testing.T) {
	var v Parcel
	text := `{"express": true, "weight": 2, "size": [1, "cm", 3], "x-tag": "ab", "notes": "left"}`
	if err := check.Decode([]byte(text), check.Limits{}, decodeParcel, &v); err != nil {
		t.Fatal(err)
	}
	if v.Weight.Value != 2 || len(v.Size) != 3 || string(v.Extra["x-tag"]) != `"ab"` || string(v.Extra["notes"]) != `"left"` {
		t.Errorf("got %+v", v)
	}
}

// TestVAL03ConditionsSayNothingOfOtherKinds: each keyword is about one kind of values.
func TestVAL03ConditionsSayNothingOfOtherKinds(t *testing.T) {
	for _, text := range []string{`1`, `"a"`, `null`, `[]`, `{}`, `true`} {
		got := verdict(t, text, func(d *check.Decoder) {
			checkParcelDependents(d, nil)
			if !strings.HasPrefix(text, "{") {
				checkParcelUnevaluated(d, nil)
			}
			if !strings.HasPrefix(text, "[") {
				checkParcelSizeContains(d, nil)
				checkParcelSizeRest(d, nil)
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

// TestVAL07ConditionsAreBounded: a tree whose every level is looked at again from above may not cost its square.
func TestVAL07ConditionsAreBounded(t *testing.T) {
	var nested func(d *check.Decoder, _ *struct{})
	nested = func(d *check.Decoder, _ *struct{}) {
		if check.Fits(d, func(d *check.Decoder, _ *struct{}) { one(d, nested) }) {
			one(d, nested)
		} else {
			d.Skip()
		}
	}
	text := strings.Repeat(`{"a":`, 300) + "1" + strings.Repeat("}", 300)
	err := check.Check([]byte(text), check.Limits{Evaluations: 1000}, nested)
	var limit *check.LimitError
	if !errors.As(err, &limit) || limit.Reason != check.TooManyEvaluations {
		t.Errorf("got %v", err)
	}
}

func one(d *check.Decoder, decode func(*check.Decoder, *struct{})) {
	if d.Kind(nil) != check.KindObject {
		d.Skip()
		return
	}
	for f := d.Object(nil); f >= 0; f = d.Next() {
		decode(d, nil)
	}
}

// TestVAL04NumbersBeyondGoDecideNothing: which forms a number fits is the schema's matter alone; only where it is to be kept does
// it matter what the Go type holds.
func TestVAL04NumbersBeyondGoDecideNothing(t *testing.T) {
	integer := func(d *check.Decoder, v *int64) { *v = d.Int(nil) }
	number := func(d *check.Decoder, v *float64) { *v = d.Float(nil) }
	text := func(d *check.Decoder, v *string) { *v = d.String(nil) }
	union := &check.Union{Keyword: "union"}
	inOneOf := func(d *check.Decoder, v *int64) {
		trial := d.OneOf(union)
		if u, ok := check.Try(&trial, integer); ok {
			*v = *u
		}
		check.Try(&trial, text)
		trial.End()
	}
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
		"in a form that fits":        {huge, "type", func(d *check.Decoder) { var v int64; inOneOf(d, &v) }},
		"in two forms": {huge, "union", func(d *check.Decoder) {
			trial := d.OneOf(union)
			check.Try(&trial, integer)
			check.Try(&trial, number)
			trial.End()
		}},
		"held by the second": {huge, "", func(d *check.Decoder) {
			trial := d.AnyOf(union)
			check.Try(&trial, integer)
			if v, ok := check.Try(&trial, number); !ok || *v != 12345678901234567890 {
				t.Errorf("got %v, %v", v, ok)
			}
			trial.End()
		}},
		"held by the first": {huge, "", func(d *check.Decoder) {
			trial := d.AnyOf(union)
			check.Try(&trial, number)
			if v, ok := check.Try(&trial, integer); ok {
				t.Errorf("got %v from a form that is not needed", *v)
			}
			trial.End()
		}},
		"within a form that fits": {huge, "type", func(d *check.Decoder) {
			trial := d.OneOf(union)
			check.Try(&trial, inOneOf)
			check.Try(&trial, text)
			trial.End()
		}},
		"what must not fit": {huge, "not", func(d *check.Decoder) {
			trial := d.Not(&check.Union{Keyword: "not"})
			check.Try(&trial, integer)
			trial.End()
		}},
		"a condition": {huge, "", func(d *check.Decoder) {
			if !check.Fits(d, integer) {
				t.Error("does not fit")
			}
			d.Skip()
		}},
		"in a list": {`[1,` + huge + `,"a"]`, "type", func(d *check.Decoder) { check.List(d, nil, inOneOf) }},
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
