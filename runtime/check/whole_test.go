package check_test

import (
	"errors"
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
